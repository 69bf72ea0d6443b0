import { openDatabase } from '@parley/db';
import { type Entities, createEntities } from '@parley/entities';
import { createQueues, createRateLimiter, createRelayWaker, openRedis } from '@parley/redis';
import {
  createBodyMemory,
  createLogger,
  createMetrics,
  createWorkMetrics,
  keyLimitOf,
  loadConfig,
  runService,
  startProcess,
  tracedStatement,
} from '@parley/service';
import { createExecutorClient } from '@parley/tools';
import { createDataApp } from './app';
import { dataVariables } from './config';
import { limitCallers } from './limit-callers';
import { createReindexingRequest } from './request-reindexing';

/**
 * Reads what does not exist, so that the first request finds open connections, prepared statements
 * and compiled code.
 */
async function warmUp({ get, list }: Entities): Promise<void> {
  const unknown = { organizationId: '', tenant: 0, environment: 'production' } as const;
  // The second and the third get share a statement.
  const gets = () => Array.from({ length: 3 }, () => get(unknown, { type: '', id: '' }));
  const read = () => Promise.all([list(unknown, { type: '', limit: 50 }), ...gets()]);
  for (let time = 0; time < 5; time += 1) await read();
}

startProcess(async () => {
  const config = loadConfig(dataVariables, process.env);
  const log = createLogger({ service: 'data', level: config.LOG_LEVEL });
  const metrics = createMetrics('data');
  const db = await openDatabase(config, { name: 'parley-data', log, observe: tracedStatement });
  const redis = await openRedis(config, { name: 'parley-data', roles: ['limiter'], log });
  const work = createWorkMetrics(metrics);
  work.watchPool(db.pool);
  const limiter = work.observeLimiter((onSkip) =>
    limitCallers({
      keys: createRateLimiter({
        redis: redis.limiter,
        limits: {
          perKey: config.RATE_LIMIT_PER_KEY,
          perOrganization: config.RATE_LIMIT_PER_ORGANIZATION,
        },
        onSkip,
      }),
      people: createRateLimiter({
        redis: redis.limiter,
        name: 'people-rate',
        limits: {
          perKey: config.PEOPLE_RATE_LIMIT_PER_PERSON,
          perOrganization: config.PEOPLE_RATE_LIMIT_PER_ORGANIZATION,
        },
        onSkip,
      }),
    }),
  );
  const queues = createQueues({ redis: redis.producer });
  const { TOOL_EXECUTOR_URL: url, EXECUTOR_TOKEN: token } = config;
  const executor = url && token ? createExecutorClient({ url, token }) : undefined;
  const entities = createEntities({ db, wakeRelay: createRelayWaker(redis.producer), log });

  await warmUp(entities).catch((err: unknown) =>
    log.warn({ err }, 'the first requests will be slow'),
  );

  await runService({
    config,
    log,
    metrics,
    app: createDataApp({
      bodyMemory: createBodyMemory(config),
      db,
      entities,
      log,
      metrics,
      limiter,
      keyLimit: keyLimitOf(config),
      checkResponses: config.NODE_ENV !== 'production',
      pushCheckMs: config.PUSH_CHECK_MS,
      ...(executor && { checkHandler: executor.validate }),
      requestReindexing: createReindexingRequest({ queues, log }),
    }),
    checks: { database: () => db.ping() },
    closing: [
      { name: 'rate limiter', close: async () => limiter.close() },
      { name: 'queues', close: () => queues.close() },
      { name: 'Redis', close: () => redis.close() },
      { name: 'tool executor client', close: async () => executor?.close() },
      { name: 'background work of entities', close: () => entities.settled() },
      { name: 'database', close: () => db.close() },
    ],
  });
});
