export { type Db, type Queryable, createDb, inTransaction, isDatabaseUnavailable, readDatabaseUrl } from './client';
export { newId } from './id';
export { createIdempotencyStore, idempotentEntitySql } from './idempotency';
export {
  type Integration,
  findIntegration,
  integrationSecretContext,
  listActiveIntegrations,
  listEnvironmentIntegrations,
  removeIntegration,
  resealIntegrations,
  saveIntegration,
  switchIntegration,
} from './integrations';
export { migrate, schemaProblem } from './migrate';
export { openDatabase } from './open-database';
export { prismaOf } from './prisma';
export { type PurgeStep, dbPurge, purgeRows } from './purge-rows';
export { removeOldRows } from './remove-old-rows';
export { type SecretBox, createSecretBox, secretsKeyVariable } from './secrets';
