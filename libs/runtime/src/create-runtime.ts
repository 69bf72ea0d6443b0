import {
  type Agents,
  type CallbackTokens,
  createAgents,
  createCallbackTokens,
  createModels,
  createOrganizationKeys,
  createTransfer,
  providersOfEnvironment,
} from '@parley/agents';
import { type Channels, createChannels } from '@parley/channels';
import { type Db, createSecretBox } from '@parley/db';
import { type Entities, createEntities } from '@parley/entities';
import { createGuardedFetch } from '@parley/outbound';
import { type Payments, countPayments, createPayments } from '@parley/payments';
import { type Logger, type Metrics, type ServiceOptions, createWorkMetrics, type loadConfig } from '@parley/service';
import { type Tools, builtInToolNames, createExecutorClient, createMcpServers, createTools } from '@parley/tools';
import { type Triggers, createTriggers } from '@parley/triggers';
import { countRuns } from './count-runs';
import type { runtimeVariables } from './runtime-variables';

interface RuntimeDeps {
  config: ReturnType<typeof loadConfig<typeof runtimeVariables>>;
  db: Db;
  log: Logger;
  metrics: Metrics;
  ring?: () => void;
}

/** What answers people and reacts to events, the same in requests and in jobs. */
export interface Runtime {
  entities: Entities;
  channels: Channels;
  payments: Payments;
  tools: Tools;
  agents: Agents;
  triggers: Triggers;
  /** Of the code of custom tools, for the tools that it calls. */
  callbackTokens: CallbackTokens;
  /** Loads the default model's classes, for which its first call would have to wait; after the start. */
  warmUp(): Promise<void>;
  /** To be closed after requests or jobs and before the database, in this order. */
  closing: ServiceOptions['closing'];
}

/** Plugs the libraries together, once for every process that runs agents: the ports of tools are here. */
export function createRuntime({ config, db, log, metrics, ring }: RuntimeDeps): Runtime {
  const box = createSecretBox(config.SECRETS_KEY);
  const work = createWorkMetrics(metrics, { prices: config.MODEL_PRICES });
  work.watchPool(db.pool);
  const models = work.observeModels(
    createModels({
      environment: providersOfEnvironment(config),
      organizationKeys: createOrganizationKeys(db, box, log),
      log,
      defaultModel: config.PARLEY_DEFAULT_MODEL,
      timeoutMs: config.MODEL_TIMEOUT_MS,
    }),
  );
  const callbackTokens = createCallbackTokens(config.SECRETS_KEY);
  const guarded = createGuardedFetch({ allowedPrivateHosts: config.WEB_FETCH_ALLOWED_PRIVATE_HOSTS });
  const guardedForMcp = createGuardedFetch({ allowedPrivateHosts: config.MCP_ALLOWED_PRIVATE_HOSTS });
  const mcp = createMcpServers({ db, box, openGuarded: guardedForMcp.open, log });
  const { TOOL_EXECUTOR_URL: url, EXECUTOR_TOKEN: token, PUBLIC_URL: publicUrl } = config;
  const executor = url && token ? createExecutorClient({ url, token }) : undefined;
  const entities = createEntities({ db, ring });
  const channels = createChannels({ db, box, settings: config, log });
  const payments = createPayments({ db, entities, box, publicUrl, log, observe: countPayments(metrics) });
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
        // Chat takes the calls that the code makes, wherever it was started: every process has the same SECRETS_KEY.
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
  const leaseMs = config.TRIGGER_LEASE_MS;
  return {
    entities,
    channels,
    payments,
    tools,
    agents,
    triggers: createTriggers({ db, tools, entities, log, leaseMs, onRun: countRuns(metrics) }),
    callbackTokens,
    warmUp: () =>
      models.warmUp().catch((error: unknown) => log.warn({ err: error }, 'the default model could not be prepared')),
    closing: [
      { name: 'agents', close: () => agents.close() },
      { name: 'tool executor client', close: async () => executor?.close() },
      { name: 'MCP servers', close: async () => mcp.close() },
      { name: 'guarded fetch', close: () => Promise.all([guarded.close(), guardedForMcp.close()]) },
      { name: 'entities', close: () => entities.settled() },
    ],
  };
}
