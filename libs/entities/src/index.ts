export { type Access, parseAccess } from './access';
export { type Entities, createEntities } from './create-entities';
export { type FollowedChange, readEntityTypes, setFollowedChanges } from './entity-types';
export { entitiesPurge } from './purge-entities';
export { type EntityFailure, failureText } from './failure-text';
export { isEqual, matchesOperator, valueAt } from './filter/matches-operator';
export { filterProblem } from './filter/parse-filters';
export { entityFieldSql } from './read/entity-field-sql';
export { findByPhone, findOnlyByPhone, findOnlyBySpelling } from './read/find-by-phone';
export { findByToken } from './read/find-by-token';
export { queryEntities } from './read/query-entities';
export { typeOfEntity } from './read/type-of-entity';
export { relatedIds, targetIds } from './relations';
export { countEntitiesByType, deleteShapes, lockTypes } from './remove-types';
export { isCalendarDay } from './schema/field-types';
export {
  type FieldSchema,
  checkFieldNames,
  checkTypeSchema,
  flatSchema,
  readTypeSchema,
} from './schema/type-schema';
export { reindexType, searchStates, staleTypes } from './search/reindex-type';
export { type CreateInput } from './write/create-entity';
export { ensureType } from './write/ensure-type';
