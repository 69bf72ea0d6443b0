import { statement } from './statement';

/** Locks `$key` until the transaction ends. Waits while another transaction holds it. */
export const lockKey = statement(
  'lock-key',
  'select from pg_advisory_xact_lock(hashtextextended($key, 0))',
);
