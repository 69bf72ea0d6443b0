import { backlog } from '@parley/db';

export const triggerBacklogs = {
  deadRuns: backlog('dead-runs', 'trigger_runs', `status = 'dead'`),
  heldRuns: backlog('held-runs', 'trigger_runs', `status = 'held'`),
};
