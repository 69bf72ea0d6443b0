export { type JobName, type JobPayload, deliveryJobs } from './catalog';
export { type JobContext, type JobHandlers, type JobOutcome, consume } from './consume';
export { type Queues, createQueues } from './queues';
export { type RateLimiter, createRateLimiter } from './rate-limit';
export { openRedis } from './open-redis';
export { type RedisConnection, closeRedis, connectRedis, waitForRedis } from './redis';
export { createRelay, createRing } from './relay';
