/**
 * SQL fragments for rows that one process works on at a time. A process that claims a row sets `lease_until` to the end of
 * its lease and, where the table has it, `lease_owner` to its name. When the lease has expired, another process may claim
 * the row. Each claim adds its own conditions.
 */
export const leaseSql = {
  /** `row`: the table's alias, with a dot. */
  isFree: (row = '') => `(${row}lease_until is null or ${row}lease_until <= now())`,
  /** The end of a lease that begins or is renewed now. `seconds`: a number, or a parameter's placeholder. */
  until: (seconds: number | string) => `now() + make_interval(secs => ${seconds})`,
  /** The row `$1` in this status is still held by `$2`. */
  isHeld: (status: string) => `id = $1 and status = '${status}' and lease_owner = $2`,
  release: 'lease_owner = null, lease_until = null',
  /** Releases the row; it can be claimed again after `afterMs`, a parameter's placeholder. */
  postpone: (afterMs: string) =>
    `lease_owner = null, lease_until = now() + make_interval(secs => ${afterMs}::float8 / 1000)`,
  /** Not claimed within 2 s, or the lease has expired. For sweeps, which find rows whose job was lost. */
  isOverdue: "(lease_until is null and created_at < now() - interval '2 seconds' or lease_until <= now())",
};
