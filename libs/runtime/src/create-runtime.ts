import {
  type AgentDeps,
  type Agents,
  createAgents,
  createCallbackTokens,
  createModels,
  createOrganizationKeys,
  createHandoff,
  createTransfer,
  providersOfEnvironment,
} from '@parley/agents';
import { createChannels } from '@parley/channels';
import { type Db, createSecretBox } from '@parley/db';
import { createEntities } from '@parley/entities';
import { createGuardedFetch } from '@parley/outbound';
import { countPayments, createPayments } from '@parley/payments';
import {
  type Logger,
  type Metrics,
  type ServiceOptions,
  createWorkMetrics,
  type loadConfig,
} from '@parley/service';
import {
  type Tools,
  builtInToolNames,
  createExecutorClient,
  createMcpServers,
  createTools,
} from '@parley/tools';
import { createTriggers } from '@parley/triggers';
import { countRuns } from './count-runs';
import type { runtimeVariables } from './runtime-variables';

interface RuntimeDeps {
  config: ReturnType<typeof loadConfig<typeof runtimeVariables>> & { NODE_ENV?: string };
  db: Db;
  log: Logger;
  metrics: Metrics;
  wakeRelay?: () => void;
  /** Where background executions write their streams. */
  chunkLog?: AgentDeps['chunkLog'];
}

export type Runtime = ReturnType<typeof createRuntime>;

/**
 * Creates the libraries of a process that runs agents, and connects the ports of tools with their
 * implementations.
 */
export function createRuntime({ config, db, log, metrics, wakeRelay, chunkLog }: RuntimeDeps) {
  if (config.STAND_INS_URL !== undefined && config.NODE_ENV === 'production')
    throw new Error(
      'STAND_INS_URL is for development only: its payments move no money. Remove it, or set NODE_ENV',
    );
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
      maxConnections: config.MODEL_MAX_CONNECTIONS,
    }),
  );
  /** Tokens with which the code of custom tools calls tools. */
  const callbackTokens = createCallbackTokens(config.SECRETS_KEY);
  const guarded = createGuardedFetch({
    allowedPrivateHosts: config.WEB_FETCH_ALLOWED_PRIVATE_HOSTS,
  });
  const guardedForMcp = createGuardedFetch({
    allowedPrivateHosts: config.MCP_ALLOWED_PRIVATE_HOSTS,
  });
  const mcp = createMcpServers({ db, box, openGuarded: guardedForMcp.open, log });
  const {
    TOOL_EXECUTOR_URL: url,
    EXECUTOR_TOKEN: token,
    PUBLIC_URL: publicUrl,
    STAND_INS_URL: standInsUrl,
  } = config;
  const executor = url && token ? createExecutorClient({ url, token }) : undefined;
  const entities = createEntities({ db, wakeRelay, log });
  const channels = createChannels({ db, box, settings: config, log });
  const payments = createPayments({
    db,
    entities,
    box,
    publicUrl,
    standInsUrl,
    log,
    observe: countPayments(metrics),
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
      box,
      mcp,
      ports: {
        transfer: createTransfer(db),
        handoff: createHandoff(db),
        chatWithAgent: (scope, request) => agents.chatWithAgent(scope, request),
        // The chat service receives the calls of the code. It can read the tokens of all processes,
        // because they share SECRETS_KEY.
        mintCallbackToken: callbackTokens.mint,
      },
    }),
    builtInToolNames,
  );
  const agents: Agents = work.observeTurns(
    createAgents({
      db,
      tools,
      models,
      log,
      chunkLog,
      turnTimeoutMs: config.TURN_TIMEOUT_MS,
      historyTokens: config.HISTORY_TOKENS,
      toolCallsPerMessage: config.TOOL_CALLS_PER_MESSAGE,
      modelCallsPerTurn: config.MODEL_CALLS_PER_TURN,
    }),
  );
  return {
    entities,
    channels,
    payments,
    tools,
    agents,
    triggers: createTriggers({
      db,
      tools,
      entities,
      log,
      leaseMs: config.TRIGGER_LEASE_MS,
      runsPerRoot: config.TRIGGER_RUNS_PER_ROOT,
      onRun: countRuns(metrics),
    }),
    callbackTokens,
    observeLimiter: work.observeLimiter,
    /**
     * Loads the client library of the default model after the start, so that the first call does
     * not wait for it.
     */
    warmUp: (): Promise<void> =>
      models
        .warmUp()
        .catch((error: unknown) =>
          log.warn({ err: error }, 'the default model could not be loaded'),
        ),
    /** Resources to close in this order, after the last request or job and before the database. */
    closing: [
      { name: 'agents', close: () => agents.close() },
      { name: 'tool executor client', close: async () => executor?.close() },
      { name: 'MCP servers', close: async () => mcp.close() },
      { name: 'guarded fetch', close: () => Promise.all([guarded.close(), guardedForMcp.close()]) },
      { name: 'entities', close: () => entities.settled() },
    ] satisfies ServiceOptions['closing'],
  };
}
