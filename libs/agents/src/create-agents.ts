import { randomBytes } from 'node:crypto';
import type { AgentDefinition, Scope } from '@parley/contracts';
import type { Db } from '@parley/db';
import type { AgentChatRequest, ToolResult, Tools } from '@parley/tools';
import type { ChunkLog } from './background/reply-stream';
import { type ClaimedExecution, claimExecution } from './background/execution-queue';
import { runExecution } from './background/run-execution';
import type { ChatRequest, ChatResult } from './chat-result';
import {
  type CompiledPrompt,
  type CompilePromptRequest,
  compileAgentPrompt,
} from './compile-agent-prompt';
import { loadAgent } from './load-agent';
import type { AgentLog } from './log';
import type { Models } from './models/model';
import { runChat } from './run-chat';
import type { ChatDeps } from './running-turn';
import { createTurnQueue } from './threads/turn-queue';
import { createTurnStore } from './threads/turn-store';

export interface AgentDeps {
  db: Db;
  tools: Tools;
  models: Models;
  log: AgentLog;
  /**
   * Time limit of a turn, including its wait for earlier turns of the thread; default 2 minutes.
   */
  turnTimeoutMs?: number;
  /** Maximum history of a thread that the model gets, in tokens; default 32,000. */
  historyTokens?: number;
  /** Maximum tool calls in one reply of a model; default 32. */
  toolCallsPerMessage?: number;
  /** Maximum model calls of a turn and all turns that `agent.chat` nests in it; default 50. */
  modelCallsPerTurn?: number;
  /** Where background executions write their streams (`createExecutionChunks` of libs/redis). */
  chunkLog?: ChunkLog;
}

export interface Agents {
  chat(scope: Scope, request: ChatRequest): Promise<ChatResult>;
  compilePrompt(scope: Scope, request: CompilePromptRequest): Promise<CompiledPrompt>;
  /** The agent's definition in the environment; null when the environment has none. */
  describe(scope: Scope, slug: string): Promise<AgentDefinition | null>;
  /** Implements the tool `agent.chat`: a turn of another agent in a new thread. */
  chatWithAgent(scope: Scope, request: AgentChatRequest): Promise<ToolResult>;
  /** Claims a background execution (execution-queue.ts). */
  claimExecution(
    tenant: number,
    which: Parameters<typeof claimExecution>[3],
  ): Promise<ClaimedExecution | null>;
  /** Runs a claimed execution to its end, or gives it back when the signal is aborted. */
  runExecution(claimed: ClaimedExecution, signal: AbortSignal): Promise<void>;
  /** Stops renewing the leases of turns. Call it after the last request. */
  close(): Promise<void>;
}

/** Creates the agents of one process. The process marks its turns with a random owner. */
export function createAgents(deps: AgentDeps): Agents {
  const owner = randomBytes(9).toString('base64url');
  const store = createTurnStore(deps.db, owner);
  const turnQueue = createTurnQueue({ store, log: deps.log });
  const defaults = {
    turnTimeoutMs: 120_000,
    historyTokens: 32_000,
    toolCallsPerMessage: 32,
    modelCallsPerTurn: 50,
  };
  const chatDeps: ChatDeps = { ...defaults, ...deps, store, turnQueue };
  return {
    chat: (scope, request) => runChat(chatDeps, scope, request),
    compilePrompt: (scope, request) => compileAgentPrompt(deps, scope, request),
    async describe(scope, slug) {
      const loaded = await loadAgent(deps.db, scope, slug);
      return loaded.ok ? loaded.agent.definition : null;
    },
    async chatWithAgent(scope, request) {
      const { agentSlug, actor, ...rest } = request;
      // The other agent has its own roles and tools, but acts for the same person and within the
      // roles of its caller.
      const result = await runChat(chatDeps, scope, {
        ...rest,
        agent: { slug: agentSlug },
        caller: actor,
        channel: 'api',
      });
      if (result.ok)
        return {
          ok: true,
          result: { message: result.response.message, threadId: result.response.threadId },
        };
      const isMissing = result.reason === 'agent_not_found' || result.reason === 'no_active_config';
      if (isMissing)
        return { ok: false, errorType: 'not_found', message: `There is no agent "${agentSlug}"` };
      return {
        ok: false,
        errorType: 'execution_error',
        message: `Agent "${agentSlug}" did not answer (${result.reason})`,
      };
    },
    claimExecution: (tenant, which) => claimExecution(deps.db, tenant, owner, which),
    runExecution: (claimed, signal) => runExecution(chatDeps, claimed, claimed, signal),
    async close() {
      turnQueue.close();
    },
  };
}
