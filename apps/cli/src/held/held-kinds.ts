import { heldChannels } from '@parley/channels';
import type { HeldGroup, HeldWork, Queryable } from '@parley/db';
import { heldEvents } from '@parley/events';
import { heldPurges } from '@parley/identity';
import { heldPayments } from '@parley/payments';
import { heldRuns } from '@parley/triggers';
import { heldDeliveries } from '@parley/webhooks';

/**
 * All work that a process does later because of a row. What is missing here would be done again
 * after a restore. Each kind belongs to the library that owns its table.
 */
export const heldKinds: readonly HeldWork[] = [
  ...heldChannels,
  heldRuns,
  heldEvents,
  heldDeliveries,
  heldPayments,
  heldPurges,
];

/**
 * Holds what is open in a restored database, in the transaction of the restore. Returns
 * how much, by kind.
 */
export async function holdOpenWork(tx: Queryable): Promise<Record<string, number>> {
  const held: Record<string, number> = {};
  for (const { kind, hold } of heldKinds) {
    const count = await hold(tx);
    if (count > 0) held[kind] = count;
  }
  return held;
}

/** The held work of all kinds. */
export async function listHeldWork(db: Queryable): Promise<(HeldGroup & { kind: string })[]> {
  const found = [];
  for (const { kind, list } of heldKinds)
    for (const group of await list(db)) found.push({ kind, ...group });
  return found;
}

/** `3 messages, 1 run`. */
export const describeHeld = (counts: Record<string, number>): string =>
  Object.entries(counts)
    .map(
      ([kind, count]) =>
        `${count} ${count === 1 ? kind.replace(/ies$/, 'y').replace(/s$/, '') : kind}`,
    )
    .join(', ');
