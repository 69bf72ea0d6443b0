import {
  type Agents,
  createAgents,
  createCallbackTokens,
  createModels,
  createOrganizationKeys,
  createTransfer,
  providersOfEnvironment,
} from '@parley/agents';
import { createChannels } from '@parley/channels';
import { createSecretBox, openDatabase } from '@parley/db';
import { createEntities } from '@parley/entities';
import { countPayments, createPayments } from '@parley/payments';
import {
  createGuardedFetch,
  createLogger,
  createMetrics,
  createWorkMetrics,
  loadConfig,
  runService,
  startProcess,
} from '@parley/service';
import {
  type Tools,
  builtInToolNames,
  createExecutorClient,
  createMcpServers,
  createTools,
  createTriggers,
} from '@parley/tools';
import { createChatApp } from './app';
import { chatVariables } from './config';

startProcess(async () => {
  const config = loadConfig(chatVariables, process.env);
  const log = createLogger({ service: 'chat', level: config.LOG_LEVEL });
  const metrics = createMetrics('chat');
  const db = await openDatabase(config, { name: 'parley-chat', log });

  const work = createWorkMetrics(metrics, { prices: config.MODEL_PRICES });
  work.watchPool(db.pool);
  const box = createSecretBox(config.SECRETS_KEY);
  const models = work.observeModels(
    createModels({
      environment: providersOfEnvironment(config),
      organizationKeys: createOrganizationKeys(db.pool, box, log),
      log,
      defaultModel: config.PARLEY_DEFAULT_MODEL,
      timeoutMs: config.MODEL_TIMEOUT_MS,
    }),
  );
  const callbackTokens = createCallbackTokens(config.SECRETS_KEY);
  const guarded = createGuardedFetch({ allowedPrivateHosts: config.WEB_FETCH_ALLOWED_PRIVATE_HOSTS });
  const guardedForMcp = createGuardedFetch({ allowedPrivateHosts: config.MCP_ALLOWED_PRIVATE_HOSTS });
  const mcp = createMcpServers({ db: db.pool, box, openGuarded: guardedForMcp.open, log });
  const { TOOL_EXECUTOR_URL: url, EXECUTOR_TOKEN: token } = config;
  const executor = url && token ? createExecutorClient({ url, token }) : undefined;
  const entities = createEntities({ pool: db.pool });
  const tools: Tools = work.observeTools(
    createTools({
      db,
      entities,
      channels: createChannels({ db: db.pool, box, settings: config, log }),
      payments: createPayments({
        pool: db.pool,
        entities,
        box,
        publicUrl: config.PUBLIC_URL,
        log,
        observe: countPayments(metrics),
      }),
      log,
      fetchGuarded: guarded.fetch,
      executor,
      mcp,
      ports: {
        transfer: createTransfer(db),
        chatWithAgent: (scope, request) => agents.chatWithAgent(scope, request),
        mintCallbackToken: callbackTokens.mint,
      },
    }),
    builtInToolNames,
  );
  const agents: Agents = createAgents({
    db,
    tools,
    models,
    log,
    turnTimeoutMs: config.TURN_TIMEOUT_MS,
    historyTokens: config.HISTORY_TOKENS,
  });

  await runService({
    config,
    log,
    metrics,
    app: createChatApp({
      db,
      agents,
      tools,
      triggers: createTriggers({ db, tools, entities, log, leaseMs: config.TRIGGER_LEASE_MS }),
      callbackTokens,
      log,
      metrics,
      checkResponses: config.NODE_ENV !== 'production',
    }),
    checks: { database: () => db.pool.query('select 1') },
    closing: [
      { name: 'agents', close: () => agents.close() },
      { name: 'tool executor client', close: async () => executor?.close() },
      { name: 'MCP servers', close: async () => mcp.close() },
      { name: 'guarded fetch', close: () => Promise.all([guarded.close(), guardedForMcp.close()]) },
      { name: 'entities', close: () => entities.settled() },
      { name: 'database', close: () => db.close() },
    ],
  });
  // After listening: the classes of a provider take a second to load, which the first message would wait for.
  await models.warmUp().catch((error: unknown) => log.warn({ err: error }, 'the default model could not be prepared'));
});
