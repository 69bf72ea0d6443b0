export { freePort } from '@parley/embedded';
export { createTestDatabase, type TestDatabase } from './database';
export { createTestRedis, type TestRedis } from './redis';
