import { threadsPurge } from '@parley/agents';
import { auditPurge } from '@parley/audit';
import { channelsPurge } from '@parley/channels';
import { type Db, type PurgeStep, dbPurge } from '@parley/db';
import { entitiesPurge } from '@parley/entities';
import { eventsPurge } from '@parley/events';
import { finishPurge, identityPurge, reportPurged } from '@parley/identity';
import { creditsPurge } from '@parley/payments';
import { definitionsPurge } from '@parley/resources';
import { toolSecretsPurge } from '@parley/tools';
import { triggersPurge } from '@parley/triggers';
import { deliveriesPurge } from '@parley/webhooks';

/**
 * Deletes the rows of an organization; each step belongs to the library that owns the tables. The
 * order prevents new rows during the purge: first keys, then connections and triggers, then data.
 * `finishPurge` deletes the organization's own row.
 */
const steps: readonly PurgeStep[] = [
  identityPurge.keys,
  channelsPurge.connections,
  dbPurge.integrations,
  triggersPurge,
  definitionsPurge,
  toolSecretsPurge,
  threadsPurge,
  channelsPurge.messages,
  entitiesPurge,
  eventsPurge,
  dbPurge.idempotency,
  creditsPurge,
  deliveriesPurge,
  auditPurge,
  identityPurge.memberships,
].flat();

/**
 * Deletes all data of an organization permanently, in batches. The transaction of a batch also adds
 * its counts to the purge's report, so an interrupted run continues where it stopped. Returns the
 * report, or null when `signal` is aborted.
 */
export async function purgeOrganization(
  db: Db,
  { organizationId, tenant }: { organizationId: string; tenant: number },
  signal: AbortSignal,
): Promise<Record<string, number> | null> {
  for (let deleted = -1; deleted !== 0;) {
    deleted = 0;
    for (const step of steps) {
      for (let ofStep = -1; ofStep !== 0;) {
        if (signal.aborted) return null;
        ofStep = await db.transaction(async (tx) => {
          const counts = await step(tx, { tenant });
          const sum = Object.values(counts).reduce((total, count) => total + count, 0);
          if (sum > 0) await reportPurged(tx, organizationId, counts);
          return sum;
        });
        deleted += ofStep;
      }
    }
  }
  return db.transaction((tx) => finishPurge(tx, organizationId));
}
