import type { Queryable, Tenant } from './client';
import type { Statement } from './statement';

/** Rows. With fewer of a tenant at a time, a sweep over many tenants would be too many statements. */
const leastShare = 10;

interface DueWork<T> {
  /** Which tenants have due work, the oldest first (`leaseSql.tenants`). Its parameters are `values`. */
  tenants: Statement<Tenant>;
  /** Due rows of one, the oldest first. After `values` its parameters are the tenant, the limit and the offset. */
  due: Statement<T>;
  values?: readonly unknown[];
  /** `due` marks its rows and does not return them again; otherwise the offset passes over them. */
  isMarked?: boolean;
}

/** At most `limit` rows of due work, tenant by tenant: a large backlog of one holds up nobody else (docs/adr/0035). */
export async function claimByTenant<T>(db: Queryable, work: DueWork<T>, limit: number): Promise<T[]> {
  const { tenants, due, values = [], isMarked = false } = work;
  const { rows } = await db.acrossTenants('due work', tenants, values);
  const share = Math.max(leastShare, Math.ceil(limit / rows.length));
  const turns = rows.map((tenant) => ({ tenant, offset: 0 }));
  const claimed: T[] = [];
  // A tenant that may have more gets another turn, after the others.
  for (const { tenant, offset } of turns) {
    const most = Math.min(share, limit - claimed.length);
    if (most === 0) break;
    const found = await db.query(tenant, due, [...values, tenant.tenant, most, offset]);
    claimed.push(...found.rows);
    if (found.rows.length === most) turns.push({ tenant, offset: isMarked ? 0 : offset + most });
  }
  return claimed;
}
