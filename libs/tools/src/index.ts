export { createExecutorClient } from './custom/executor-client';
export {
  type AgentChatRequest,
  type CallbackGrant,
  type ToolContext,
  type ToolErrorType,
  type ToolFailure,
  type ToolLog,
  type HandoffRequest,
  type ToolOffer,
  type ToolResult,
  type Tools,
  type TransferRequest,
} from './types';
export {
  deleteToolSecret,
  listToolSecrets,
  sealedToolSecrets,
  setToolSecret,
  toolSecretsPurge,
} from './custom/tool-secrets';
export { parameterProblems } from './schemas/parameters';
export { failure, failureText, notListed } from './failure';
export { findUnclosed, hasTemplateAsFilters, templateNodes } from './templates/parse-template';
export { compileTemplate, resolveArgs } from './templates/compile-template';
export { localDay } from './templates/local-day';
export { loadPromptVariables } from './templates/prompt-context';
export { templateCaller } from './templates/template-caller';
export { builtInToolNames, builtInTools } from './builtins/create-built-ins';
export { type ListedTool, listTools, toolsInList } from './list-tools';
export { createTools } from './create-tools';
export { createMcpServers } from './mcp/create-mcp-servers';
export { type McpCaller, answerMcp } from './mcp/answer-mcp';
