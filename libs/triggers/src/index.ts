export { triggerProblems } from './check-trigger';
export { type Triggers, type TriggersOptions, createTriggers } from './create-triggers';
export { nextTickMs } from './cron';
export { type FireResult } from './fire-trigger';
export { noRunNeedsEventSql, removeOldRuns, triggersPurge } from './retention';
export { type RunStep, waitingRuns } from './run-store';
