import type { Queryable, Tenant } from './client';
import type { Statement, Values } from './statement';

/**
 * Minimum number of rows claimed by one statement. A smaller share would need too many statements
 * for many tenants.
 */
const minShare = 10;

interface DueWork<T> {
  /** Returns the tenants with due work, oldest work first (`leaseSql.tenants`). */
  tenants: Statement<Tenant>;
  /**
   * Returns due rows of one tenant, oldest first: at most `$limit` rows after the first `$offset`.
   */
  due: Statement<T>;
  /** The other parameters of both. */
  values?: Values;
  /**
   * Whether `due` marks its rows and does not return them again. Otherwise the offset skips them.
   */
  isMarked?: boolean;
}

/**
 * Claims at most `limit` due rows, tenant by tenant, so that the backlog of one does not delay
 * others (docs/adr/0035).
 */
export async function claimByTenant<T>(
  db: Queryable,
  work: DueWork<T>,
  limit: number,
): Promise<T[]> {
  const { tenants, due, values = {}, isMarked = false } = work;
  const { rows } = await db.acrossTenants('due work', tenants, values);
  const share = Math.max(minShare, Math.ceil(limit / rows.length));
  const turns = rows.map((tenant) => ({ tenant, offset: 0 }));
  const claimed: T[] = [];
  // A tenant that may have more rows is added again, after the others.
  for (const { tenant, offset } of turns) {
    const count = Math.min(share, limit - claimed.length);
    if (count === 0) break;
    const found = await db.query(tenant, due, { ...values, limit: count, offset });
    claimed.push(...found.rows);
    if (found.rows.length === count) turns.push({ tenant, offset: isMarked ? 0 : offset + count });
  }
  return claimed;
}
