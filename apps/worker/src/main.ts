import { createDb, isDatabaseUnavailable, schemaProblem } from '@parley/db';
import { closeRedis, connectRedis, createQueues, requireSafeRedis } from '@parley/queues';
import {
  createLogger,
  createMetrics,
  loadConfig,
  runService,
  startProcess,
  tracerOf,
  untilAvailable,
} from '@parley/service';
import { workerVariables } from './config';
import { createRuntime } from './runtime';
import { watchWork } from './watch-work';
import { createWorker } from './worker';

startProcess(async () => {
  const config = loadConfig(workerVariables, process.env);
  const log = createLogger({ service: 'worker', level: config.LOG_LEVEL });
  const metrics = createMetrics('worker');
  const db = createDb({
    databaseUrl: config.DATABASE_URL,
    poolSize: config.DATABASE_POOL_SIZE,
    applicationName: 'parley-worker',
    onError: (error) => log.warn({ err: error }, 'an idle database connection broke'),
  });
  const problem = await untilAvailable({ name: 'PostgreSQL', log, isUnavailable: isDatabaseUnavailable }, () =>
    schemaProblem(db.pool),
  );
  if (problem !== null) throw new Error(problem);

  const onError = (error: Error) => log.warn({ err: error }, 'Redis');
  const producerRedis = connectRedis({
    url: config.REDIS_URL,
    role: 'producer',
    name: 'parley-worker-queues',
    onError,
  });
  const workerRedis = connectRedis({ url: config.REDIS_URL, role: 'worker', name: 'parley-worker', onError });
  await requireSafeRedis(producerRedis, {
    strict: config.NODE_ENV === 'production',
    warn: (warning) => log.warn(warning),
  });
  const queues = createQueues({ redis: producerRedis });
  const runtime = createRuntime({ config, db, log, metrics });
  watchWork({ db: db.pool, queues, metrics, log });
  const tracer = tracerOf(config, log);
  const worker = createWorker({
    ...runtime,
    db,
    queues,
    redis: workerRedis,
    log,
    metrics,
    tracer,
    purgeGraceDays: config.PURGE_GRACE_DAYS,
    retention: { doneDays: config.WEBHOOK_RETENTION_DAYS, openDays: config.WEBHOOK_FAILED_RETENTION_DAYS },
    history: { eventDays: config.EVENT_RETENTION_DAYS, runDays: config.TRIGGER_RUN_RETENTION_DAYS },
  });

  await runService({
    config,
    log,
    metrics,
    tracer,
    checks: {
      database: () => db.pool.query('select 1'),
      redis: () => producerRedis.ping(),
    },
    closing: [
      { name: 'worker', close: () => worker.close() },
      ...runtime.closing,
      { name: 'queues', close: () => queues.close() },
      { name: 'Redis', close: () => Promise.all([closeRedis(workerRedis), closeRedis(producerRedis)]) },
      { name: 'database', close: () => db.close() },
    ],
  });
});
