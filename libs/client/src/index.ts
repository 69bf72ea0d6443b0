export { ParleyClient } from './client';
export { ParleyApiError } from './error';
export type { ChatInput, ChatResponse, Execution, ToolCallSummary, Usage } from './chat-types';
export type {
  BulkInput,
  BulkResult,
  CreateInput,
  Deleted,
  Entity,
  EntityPage,
  EntityTypeView,
  ListInput,
  QueryInput,
  RelationPage,
  SearchInput,
  UpdateInput,
} from './data-types';
export type { DataOf, EntityTypes } from './definition-types';
export type { Comparable, Condition, Filters, Operators, SortField } from './filter-types';
export type { Json, JsonObject } from './json';
export type { StreamChunk, StreamOptions } from './stream';
export type { CallOptions, ClientOptions, Retry } from './request';
