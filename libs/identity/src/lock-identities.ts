import { type Queryable, lockKey } from '@parley/db';

/**
 * Locks ids of the identity provider until the transaction ends, in sorted order, so that no
 * deadlock can occur.
 */
export async function lockIdentities(tx: Queryable, externalIds: readonly string[]): Promise<void> {
  const keys = externalIds.map((id) => `identity:${id}`).sort();
  for (const key of keys) await tx.acrossTenants('inbound webhook', lockKey, { key });
}
