import {
  type Agents,
  createAgents,
  createCallbackTokens,
  createModels,
  createOrganizationKeys,
  createTransfer,
  providersOfEnvironment,
} from '@parley/agents';
import { type Channels, type ConnectDeps, createChannels } from '@parley/channels';
import { type Db, createSecretBox } from '@parley/db';
import { type Entities, createEntities } from '@parley/entities';
import { type Payments, countPayments, createPayments } from '@parley/payments';
import {
  type Logger,
  type Metrics,
  type ServiceOptions,
  createGuardedFetch,
  createMetrics,
  createWorkMetrics,
  type loadConfig,
} from '@parley/service';
import {
  type Tools,
  builtInToolNames,
  type Triggers,
  createExecutorClient,
  createMcpServers,
  createTools,
  createTriggers,
} from '@parley/tools';
import type { workerVariables } from './config';
import { countRuns } from './count-runs';

type Config = ReturnType<typeof loadConfig<typeof workerVariables>>;

/** What jobs work with: the same entities, tools and agents that chat and data have. */
export interface Runtime {
  entities: Entities;
  tools: Tools;
  agents: Agents;
  triggers: Triggers;
  channels: Channels;
  payments: Payments;
  /** How numbers are connected. */
  connect: ConnectDeps;
  /** To be closed after the jobs and before the database, in this order. */
  closing: ServiceOptions['closing'];
}

/** Plugs the libraries together for jobs; the ports of tools are here. */
export function createRuntime({
  config,
  db,
  log,
  metrics,
}: {
  config: Config;
  db: Db;
  log: Logger;
  metrics?: Metrics;
}): Runtime {
  const box = createSecretBox(config.SECRETS_KEY);
  const onRun = metrics === undefined ? undefined : countRuns(metrics);
  const work = createWorkMetrics(metrics ?? createMetrics('worker'), { prices: config.MODEL_PRICES });
  work.watchPool(db.pool);
  const models = work.observeModels(
    createModels({
      environment: providersOfEnvironment(config),
      organizationKeys: createOrganizationKeys(db.pool, box, log),
      log,
      defaultModel: config.PARLEY_DEFAULT_MODEL,
      timeoutMs: config.MODEL_TIMEOUT_MS,
    }),
  );
  const guarded = createGuardedFetch({ allowedPrivateHosts: config.WEB_FETCH_ALLOWED_PRIVATE_HOSTS });
  const guardedForMcp = createGuardedFetch({ allowedPrivateHosts: config.MCP_ALLOWED_PRIVATE_HOSTS });
  const mcp = createMcpServers({ db: db.pool, box, openGuarded: guardedForMcp.open, log });
  const { TOOL_EXECUTOR_URL: url, EXECUTOR_TOKEN: token } = config;
  const executor = url && token ? createExecutorClient({ url, token }) : undefined;
  const entities = createEntities({ pool: db.pool });
  const channels = createChannels({ db: db.pool, box, settings: config, log });
  const payments = createPayments({
    pool: db.pool,
    entities,
    box,
    publicUrl: config.PUBLIC_URL,
    log,
    ...(metrics && { observe: countPayments(metrics) }),
  });
  const tools: Tools = work.observeTools(
    createTools({
      db,
      entities,
      channels,
      payments,
      log,
      fetchGuarded: guarded.fetch,
      executor,
      mcp,
      ports: {
        transfer: createTransfer(db),
        chatWithAgent: (scope, request) => agents.chatWithAgent(scope, request),
        // Chat has the same SECRETS_KEY, and takes the calls that the code of a custom tool makes.
        mintCallbackToken: createCallbackTokens(config.SECRETS_KEY).mint,
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
  return {
    entities,
    tools,
    agents,
    triggers: createTriggers({ db, tools, entities, log, leaseMs: config.TRIGGER_LEASE_MS, onRun }),
    channels,
    payments,
    connect: {
      db: db.pool,
      accounts: channels.accounts,
      webhookUrl: `${config.PUBLIC_URL}/webhook/kapso/messages`,
      webhookSecret: config.MESSAGING_WEBHOOK_SECRET?.split(/[\s,]+/).find((secret) => secret !== '') ?? null,
    },
    closing: [
      { name: 'agents', close: () => agents.close() },
      { name: 'tool executor client', close: async () => executor?.close() },
      { name: 'MCP servers', close: async () => mcp.close() },
      { name: 'guarded fetch', close: () => Promise.all([guarded.close(), guardedForMcp.close()]) },
      { name: 'entities', close: () => entities.settled() },
    ],
  };
}
