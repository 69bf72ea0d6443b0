import { statement } from './statement';

/** Locks a key (`$1`) until the transaction ends. Waits while another transaction holds it. */
export const lockKey = statement(
  'lock-key',
  'select from pg_advisory_xact_lock(hashtextextended($1, 0))',
);
