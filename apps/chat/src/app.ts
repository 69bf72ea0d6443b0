import type { RequestListener } from 'node:http';
import type { Agents, CallbackTokens } from '@parley/agents';
import { type Db, createIdempotencyStore, isDatabaseUnavailable } from '@parley/db';
import { createApiKeyCheck } from '@parley/identity';
import { type HttpMetrics, type Logger, createApp } from '@parley/service';
import type { Tools } from '@parley/tools';
import type { Triggers } from '@parley/triggers';
import { callToolRoute } from './routes/call-tool';
import { chatRoute } from './routes/chat';
import { chatAgentRoute } from './routes/chat-with-agent';
import { chatRouterRoute } from './routes/chat-with-router';
import { compilePromptRoute } from './routes/compile-prompt';
import { fireTriggerRoute } from './routes/fire-trigger';
import { mcpRoute } from './routes/mcp';
import { runToolRoute } from './routes/run-tool';

export interface ChatAppDeps {
  db: Db;
  agents: Agents;
  tools: Tools;
  triggers: Pick<Triggers, 'fire'>;
  callbackTokens: CallbackTokens;
  log: Logger;
  /** Outside production: answers are checked against their schemas. */
  checkResponses: boolean;
  metrics?: HttpMetrics;
}

/** Everything that runs. Chat needs a key with `chat`, the utilities one with `sync`, code in the executor its token. */
export function createChatApp(deps: ChatAppDeps): RequestListener {
  const { db, log, metrics, checkResponses } = deps;
  return createApp({
    log,
    metrics,
    checkResponses,
    checkKey: createApiKeyCheck(db.pool),
    idempotency: createIdempotencyStore(db.pool),
    isUnavailable: isDatabaseUnavailable,
    routes: [
      chatRoute(deps),
      chatAgentRoute(deps),
      chatRouterRoute(deps),
      compilePromptRoute(deps),
      runToolRoute(deps),
      fireTriggerRoute(deps),
      mcpRoute(deps),
      callToolRoute(deps),
    ],
  });
}
