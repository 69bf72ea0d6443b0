import { createDb, isDatabaseUnavailable, schemaProblem } from '@parley/db';
import { createEntities } from '@parley/entities';
import { closeRedis, connectRedis, createQueues, createRateLimiter, requireSafeRedis } from '@parley/queues';
import {
  createLogger,
  createMetrics,
  createWorkMetrics,
  loadConfig,
  runService,
  startProcess,
  untilAvailable,
} from '@parley/service';
import { createExecutorClient } from '@parley/tools';
import { createDataApp } from './app';
import { dataVariables } from './config';
import { createReindexingRequest } from './request-reindexing';

startProcess(async () => {
  const config = loadConfig(dataVariables, process.env);
  const log = createLogger({ service: 'data', level: config.LOG_LEVEL });
  const metrics = createMetrics('data');
  const db = createDb({
    databaseUrl: config.DATABASE_URL,
    poolSize: config.DATABASE_POOL_SIZE,
    applicationName: 'parley-data',
    onError: (error) => log.warn({ err: error }, 'an idle database connection broke'),
  });
  const problem = await untilAvailable({ name: 'PostgreSQL', log, isUnavailable: isDatabaseUnavailable }, () =>
    schemaProblem(db.pool),
  );
  if (problem !== null) throw new Error(problem);

  const onError = (error: Error) => log.warn({ err: error }, 'Redis');
  const limiterRedis = connectRedis({ url: config.REDIS_URL, role: 'limiter', name: 'parley-data-limiter', onError });
  const queueRedis = connectRedis({ url: config.REDIS_URL, role: 'producer', name: 'parley-data-queues', onError });
  await requireSafeRedis(queueRedis, {
    strict: config.NODE_ENV === 'production',
    warn: (warning) => log.warn(warning),
  });
  const skipped = metrics.counter(
    'rate_limit_skipped_total',
    'Requests that were admitted because Redis could not be asked.',
    [],
  );
  const work = createWorkMetrics(metrics);
  work.watchPool(db.pool);
  const limiter = work.observeLimiter(
    createRateLimiter({
      redis: limiterRedis,
      limits: { perKey: config.RATE_LIMIT_PER_KEY, perOrganization: config.RATE_LIMIT_PER_ORGANIZATION },
      onSkip: () => skipped.inc(),
    }),
  );
  const queues = createQueues({ redis: queueRedis });
  const { TOOL_EXECUTOR_URL: url, EXECUTOR_TOKEN: token } = config;
  const executor = url && token ? createExecutorClient({ url, token }) : undefined;
  const entities = createEntities({ pool: db.pool });

  await runService({
    config,
    log,
    metrics,
    app: createDataApp({
      db,
      entities,
      log,
      metrics,
      limiter,
      checkResponses: config.NODE_ENV !== 'production',
      ...(executor && { checkHandler: executor.validate }),
      requestReindexing: createReindexingRequest({ queues, log }),
    }),
    checks: { database: () => db.pool.query('select 1') },
    closing: [
      { name: 'rate limiter', close: async () => limiter.close() },
      { name: 'queues', close: () => queues.close() },
      { name: 'Redis', close: () => Promise.all([closeRedis(limiterRedis), closeRedis(queueRedis)]) },
      { name: 'tool executor client', close: async () => executor?.close() },
      { name: 'upkeep of entities', close: () => entities.settled() },
      { name: 'database', close: () => db.close() },
    ],
  });
});
