import { column, statement } from './statement';

const dueSince = 'coalesce(lease_until, created_at)';

type Pending = { table: string; where: string; tenant?: string; since?: string; isDue?: string };

/**
 * SQL fragments for rows that one process at a time processes. A process that claims a row sets
 * `lease_until` to the end of its lease and, where the table has it, `lease_owner` to its name or
 * to one of the claim. When the lease has expired, another process may claim the row. Each claim
 * adds its own conditions.
 */
export const leaseSql = {
  /** `row`: the table's alias, with a dot. */
  isFree: (row = '') => `(${row}lease_until is null or ${row}lease_until <= now())`,
  /**
   * The end of a lease that begins or is renewed now. `seconds`: a number, or a
   * parameter's placeholder.
   */
  until: (seconds: number | string) => `now() + make_interval(secs => ${seconds})`,
  /** The row `$id` of the tenant, in this status, is still held by `$owner`. */
  isHeld: (status: string) =>
    `tenant = $tenant and id = $id and lease_owner = $owner and status = '${status}'`,
  release: 'lease_owner = null, lease_until = null',
  /** Releases the row; it can be claimed again after `afterMs`, a parameter's placeholder. */
  postpone: (afterMs: string) =>
    `lease_owner = null, lease_until = now() + make_interval(secs => ${afterMs}::float8 / 1000)`,
  /** The time from which a row is due. */
  dueSince,
  /**
   * The row was not claimed within 2 s, or its lease has expired. For sweeps, which find rows
   * whose job was lost.
   */
  isOverdue: `(${dueSince} <= now() and (lease_until is not null or created_at < now() - interval '2 seconds'))`,
  /**
   * The statement for the tenants with due rows, ordered by their longest wait. Reads one row of
   * each tenant, from an index on (`tenant`, `since`) of the rows that match `where`. The index may
   * have the condition `since is not null` (docs/adr/0081).
   */
  tenants: (
    name: string,
    { table, where, tenant = 'tenant', since = dueSince, isDue = `${since} <= now()` }: Pending,
  ) =>
    statement(
      name,
      `with recursive first as (
         (select ${tenant} as tenant, ${since} as since, ${isDue} as is_due from ${table} where ${where} and ${since} is not null order by 1, 2 limit 1)
         union all
         select next.* from first, lateral (
           select ${tenant}, ${since}, ${isDue} from ${table} where ${where} and ${since} is not null and ${tenant} > first.tenant
           order by 1, 2 limit 1) next)
       select tenant from first where is_due order by since`,
      { tenant: column.int4 },
    ),
};
