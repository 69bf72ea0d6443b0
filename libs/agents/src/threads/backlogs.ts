import { backlog } from '@parley/db';
import { outcome } from './read-executions';

export const executionBacklogs = {
  /** Their processes no longer renew the leases. */
  stalledExecutions: backlog(
    'stalled-executions',
    'executions e',
    `${outcome} = 'open' and (e.tool_error_count > 0) in (true, false) and e.lease_until < now()`,
  ),
};
