import type { Queryable } from '@parley/db';

/** Until the transaction ends, in one order. */
export async function lockIdentities(tx: Queryable, externalIds: readonly string[]): Promise<void> {
  const keys = externalIds.map((id) => `identity:${id}`).sort();
  for (const key of keys) await tx.raw('select pg_advisory_xact_lock(hashtextextended($1, 0))', [key]);
}
