import { createSecretBox, openDatabase, openReplica } from '@parley/db';
import { createEntities } from '@parley/entities';
import { createChannels } from '@parley/channels';
import { createGuardedFetch } from '@parley/outbound';
import { createPayments } from '@parley/payments';
import {
  createExecutionBells,
  createExecutionChunks,
  createQueues,
  createRateLimiter,
  createRelayWaker,
  openRedis,
} from '@parley/redis';
import {
  createBodyMemory,
  OpenStreams,
  createLogger,
  createMetrics,
  createWorkMetrics,
  keyLimitOf,
  loadConfig,
  observeReplica,
  runService,
  startProcess,
  tracedStatement,
} from '@parley/service';
import { createManageApp } from './app';
import { manageVariables } from './config';
import { oidcOf } from './oidc';
import { createSealedCookies } from './sealed-cookies';
import { createSignInLimit } from './sign-in-limit';
import { createVisitorLimit } from './visitors';

startProcess(async () => {
  const config = loadConfig(manageVariables, process.env);
  const log = createLogger({ service: 'manage', level: config.LOG_LEVEL });
  const metrics = createMetrics('manage');
  const db = await openDatabase(config, { name: 'parley-manage', log, observe: tracedStatement });
  const replica = observeReplica(metrics, (onRead) =>
    openReplica(config, {
      primary: db,
      name: 'parley-manage',
      log,
      onRead,
      observe: tracedStatement,
    }),
  );
  const redis = await openRedis(config, {
    name: 'parley-manage',
    roles: ['limiter', 'worker'],
    log,
  });
  const executionBells = createExecutionBells(redis.worker);
  const work = createWorkMetrics(metrics);
  work.watchPool(db.pool);
  const limiter = work.observeLimiter((onSkip) =>
    createRateLimiter({
      redis: redis.limiter,
      name: 'manage-rate',
      limits: {
        perKey: config.MANAGE_RATE_LIMIT_PER_KEY,
        perOrganization: config.MANAGE_RATE_LIMIT_PER_ORGANIZATION,
      },
      onSkip,
    }),
  );
  const signInLimits = {
    perPerson: config.SIGN_IN_ATTEMPTS_PER_PERSON,
    perAddress: config.SIGN_IN_ATTEMPTS_PER_ADDRESS,
  };
  const queues = createQueues({ redis: redis.producer });
  const box = createSecretBox(config.SECRETS_KEY);
  const { PUBLIC_URL: publicUrl, STAND_INS_URL: standInsUrl } = config;
  const standIns = standInsUrl === undefined ? [] : [new URL(standInsUrl).host];
  const guards = {
    mcp: createGuardedFetch({ allowedPrivateHosts: config.MCP_ALLOWED_PRIVATE_HOSTS }),
    providers: createGuardedFetch({
      allowedPrivateHosts: [...config.PROVIDER_ALLOWED_PRIVATE_HOSTS, ...standIns],
    }),
  };
  const channels = createChannels({ db, box, settings: config, log, guard: guards.providers });
  const entities = createEntities({ db, wakeRelay: createRelayWaker(redis.producer), log });

  const openStreams = new OpenStreams();
  await runService({
    config,
    log,
    metrics,
    streams: openStreams,
    app: createManageApp({
      bodyMemory: createBodyMemory(config),
      db,
      reads: replica.reads,
      box,
      queues,
      channels,
      payments: createPayments({
        db,
        entities,
        box,
        publicUrl,
        standInsUrl,
        log,
        flow: { guard: guards.providers },
      }),
      publicUrl,
      streamLimits: {
        openStreams,
        perCaller: config.EVENT_STREAMS_PER_CALLER,
        perOrganization: config.EVENT_STREAMS_PER_ORGANIZATION,
      },
      executionStreamLimits: {
        openStreams,
        perCaller: config.EXECUTION_STREAMS_PER_CALLER,
        perOrganization: config.EXECUTION_STREAMS_PER_ORGANIZATION,
      },
      executionChunks: createExecutionChunks(redis.producer),
      executionBells,
      guards,
      connect: {
        db,
        accounts: channels.accounts,
        timeoutMs: 5_000,
        guard: guards.providers,
        webhookUrl: `${publicUrl}/webhook/kapso/messages`,
        webhookSecrets: config.MESSAGING_WEBHOOK_SECRET,
      },
      addresses: { kapso: config.KAPSO_API_URL, resend: config.RESEND_API_URL },
      log,
      metrics,
      limiter,
      admitSignIn: createSignInLimit(redis.limiter, signInLimits),
      admitReset: createSignInLimit(redis.limiter, signInLimits, 'password-reset'),
      admitVisitor: createVisitorLimit(redis.limiter),
      oidc: oidcOf(config),
      sealedCookies: createSealedCookies(config.SECRETS_KEY),
      keyLimit: keyLimitOf(config),
      checkResponses: config.NODE_ENV !== 'production',
    }),
    checks: { database: () => db.ping() },
    closing: [
      { name: 'rate limiter', close: async () => limiter.close() },
      { name: 'bells of executions', close: async () => executionBells.close() },
      { name: 'queues', close: () => queues.close() },
      {
        name: 'connections to providers',
        close: () => Promise.all([guards.mcp.close(), guards.providers.close()]),
      },
      { name: 'entities', close: () => entities.settled() },
      { name: 'Redis', close: () => redis.close() },
      { name: 'replica', close: () => replica.close() },
      { name: 'database', close: () => db.close() },
    ],
  });
});
