export { type CallbackTokens, createCallbackTokens } from './callback-token';
export { type ChatFailure, type ChatRequest, type ChatResult } from './chat-result';
export { type CompiledPrompt, type CompilePromptRequest } from './compile-agent-prompt';
export { type AgentDeps, type Agents, createAgents } from './create-agents';
export { type ModelDeps, createModels } from './models/create-models';
export { type Models } from './models/model';
export { createOrganizationKeys, integrationSecretContext, providersOfEnvironment } from './models/provider-keys';
export { createTransfer } from './routers/transfer';
