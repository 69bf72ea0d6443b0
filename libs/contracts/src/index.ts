export { type Actor, type Author, type Contact } from './actor';
export { bearerTokenOf } from './bearer-token';
export { type Caller, type PersonRole, type SignedIn } from './caller';
export { canonicalJson } from './canonical-json';
export {
  type AgentDefinition,
  type AgentModel,
  type ThreadContextParam,
} from './definitions/agent';
export { check } from './check';
export { parseDefinition } from './definitions/parse-definition';
export { type EntityTypeDefinition, paymentType } from './definitions/entity-type';
export {
  type FilterOperator,
  type Policy,
  type RoleDefinition,
  type ScopeRule,
  filterOperators,
  roleDefinitionSchema,
} from './definitions/role';
export { type RouterDefinition } from './definitions/router';
export { type ToolDefinition, systemRunAs } from './definitions/tool';
export { type TriggerDefinition } from './definitions/trigger';
export {
  type ExecuteBody,
  type LogLine,
  type ToolCallbackBody,
  type ToolCallbackResponse,
  executeBodySchema,
  executeResponseSchema,
  executorLimits,
  sandboxGlobals,
  logLineSchema,
  toolCallbackBodySchema,
  toolCallbackResponseSchema,
  validateResponseSchema,
} from './executor';
export { type ChatResponse, type FinishReason, type ToolCallSummary } from './http/chat';
export {
  type Entity,
  type EntityOperation,
  type EntityPage,
  type EntityTypeView,
  type OperationResult,
  maxBulkOperations,
} from './http/data';
export { type ErrorBody, type ErrorDetail, detailText } from './http/error';
export {
  definitionLimits,
  type KindResult,
  type ResourceKind,
  type ResourceSet,
  type RawResourceSet,
  type SyncPull,
  type SyncResult,
  type SyncState,
  resourceKinds,
} from './http/sync';
export { type ToolSecretChange, type ToolSecretList, toolSecretLimits } from './http/tool-secrets';
export { type Json, type JsonObject, jsonObjectSchema } from './json';
export { integerAt, listAt, objectAt, textAt } from './json-values';
export {
  type IntegrationField,
  currencySchema,
  integrationFields,
  integrationProvider,
  integrationProviders,
  mergeIntegration,
} from './integrations';
export {
  type Environment,
  type Permission,
  type Scope,
  environmentSchema,
  permissionSchema,
} from './scope';
export { isListedOrigin } from './origin';
export { slugSchema } from './slug';
export {
  type ZonePeriod,
  dayMs,
  instantAfterGap,
  instantOf,
  instantsIn,
  localTimeOf,
  periodsAround,
} from './local-time';
export { isTimeZone, isZoneName } from './time-zone';
export {
  type ConversationSettings,
  conversationSettingsSchema,
  weekdays,
} from './http/manage/organization';
export { findUnstorable } from './unstorable';
export {
  type OpenApiContent,
  type OpenApiDocument,
  type OpenApiOperation,
  type OpenApiResponse,
  openApiDocument,
} from './openapi/document';
export { type SchemaObject } from './openapi/components';
export { describeType, noteOf, rowsOf } from './openapi/schema-rows';
export { type Operation } from './operations/operation';
export { operations, operationsOf } from './operations/operations';
export {
  type CompilePromptResponse,
  type FireTriggerResponse,
  type RunToolResponse,
} from './http/utility';
export { onRefusal, reportRefusal } from './refusals';
export { ownValue, setOwn } from './own-value';
