import { openDatabase, openReplica } from '@parley/db';
import { createExecutionChunks, createQueues, createRelayWaker, openRedis } from '@parley/redis';
import {
  createLogger,
  createMetrics,
  loadConfig,
  observeReplica,
  openTracer,
  runService,
  startProcess,
  tracedStatement,
} from '@parley/service';
import { retentionDays, workerVariables } from './config';
import { createJobRuntime } from './job-runtime';
import { logRolesOnChannels } from './log-roles-on-channels';
import { registerWorkMetrics } from './register-work-metrics';
import { createWorker } from './worker';

startProcess(async () => {
  const config = loadConfig(workerVariables, process.env);
  const log = createLogger({ service: 'worker', level: config.LOG_LEVEL });
  const metrics = createMetrics('worker');
  const tracer = await openTracer(config, log);
  const db = await openDatabase(config, { name: 'parley-worker', log, observe: tracedStatement });
  const replica = observeReplica(metrics, (onRead) =>
    openReplica(config, {
      primary: db,
      name: 'parley-worker',
      log,
      onRead,
      observe: tracedStatement,
    }),
  );
  const redis = await openRedis(config, { name: 'parley-worker', roles: ['worker'], log });
  const queues = createQueues({ redis: redis.producer });
  const runtime = createJobRuntime({
    config,
    db,
    log,
    metrics,
    wakeRelay: createRelayWaker(redis.producer),
    chunkLog: createExecutionChunks(redis.producer),
  });
  void logRolesOnChannels(db, log).catch((error: unknown) =>
    log.warn({ err: error }, 'agents that act with their roles on channels could not be listed'),
  );
  registerWorkMetrics({ db: replica.reads, queues, metrics, log });
  const worker = createWorker({
    ...runtime,
    db,
    queues,
    redis: redis.worker,
    log,
    metrics,
    tracer,
    ...retentionDays(config),
  });

  await runService({
    config,
    log,
    metrics,
    tracer,
    checks: { database: () => db.ping(), redis: () => redis.checkWrites() },
    closing: [
      { name: 'worker', close: () => worker.close() },
      ...runtime.closing,
      { name: 'queues', close: () => queues.close() },
      { name: 'Redis', close: () => redis.close() },
      { name: 'replica', close: () => replica.close() },
      { name: 'database', close: () => db.close() },
    ],
  });
});
