export { TablesInUse, filledTables, replaceRows } from './backup/load-rows';
export { readSnapshot, type Snapshot } from './backup/read-snapshot';
export { type StoredTable } from './backup/stored-tables';
export { type Backlog, backlog } from './backlog';
export { migrationsOfBackup } from './baseline';
export { batchCalls } from './batch-calls';
export { claimByTenant } from './claim-by-tenant';
export { decodeCursor, encodeCursor } from './cursor';
export { type Db, type Queryable, type Tenant, createDb, readDatabaseUrl } from './client';
export { isDatabaseUnavailable } from './database-unavailable';
export { type HeldGroup, type HeldWork, droppedReason, heldUntil, heldWork } from './held-work';
export { newId } from './id';
export { createIdempotencyStore, idempotentEntitySql } from './idempotency';
export {
  type Integration,
  findIntegration,
  hasActiveIntegration,
  integrationSecretContext,
  lockIntegration,
  listActiveIntegrations,
  listEnvironmentIntegrations,
  listIntegrations,
  removeIntegration,
  saveIntegration,
  sealedIntegrations,
  switchIntegration,
} from './integrations';
export { leaseSql } from './lease-sql';
export { lockKey } from './lock-key';
export { migrate } from './migrate';
export { openDatabase } from './open-database';
export { type Replica, openReplica } from './open-replica';
export {
  type Page,
  type Paged,
  type Position,
  listStatement,
  maxPageBytes,
  pageValues,
  parsePosition,
  toPaged,
  unpreparedList,
} from './page';
export { prismaOf } from './prisma';
export { type PurgeStep, dbPurge, purgeRows } from './purge-rows';
export { removeInBatches, removeOldRows, removedRows, tenantsOf } from './remove-old-rows';
export { scopeColumns, scopeRow } from './scope-columns';
export { standInAccount } from './stand-in-account';
export { migrationNames, readSchema, schemaProblem } from './schema-problem';
export {
  type RowOf,
  type Statement,
  type Values,
  column,
  orderValues,
  statement,
  unprepared,
} from './statement';
export {
  type SealedValue,
  type SecretBox,
  createSecretBox,
  resealStale,
  secretsKeyVariable,
  unreadableOf,
} from './secrets';
