import { openDatabase } from '@parley/db';
import { createRateLimiter, createRelayWaker, openRedis } from '@parley/redis';
import { createRuntime } from '@parley/runtime';
import {
  createBodyMemory,
  createLogger,
  createMetrics,
  keyLimitOf,
  loadConfig,
  runService,
  startProcess,
  tracedStatement,
} from '@parley/service';
import { createChatApp } from './app';
import { chatVariables } from './config';
import { createOriginCheck } from './own-origins';

startProcess(async () => {
  const config = loadConfig(chatVariables, process.env);
  const log = createLogger({ service: 'chat', level: config.LOG_LEVEL });
  const metrics = createMetrics('chat');
  const db = await openDatabase(config, { name: 'parley-chat', log, observe: tracedStatement });
  const redis = await openRedis(config, { name: 'parley-chat', roles: ['limiter'], log });
  const runtime = createRuntime({
    config,
    db,
    log,
    metrics,
    wakeRelay: createRelayWaker(redis.producer),
  });
  const limiter = runtime.observeLimiter((onSkip) =>
    createRateLimiter({
      redis: redis.limiter,
      name: 'chat-rate',
      limits: {
        perKey: config.CHAT_RATE_LIMIT_PER_KEY,
        perOrganization: config.CHAT_RATE_LIMIT_PER_ORGANIZATION,
      },
      onSkip,
    }),
  );
  await runService({
    config,
    log,
    metrics,
    app: createChatApp({
      bodyMemory: createBodyMemory(config),
      ...runtime,
      db,
      log,
      metrics,
      keyLimit: keyLimitOf(config),
      isOwnOrigin: createOriginCheck(config.PUBLIC_URL, config.MCP_ALLOWED_ORIGINS),
      limiter,
      maxTurns: config.CHAT_MAX_TURNS,
      checkResponses: config.NODE_ENV !== 'production',
    }),
    checks: { database: () => db.ping() },
    closing: [
      { name: 'rate limiter', close: async () => limiter.close() },
      ...runtime.closing,
      { name: 'Redis', close: () => redis.close() },
      { name: 'database', close: () => db.close() },
    ],
  });
  await runtime.warmUp();
});
