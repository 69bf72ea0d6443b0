export { claimByTenant } from './claim-by-tenant';
export { type Db, type Queryable, type Tenant, createDb, isDatabaseUnavailable, readDatabaseUrl } from './client';
export { newId } from './id';
export { createIdempotencyStore, idempotentEntitySql } from './idempotency';
export {
  type Integration,
  checkSealedIntegrations,
  findIntegration,
  integrationSecretContext,
  listActiveIntegrations,
  listEnvironmentIntegrations,
  listIntegrations,
  removeIntegration,
  resealIntegrations,
  saveIntegration,
  switchIntegration,
} from './integrations';
export { leaseSql } from './lease-sql';
export { lockKey } from './lock-key';
export { migrate, schemaProblem } from './migrate';
export { openDatabase } from './open-database';
export { type Page, type Paged, pageValues, parsePosition, toPaged } from './page';
export { prismaOf } from './prisma';
export { type PurgeStep, dbPurge, purgeRows } from './purge-rows';
export { removeOldRows } from './remove-old-rows';
export { scopeColumns, scopeRow } from './scope-columns';
export { type RowOf, type Statement, column, statement, unprepared } from './statement';
export { type SecretBox, createSecretBox, secretsKeyVariable } from './secrets';
