export { type Actor, type ActorType, type Contact } from './actor';
export { type ApiKeyIdentity } from './api-key';
export { canonicalJson } from './canonical-json';
export {
  type AgentDefinition,
  type AgentModel,
  type ThreadContextParam,
  agentDefinitionSchema,
} from './definitions/agent';
export { type ParsedDefinition, parseDefinition } from './definitions/parse-definition';
export { type EntityTypeDefinition, entityTypeDefinitionSchema } from './definitions/entity-type';
export {
  type FieldMask,
  type FilterOperator,
  type Policy,
  type RoleDefinition,
  type ScopeRule,
  filterOperators,
  roleDefinitionSchema,
} from './definitions/role';
export { type RouterDefinition, routerDefinitionSchema } from './definitions/router';
export { type ToolDefinition, toolDefinitionSchema } from './definitions/tool';
export { type TriggerDefinition, triggerDefinitionSchema } from './definitions/trigger';
export {
  type ExecuteBody,
  type ExecuteResponse,
  type LogLine,
  type ToolCallbackBody,
  type ToolCallbackResponse,
  type ValidateResponse,
  executeBodySchema,
  executeResponseSchema,
  executorLimits,
  logLineSchema,
  toolCallbackBodySchema,
  toolCallbackResponseSchema,
  validateBodySchema,
  validateResponseSchema,
} from './executor';
export {
  type AgentChatBody,
  type ChatBody,
  type ChatResponse,
  type RouterChatBody,
  type ToolCallSummary,
  type Usage,
  agentChatBodySchema,
  chatBodySchema,
  chatResponseSchema,
  routerChatBodySchema,
} from './http/chat';
export {
  type Entity,
  type EntityPage,
  type EntityTypeView,
  createEntityBodySchema,
  deletedBodySchema,
  entityListSchema,
  entityPageSchema,
  entitySchema,
  entityTypeListSchema,
  entityTypeSchema,
  listEntitiesQuerySchema,
  queryEntitiesBodySchema,
  searchEntitiesBodySchema,
  updateEntityBodySchema,
} from './http/data';
export { type ErrorBody, type ErrorDetail, detailText, errorBodySchema, rateLimitedBodySchema } from './http/error';
export {
  type KindResult,
  type ResourceKind,
  type ResourceSet,
  type ResourceState,
  type RawResourceSet,
  type SyncPull,
  type SyncResult,
  type SyncState,
  rawSyncBodySchema,
  resourceKinds,
  resourceSetSchema,
  syncBodySchema,
  syncPullSchema,
  syncResultSchema,
  syncStateSchema,
} from './http/sync';
export { type Json, type JsonObject, jsonObjectSchema, jsonSchema } from './json';
export { integerAt, listAt, objectAt, textAt } from './pick';
export { type Environment, type Permission, type Scope, environmentSchema, permissionSchema } from './scope';
export { slugSchema } from './slug';
export { findUnstorable } from './unstorable';
export {
  type OpenApiContent,
  type OpenApiDocument,
  type OpenApiOperation,
  type OpenApiResponse,
  openApiDocument,
} from './openapi/document';
export { type SchemaObject } from './openapi/components';
export { type Operation } from './operations/operation';
export { operations, operationsOf } from './operations/operations';
export {
  type CompilePromptResponse,
  type FireTriggerResponse,
  type RunToolResponse,
  compilePromptBodySchema,
  compilePromptResponseSchema,
  fireTriggerBodySchema,
  fireTriggerResponseSchema,
  runToolBodySchema,
  runToolResponseSchema,
  toolErrorTypes,
} from './http/utility';
export { healthSchema } from './http/health';
