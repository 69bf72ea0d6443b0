export { type Access, type AccessRule, type Mask, type ParsedAccess, parseAccess } from './access';
export { type Entities, type EntitiesOptions, createEntities } from './create-entities';
export { type StoredType, readEntityTypes } from './entity-types';
export { purgeEntities } from './purge-entities';
export { type EntityFailure, failureText } from './failure-text';
export { isEqual, matchesOperator, valueAt } from './filter/matches-operator';
export { type GetInput, type GetResult } from './read/get-entity';
export { findByPhone, findOnlyByPhone } from './read/find-by-phone';
export { findByToken } from './read/find-by-token';
export { type PageInput, type PageResult, type QueryInput, queryEntities } from './read/query-entities';
export { typeOfEntity } from './read/type-of-entity';
export { type Relation, relatedIds } from './relations';
export {
  type ConditionFailed,
  type Deleted,
  type Invalid,
  type MaskedField,
  type NotFound,
  type OutOfScope,
  type TypeNotFound,
} from './result';
export { checkTypeSchema, flatSchema } from './schema/type-schema';
export { type ReindexOptions, type SearchState, reindexType, searchStates, staleTypes } from './search/reindex-type';
export { type SearchInput, type SearchResult } from './search/search-entities';
export { type CreateInput, type CreateResult } from './write/create-entity';
export { type DeleteInput, type DeleteResult } from './write/delete-entity';
export { ensureType } from './write/ensure-type';
export { type UpdateInput, type UpdateResult } from './write/update-entity';
