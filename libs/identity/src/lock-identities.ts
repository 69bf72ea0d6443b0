import { type Queryable, statement } from '@parley/db';

const lock = statement('lock-identity', 'select from pg_advisory_xact_lock(hashtextextended($1, 0))');

/** Until the transaction ends, in one order. */
export async function lockIdentities(tx: Queryable, externalIds: readonly string[]): Promise<void> {
  const keys = externalIds.map((id) => `identity:${id}`).sort();
  for (const key of keys) await tx.acrossTenants('inbound webhook', lock, [key]);
}
