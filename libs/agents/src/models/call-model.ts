import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type * as langchainMessages from '@langchain/core/messages';
import { type Scope, reportRefusal } from '@parley/contracts';
import { createSlots, rejectOnAbort } from '@parley/outbound';
import { LRUCache } from 'lru-cache';
import type { AgentLog } from '../log';
import { createCircuitBreakers } from './circuit-breaker';
import type { ModelFailureReason, ModelReply, ModelRequest, ModelSettings, TextSink } from './model';
import { type AskProvider, type ProviderKind, openProvider, providerKind } from './open-provider';
import { type ProviderError, readProviderError } from './provider-error';
import type { ProviderAccess, ProviderTable } from './provider-keys';
import { fromLangChain, toLangChain } from './to-langchain';

/** Maximum wait for a `Retry-After` when there is a fallback, which is called instead of a longer wait. */
const longestWaitMs = 5_000;
const maxOpenModels = 500;

export type CallResult = { ok: true; reply: ModelReply } | { ok: false; reason: ModelFailureReason; detail: string };

interface CallOptions {
  scope: Scope;
  providers: ProviderTable;
  settings: ModelSettings;
  signal?: AbortSignal;
  sink?: TextSink;
  hasFallback: boolean;
}

interface CallerDeps {
  /** Calls of all organizations at the same time, which share them. */
  maxConnections: number;
  log: AgentLog;
  timeoutMs: number;
  retries: number;
  backoffMs: number;
}

/** Calls single models over LangChain's classes, with our own time limits, retries and circuit breakers. */
export function createModelCaller({ log, maxConnections, timeoutMs, retries, backoffMs }: CallerDeps) {
  const connections = createSlots({ total: maxConnections });
  // The model has at least as long to answer. Otherwise a wait would count as a failure of the model.
  const longestSlotWaitMs = timeoutMs / 2;
  const breakers = createCircuitBreakers();
  const opened = new LRUCache<string, AskProvider, () => Promise<AskProvider>>({
    max: maxOpenModels,
    ignoreFetchAbort: true,
    fetchMethod: (_key, _old, { context: openModel }) => openModel(),
  });
  // Imported once, on first use: even the import of a loaded module takes 0.1 ms.
  let loadedClasses: Promise<typeof langchainMessages> | undefined;
  const messageClasses = () => (loadedClasses ??= import('@langchain/core/messages'));

  function open(
    kind: ProviderKind,
    name: string,
    access: ProviderAccess,
    settings: ModelSettings,
    credential = credentialOf(access),
  ): Promise<AskProvider> {
    const { temperature, maxTokens, reasoning } = settings;
    const model = { name, temperature, maxTokens, reasoning, timeoutMs };
    return opened.forceFetch(JSON.stringify([kind, credential, model]), {
      context: () => openProvider(kind, { ...model, ...access }),
    });
  }

  /** Milliseconds until the next attempt after a transient error; null when there is no further attempt. */
  function retryInMs(error: ProviderError, attempt: number, leftMs: number, hasFallback: boolean): number | null {
    if (error.kind === 'rejected' || attempt >= retries) return null;
    const waitMs = error.retryAfterMs ?? backoffMs * 2 ** attempt * (0.75 + Math.random() / 2);
    return waitMs >= leftMs || (hasFallback && waitMs > longestWaitMs) ? null : waitMs;
  }

  return {
    /** Calls one model with retries, within one time limit. */
    async call(model: string, request: ModelRequest, options: CallOptions): Promise<CallResult> {
      const { provider, name } = splitModelId(model);
      const access = options.providers[provider];
      const kind = providerKind(provider, access);
      if (kind === null) return { ok: false, reason: 'unknown_model', detail: `Unknown model provider "${provider}"` };
      if (access === undefined)
        return { ok: false, reason: 'not_configured', detail: `No key for model provider "${provider}"` };
      const { tenant } = options.scope;
      const credential = credentialOf(access);
      const breaker = `${tenant} ${model} ${credential}`;
      const deadline = AbortSignal.timeout(timeoutMs);
      const deadlineMs = performance.now() + timeoutMs;
      const signal = options.signal ? AbortSignal.any([deadline, options.signal]) : deadline;
      for (let attempt = 0; ; attempt += 1) {
        if (!breakers.allows(breaker))
          return { ok: false, reason: 'failed', detail: `${model} keeps failing and is not called for a while` };
        const release = await connections.acquire(String(tenant), signal, longestSlotWaitMs);
        if (release === null) {
          if (options.signal?.aborted) return { ok: false, reason: 'aborted', detail: 'The caller disconnected' };
          reportRefusal('model_connections');
          return { ok: false, reason: 'timeout', detail: `No free connection within ${longestSlotWaitMs} ms` };
        }
        try {
          const ask = await open(kind, name, access, options.settings, credential);
          const { messages, tools, names } = toLangChain(await messageClasses(), request, {
            model,
            needsToolsForHistory: kind === 'anthropic',
            plainObjectSchemas: kind === 'anthropic',
          });
          // Some classes ignore the signal, so the wait ends here too.
          options.sink?.begin();
          const answer = await rejectOnAbort(ask({ messages, tools, signal, sink: options.sink }), signal);
          breakers.succeeded(breaker);
          return { ok: true, reply: fromLangChain(answer, request, names, model) };
        } catch (thrown) {
          if (options.signal?.aborted) return { ok: false, reason: 'aborted', detail: 'The caller disconnected' };
          const error = readProviderError(thrown);
          const isTimeout = deadline.aborted || error.kind === 'timeout';
          if (isTimeout || error.kind === 'unavailable') breakers.failed(breaker);
          else breakers.succeeded(breaker);
          log.warn(
            { model, attempt, kind: isTimeout ? 'timeout' : error.kind, status: error.status, code: error.code },
            'a model call failed',
          );
          if (isTimeout) return { ok: false, reason: 'timeout', detail: `No answer within ${timeoutMs} ms` };
          if (error.kind === 'context_overflow') return { ok: false, reason: 'context_overflow', detail: error.detail };
          const waitMs = retryInMs(error, attempt, deadlineMs - performance.now(), options.hasFallback);
          if (waitMs === null) return { ok: false, reason: 'failed', detail: error.detail };
          release();
          await sleep(waitMs, undefined, { signal }).catch(() => {});
        } finally {
          release();
        }
      }
    },
    /** Loads the classes of a model's provider, if it is configured. */
    async warmUp(model: string, providers: ProviderTable): Promise<void> {
      const { provider, name } = splitModelId(model);
      const access = providers[provider];
      const kind = providerKind(provider, access);
      if (access === undefined || kind === null) return;
      await Promise.all([open(kind, name, access, { candidates: [model] }), messageClasses()]);
    },
  };
}

/** Identifies a credential without containing it. */
const credentialOf = ({ baseUrl = '', apiKey = '' }: ProviderAccess): string =>
  createHash('sha256').update(`${baseUrl}\n${apiKey}`).digest('base64');

/** A name without a provider belongs to OpenAI. Only a router's `classifyModel` may be such a name. */
function splitModelId(model: string): { provider: string; name: string } {
  const slash = model.indexOf('/');
  if (slash === -1) return { provider: 'openai', name: model };
  return { provider: model.slice(0, slash).toLowerCase(), name: model.slice(slash + 1) };
}
