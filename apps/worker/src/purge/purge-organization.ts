import { threadsPurge } from '@parley/agents';
import { channelsPurge } from '@parley/channels';
import { type Db, type PurgeStep, dbPurge } from '@parley/db';
import { entitiesPurge } from '@parley/entities';
import { eventsPurge } from '@parley/events';
import { finishPurge, identityPurge, reportPurged } from '@parley/identity';
import { creditsPurge } from '@parley/payments';
import { definitionsPurge } from '@parley/resources';
import { triggersPurge } from '@parley/triggers';
import { deliveriesPurge } from '@parley/webhooks';

/**
 * Everything that belongs to an organization, as the owners of its tables delete it, in an order in which nothing new is
 * made of it meanwhile: first the keys, then what would answer or run, then the data. Its own row goes last.
 */
const steps: readonly PurgeStep[] = [
  identityPurge.keys,
  channelsPurge.connections,
  dbPurge.integrations,
  triggersPurge,
  definitionsPurge,
  threadsPurge,
  channelsPurge.messages,
  entitiesPurge,
  eventsPurge,
  dbPurge.idempotency,
  creditsPurge,
  deliveriesPurge,
  identityPurge.memberships,
].flat();

/**
 * Deletes all data of an organization for good, a batch a transaction, each of which adds to the report of the purge: a
 * run that was cut short goes on where it stopped. Returns the report; null when `signal` stopped it.
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
