import { openDatabase } from '@parley/db';
import { createQueues, openRedis } from '@parley/redis';
import {
  createBodyMemory,
  createLogger,
  createMetrics,
  createWorkMetrics,
  loadConfig,
  runService,
  startProcess,
  tracedStatement,
} from '@parley/service';
import { createInbox } from '@parley/webhooks';
import { createIngestApp } from './app';
import { ingestVariables } from './config';
import { createJobSender } from './job-sender';
import { createRefusalLog } from './refusal-log';

startProcess(async () => {
  const config = loadConfig(ingestVariables, process.env);
  const log = createLogger({ service: 'webhook-ingest', level: config.LOG_LEVEL });
  const metrics = createMetrics('webhook-ingest');
  for (const name of [
    'MESSAGING_WEBHOOK_SECRET',
    'BILLING_WEBHOOK_SECRET',
    'EMAIL_WEBHOOK_SECRET',
  ] as const)
    if (config[name].length === 0)
      log.warn(`${name} is not set: every delivery signed with it is refused`);
  const acceptsUnsignedIdentity =
    config.IDENTITY_WEBHOOK_UNSIGNED || config.NODE_ENV !== 'production';
  if (config.IDENTITY_WEBHOOK_SECRET.length > 0)
    log.info('/webhook/clerk accepts signed deliveries only');
  else if (acceptsUnsignedIdentity)
    log.warn(
      'IDENTITY_WEBHOOK_SECRET is not set: /webhook/clerk accepts unsigned deliveries from any client',
    );
  else log.warn('IDENTITY_WEBHOOK_SECRET is not set: /webhook/clerk refuses every delivery');

  const db = await openDatabase(config, {
    name: 'parley-webhook-ingest',
    log,
    observe: tracedStatement,
  });
  const redis = await openRedis(config, { name: 'parley-webhook-ingest', log });
  createWorkMetrics(metrics).watchPool(db.pool);
  const queues = createQueues({ redis: redis.producer });
  const jobs = createJobSender({ queues, log });
  const inbox = createInbox(db);
  const deliveries = metrics.counter(
    'webhook_deliveries_total',
    'Deliveries by provider and outcome.',
    ['provider', 'outcome'],
  );

  await runService({
    config,
    log,
    metrics,
    app: createIngestApp({
      bodyMemory: createBodyMemory(config),
      db,
      inbox,
      jobs,
      log,
      metrics,
      refusals: createRefusalLog({ inbox, log }),
      acceptsUnsignedIdentity,
      checkResponses: config.NODE_ENV !== 'production',
      onDelivery: (provider, outcome) => deliveries.inc({ provider, outcome }),
      secrets: {
        clerk: config.IDENTITY_WEBHOOK_SECRET,
        kapso: config.MESSAGING_WEBHOOK_SECRET,
        polar: config.BILLING_WEBHOOK_SECRET,
        resend: config.EMAIL_WEBHOOK_SECRET,
      },
    }),
    // Redis is not checked: without it deliveries are stored, and the sweep sends their jobs later.
    checks: { database: () => db.ping() },
    closing: [
      { name: 'jobs', close: () => jobs.settled() },
      { name: 'queues', close: () => queues.close() },
      { name: 'Redis', close: () => redis.close() },
      { name: 'database', close: () => db.close() },
    ],
  });
});
