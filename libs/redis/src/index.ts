export { type JobName, type JobPayload, deliveryJobs } from './job-catalog';
export { type JobContext, type JobHandlers, type JobOutcome, consume } from './consume';
export { type Queues, createQueues } from './queues';
export { type RateLimiter, createRateLimiter } from './rate-limit';
export { redisVariables } from './redis-address';
export { openRedis } from './open-redis';
export { type RedisConnection, closeRedis, connectRedis, waitForRedis } from './connect-redis';
export { createRelay, createRelayWaker } from './relay';
export {
  type ExecutionBells,
  type ExecutionChunks,
  type NumberedChunk,
  createExecutionBells,
  createExecutionChunks,
} from './execution-chunks';
export { type Counter, createStrictLimit } from './strict-limit';
