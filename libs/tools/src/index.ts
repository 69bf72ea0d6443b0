export { type ExecutorAnswer, type ExecutorClient, createExecutorClient } from './custom/executor-client';
export {
  type AgentChatRequest,
  type CallbackGrant,
  type FetchGuarded,
  type ToolCall,
  type ToolContext,
  type ToolDeps,
  type ToolErrorType,
  type ToolFailure,
  type ToolLog,
  type ToolOffer,
  type ToolPorts,
  type ToolResult,
  type ToolView,
  type Tools,
  type TransferRequest,
} from './types';
export { parameterProblems } from './custom/parameters';
export { type EntityAccess, accessOf } from './permissions/access-of';
export { loadPermissions } from './permissions/permissions';
export { type KnownNames, validateRole } from './permissions/validate-role';
export {
  type CompiledTemplate,
  type TemplateContext,
  type TemplateError,
  compileTemplate,
  resolveArgs,
} from './templates/compile-template';
export { type PromptSubject, loadPromptVariables } from './templates/prompt-context';
export { templateCaller } from './templates/template-caller';
export { builtInToolNames } from './builtins/table';
export { createTools } from './create-tools';
export { type McpCaller, answerMcp, mcpVersions } from './mcp/answer-mcp';
