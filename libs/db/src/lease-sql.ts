/**
 * Fragments of SQL for rows that one process works on at a time. Whoever claims a row writes its name into `lease_owner`
 * and a time into `lease_until`; a claim that is over belongs to a process that was not heard of again, and the row may be
 * claimed by another. What else makes a row claimable is the claim's own condition.
 */
export const leaseSql = {
  /** `row`: the table's alias, with a dot. */
  isFree: (row = '') => `(${row}lease_until is null or ${row}lease_until <= now())`,
  /** The end of a lease that begins or is renewed now. `seconds`: a number, or a parameter's placeholder. */
  until: (seconds: number | string) => `now() + make_interval(secs => ${seconds})`,
  /** The row `$1` in this status is still held by `$2`. */
  isHeld: (status: string) => `id = $1 and status = '${status}' and lease_owner = $2`,
  release: 'lease_owner = null, lease_until = null',
  /** Gives the row back, and keeps others from claiming it for some time. `afterMs`: a parameter's placeholder. */
  postpone: (afterMs: string) =>
    `lease_owner = null, lease_until = now() + make_interval(secs => ${afterMs}::float8 / 1000)`,
  /** Nobody has claimed it at once, or the lease is over. For what looks for rows whose job was lost. */
  isOverdue: "(lease_until is null and created_at < now() - interval '2 seconds' or lease_until <= now())",
};
