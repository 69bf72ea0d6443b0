export { createExecutorClient } from './custom/executor-client';
export {
  type AgentChatRequest,
  type CallbackGrant,
  type ToolCall,
  type ToolContext,
  type ToolDeps,
  type ToolErrorType,
  type ToolFailure,
  type ToolOffer,
  type ToolPorts,
  type ToolResult,
  type Tools,
  type TransferRequest,
} from './types';
export { parameterProblems } from './custom/parameters';
export { accessOf } from './permissions/access-of';
export { loadPermissions } from './permissions/permissions';
export { isListed } from './permissions/policy';
export { validateRole } from './permissions/validate-role';
export { findUnclosed } from './templates/parse-template';
export { compileTemplate } from './templates/compile-template';
export { loadPromptVariables } from './templates/prompt-context';
export { templateCaller } from './templates/template-caller';
export { builtInToolNames } from './builtins/table';
export { createTools } from './create-tools';
export { createMcpServers } from './mcp/create-mcp-servers';
export { type McpCaller, answerMcp, mcpVersions } from './mcp/answer-mcp';
export { triggerProblems } from './triggers/check-trigger';
export { nextTickMs } from './triggers/cron';
export { type FireResult } from './triggers/fire-trigger';
export { type Triggers, type TriggersOptions, createTriggers } from './triggers/create-triggers';
export { type RunStep } from './triggers/run-store';
