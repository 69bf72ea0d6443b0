export { type CallbackTokens, createCallbackTokens } from './callback-token';
export { type ChatFailure, type ChatRequest } from './chat-result';
export { type Agents, createAgents } from './create-agents';
export { createModels } from './models/create-models';
export { modelVariables } from './models/model-variables';
export { createOrganizationKeys, providersOfEnvironment } from './models/provider-keys';
export { createTransfer } from './routers/transfer';
export { findEarlierTurn } from './threads/earlier-turn';
export { findThread, mergeThreads } from './threads/merge-threads';
