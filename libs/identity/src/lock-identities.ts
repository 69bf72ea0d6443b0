import { type Queryable, lockKey } from '@parley/db';

/** Until the transaction ends, in one order. */
export async function lockIdentities(tx: Queryable, externalIds: readonly string[]): Promise<void> {
  const keys = externalIds.map((id) => `identity:${id}`).sort();
  for (const key of keys) await tx.acrossTenants('inbound webhook', lockKey, [key]);
}
