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
