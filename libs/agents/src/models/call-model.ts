import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type * as langchainMessages from '@langchain/core/messages';
import { type Scope, ownValue, reportRefusal } from '@parley/contracts';
import { createSlots, rejectOnAbort } from '@parley/outbound';
import type { AgentLog } from '../log';
import { createCircuitBreakers } from './circuit-breaker';
import type {
  ModelFailureReason,
  ModelReply,
  ModelRequest,
  ModelSettings,
  TextSink,
} from './model';
import { askProvider, loadProvider, providerKind } from './open-provider';
import { type ProviderError, readProviderError } from './provider-error';
import type { ProviderAccess, ProviderTable } from './provider-keys';
import { toLangChain, toReply } from './to-langchain';

/**
 * Maximum wait for a `Retry-After` when there is a fallback, which is called instead
 * of a longer wait.
 */
const longestWaitMs = 5_000;
const defaultMaxCalls = 32;
const defaultMaxTextBytes = 1024 * 1024;

export type CallResult =
  | { ok: true; reply: ModelReply }
  | { ok: false; reason: ModelFailureReason; detail: string; status?: number };

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

/**
 * Calls single models over LangChain's classes, with our own time limits, retries and
 * circuit breakers.
 */
export function createModelCaller({
  log,
  maxConnections,
  timeoutMs,
  retries,
  backoffMs,
}: CallerDeps) {
  const connections = createSlots({ total: maxConnections });
  // The model has at least as long to answer. Otherwise a wait would count as a
  // failure of the model.
  const longestSlotWaitMs = timeoutMs / 2;
  const breakers = createCircuitBreakers();
  // Imported once, on first use: even the import of a loaded module takes 0.1 ms.
  let loadedClasses: Promise<typeof langchainMessages> | undefined;
  const messageClasses = () => (loadedClasses ??= import('@langchain/core/messages'));

  /**
   * Milliseconds until the next attempt after a transient error; null when there is no
   * further attempt.
   */
  function retryInMs(
    error: ProviderError,
    attempt: number,
    leftMs: number,
    hasFallback: boolean,
  ): number | null {
    const mayPass = error.kind === 'unavailable' || error.kind === 'rate_limited';
    if (!mayPass || attempt >= retries) return null;
    const waitMs = error.retryAfterMs ?? backoffMs * 2 ** attempt * (0.75 + Math.random() / 2);
    return waitMs >= leftMs || (hasFallback && waitMs > longestWaitMs) ? null : waitMs;
  }

  return {
    /** Calls one model with retries, within one time limit. */
    async call(model: string, request: ModelRequest, options: CallOptions): Promise<CallResult> {
      const { provider, name } = splitModelId(model);
      const access = ownValue(options.providers, provider);
      const kind = providerKind(provider, access);
      if (kind === null)
        return {
          ok: false,
          reason: 'unknown_model',
          detail: `Unknown model provider "${provider}"`,
        };
      if (access === undefined)
        return {
          ok: false,
          reason: 'not_configured',
          detail: `No key for model provider "${provider}"`,
        };
      const { tenant } = options.scope;
      const credential = credentialOf(access);
      const breaker = `${tenant} ${model} ${credential}`;
      const deadline = AbortSignal.timeout(timeoutMs);
      const deadlineMs = performance.now() + timeoutMs;
      const signal = options.signal ? AbortSignal.any([deadline, options.signal]) : deadline;
      for (let attempt = 0; ; attempt += 1) {
        if (!breakers.allows(breaker))
          return {
            ok: false,
            reason: 'unavailable',
            detail: `${model} keeps failing and is not called for a while`,
          };
        const release = await connections.acquire(String(tenant), signal, longestSlotWaitMs);
        if (release === null) {
          if (options.signal?.aborted)
            return { ok: false, reason: 'aborted', detail: 'The caller disconnected' };
          reportRefusal('model_connections');
          return {
            ok: false,
            reason: 'timeout',
            detail: `No free connection within ${longestSlotWaitMs} ms`,
          };
        }
        try {
          const { messages, raw, tools, names } = toLangChain(await messageClasses(), request, {
            model,
            needsToolsForHistory: kind === 'anthropic',
            plainObjectSchemas: kind === 'anthropic',
          });
          const { temperature, maxTokens, reasoning } = options.settings;
          options.sink?.begin();
          const asked = askProvider(
            kind,
            { ...access, name, credential, temperature, maxTokens, reasoning, timeoutMs },
            {
              messages,
              tools,
              raw,
              limits: {
                calls: request.maxCalls ?? defaultMaxCalls,
                textBytes: request.maxTextBytes ?? defaultMaxTextBytes,
              },
              callId: request.callId,
              signal,
              sink: options.sink,
            },
          );
          const answer = await rejectOnAbort(asked, signal);
          breakers.succeeded(breaker);
          return { ok: true, reply: toReply(answer, request, names, model) };
        } catch (thrown) {
          if (options.signal?.aborted)
            return { ok: false, reason: 'aborted', detail: 'The caller disconnected' };
          const error = readProviderError(thrown);
          const isTimeout = deadline.aborted;
          const kindOfError = isTimeout ? 'timeout' : error.kind;
          if (kindOfError === 'timeout' || kindOfError === 'unavailable') breakers.failed(breaker);
          else breakers.succeeded(breaker);
          const { status, code, detail } = error;
          log.warn({ model, attempt, kind: kindOfError, status, code }, 'a model call failed');
          if (isTimeout)
            return { ok: false, reason: 'timeout', detail: `No answer within ${timeoutMs} ms` };
          const waitMs = retryInMs(
            error,
            attempt,
            deadlineMs - performance.now(),
            options.hasFallback,
          );
          if (waitMs === null) return { ok: false, reason: error.kind, detail, status };
          release();
          await sleep(waitMs, undefined, { signal }).catch(() => {});
        } finally {
          release();
        }
      }
    },
    /** Loads the classes of a model's provider, if it is configured. */
    async warmUp(model: string, providers: ProviderTable): Promise<void> {
      const { provider } = splitModelId(model);
      const access = ownValue(providers, provider);
      const kind = providerKind(provider, access);
      if (access === undefined || kind === null) return;
      await Promise.all([loadProvider(kind), messageClasses()]);
    },
  };
}

/** Identifies a credential without containing it. */
const credentialOf = ({ baseUrl = '', apiKey = '' }: ProviderAccess): string =>
  createHash('sha256').update(`${baseUrl}\n${apiKey}`).digest('base64');

/**
 * A name without a provider belongs to OpenAI. Only a router's `classifyModel` may be such a name.
 */
function splitModelId(model: string): { provider: string; name: string } {
  const slash = model.indexOf('/');
  if (slash === -1) return { provider: 'openai', name: model };
  return { provider: model.slice(0, slash).toLowerCase(), name: model.slice(slash + 1) };
}
