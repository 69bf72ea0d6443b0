export { cancelRuns, retryRuns } from './change-runs';
export { triggerProblems } from './check-trigger';
export { type Triggers, type TriggersOptions, createTriggers } from './create-triggers';
export { followedChanges } from './followed-changes';
export { type FireResult } from './fire-trigger';
export { type TriggerRun, type TriggerRunSummary, findRun, listRuns } from './read-runs';
export { type TriggerSummary, listTriggers } from './read-triggers';
export { noRunNeedsEventSql, removeOldRuns, triggersPurge } from './retention';
export { waitingRuns } from './run-store';
