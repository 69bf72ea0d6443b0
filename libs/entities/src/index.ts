export { type Access, parseAccess } from './access';
export { type Entities, createEntities } from './create-entities';
export { readEntityTypes } from './entity-types';
export { entitiesPurge } from './purge-entities';
export { type EntityFailure, failureText } from './failure-text';
export { isEqual, matchesOperator, valueAt } from './filter/matches-operator';
export { findByPhone, findOnlyByPhone } from './read/find-by-phone';
export { findByToken } from './read/find-by-token';
export { queryEntities } from './read/query-entities';
export { typeOfEntity } from './read/type-of-entity';
export { relatedIds, targetIds } from './relations';
export { countOfTypes, deleteShapes, lockTypes } from './remove-types';
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
export { type SearchState, reindexType, searchStates, staleTypes } from './search/reindex-type';
export { type CreateInput, type CreateResult } from './write/create-entity';
export { ensureType } from './write/ensure-type';
