export {
  type BegunExecution,
  type ExecutionRequest,
  beginExecution,
} from './background/begin-execution';
export {
  type ClaimedExecution,
  cancelExecution,
  findDueExecutions,
  findEndedAmong,
  findOpenExecution,
  hasEnded,
  waitingExecutions,
} from './background/execution-queue';
export { chunksPerAttempt, streamedFinishReason } from './background/reply-stream';
export { type CallbackTokens, createCallbackTokens } from './callback-token';
export { type ChatFailure, type ChatRequest } from './chat-result';
export { type AgentDeps, type Agents, createAgents } from './create-agents';
export { type FailingAgent, addFailureReply, failureReply } from './failure-reply';
export { listActingByRoles } from './list-acting-by-roles';
export { listAgents, listAnswererSlugs, listRouters, readAgent } from './list-agents';
export { createModels } from './models/create-models';
export { modelVariables } from './models/model-variables';
export { createOrganizationKeys, providersOfEnvironment } from './models/provider-keys';
export { hasAnswerer } from './read-agents';
export { createTransfer } from './routers/transfer';
export { readStatistics } from './statistics/read-statistics';
export { rollUpExecutions } from './statistics/roll-up-executions';
export { findEarlierTurn } from './threads/find-earlier-turn';
export { executionBacklogs } from './threads/backlogs';
export { type ExecutionStep, readSteps } from './threads/execution-steps';
export {
  type ThreadMessage,
  listThreadMessages,
  messagePosition,
  readThreadMessage,
} from './threads/list-messages';
export {
  type DueThread,
  findDueThreads,
  findExpiredThreads,
  settleDueThread,
} from './threads/due-threads';
export { createHandoff } from './threads/handoff';
export { mergeThreads } from './threads/merge-threads';
export { type StoredPrompt, readPrompt } from './threads/prompts';
export { threadsPurge } from './threads/purge-threads';
export {
  type ExecutionSummary,
  type StoredExecution,
  listExecutions,
  readExecution,
  readMessages,
} from './threads/read-executions';
export { type Thread, type ThreadSummary } from './threads/read-threads';
export {
  countThreads,
  findThread,
  findThreadOfCaller,
  listThreads,
  readThread,
} from './threads/read-threads';
export {
  type Author,
  type LockedThread,
  addPersonsMessage,
  changeThread,
  eraseThread,
  lastMessageId,
  lockForReply,
  lockThread,
  recordPhoneReply,
  resumeThread,
  takeThreadOver,
  visitThread,
  withdrawReply,
} from './threads/people';
