import { statement } from '@parley/db';

/**
 * First key of the advisory locks of types. Writers of a type share the lock, a change of its
 * segments holds it exclusively.
 */
const lockSpace = 7_290_316;

/** First key of the advisory locks with which one process at a time indexes a type. */
export const indexLockSpace = 7_290_317;

/**
 * SQL that takes the shared lock of a type until the end of the transaction. The same statement
 * must read the row of the type `for share`: a weaker row lock would return the row as it was
 * before the wait, with the old segment.
 */
export const writerLockSql = (no: string): string =>
  `pg_advisory_xact_lock_shared(${lockSpace}, ${no}) is not null`;

/**
 * Takes the exclusive lock of the type `$no` until the end of the transaction. Sets `lock_timeout`
 * to `$timeout`, so that this and the following statements fail if they wait longer: a writer with
 * a long transaction must not block all others.
 */
export const lockOutWriters = statement(
  'lock-out-writers',
  `select from entity_types where tenant = $tenant and no = $no
     and case when set_config('lock_timeout', $timeout, true) <> '' then pg_advisory_xact_lock(${lockSpace},
       $no) end is not null`,
);
