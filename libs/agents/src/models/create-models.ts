import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type * as langchainMessages from '@langchain/core/messages';
import type { AgentModel, Scope } from '@parley/contracts';
import { untilAborted } from '@parley/outbound';
import { LRUCache } from 'lru-cache';
import type { AgentLog } from '../log';
import { type Circuits, createCircuits } from './circuit';
import type { ModelFailureReason, ModelReply, ModelRequest, ModelResult, ModelSettings, Models } from './model';
import { answerOffline, offlineModel } from './offline';
import { readProviderError } from './provider-error';
import type { OrganizationKeys, ProviderAccess, ProviderTable } from './provider-keys';
import { type AskProvider, type ProviderKind, openProvider, providerKind } from './providers';
import { fromLangChain, toLangChain } from './to-langchain';

export interface ModelDeps {
  /** Providers of the process's environment (providersOfEnvironment). */
  environment: ProviderTable;
  organizationKeys?: OrganizationKeys;
  log: AgentLog;
  /** The model of an agent that names none; `openai/gpt-5-mini` unless told. */
  defaultModel?: string;
  /** Of one model call, its retries included; 60 s unless told. */
  timeoutMs?: number;
  /** After a 429, a 5xx or a broken connection; 2 unless told. */
  retries?: number;
  /** Before the first retry, doubling; 500 ms unless told. A `Retry-After` of the provider goes before it. */
  backoffMs?: number;
  circuits?: Circuits;
}

/** With a fallback at hand a long `Retry-After` is not waited for. */
const longWaitMs = 5_000;
const openModelsKept = 500;

type Attempt = { ok: true; reply: ModelReply } | { ok: false; reason: ModelFailureReason; detail: string };

/** Models by `provider/name` over LangChain's classes, with our own time limits, retries, fallbacks and circuits. */
export function createModels(deps: ModelDeps): Models {
  const { environment, log, timeoutMs = 60_000, retries = 2, backoffMs = 500 } = deps;
  const defaultModel = deps.defaultModel ?? 'openai/gpt-5-mini';
  const circuits = deps.circuits ?? createCircuits();
  const opened = new LRUCache<string, AskProvider, () => Promise<AskProvider>>({
    max: openModelsKept,
    ignoreFetchAbort: true,
    fetchMethod: (_key, _old, { context: openModel }) => openModel(),
  });
  // Loaded once, on first use: resolving an import again costs a tenth of a millisecond each time.
  let loadedClasses: Promise<typeof langchainMessages> | undefined;
  const messageClasses = () => (loadedClasses ??= import('@langchain/core/messages'));

  async function providersOf(scope: Scope): Promise<ProviderTable> {
    const own = await deps.organizationKeys?.(scope);
    return own === undefined ? environment : { ...environment, ...own };
  }

  function open(
    kind: ProviderKind,
    name: string,
    access: ProviderAccess,
    settings: ModelSettings,
  ): Promise<AskProvider> {
    const { temperature, maxTokens, reasoning } = settings;
    const model = { name, ...access, temperature, maxTokens, reasoning, timeoutMs };
    return opened.forceFetch(JSON.stringify([kind, model]), { context: () => openProvider(kind, model) });
  }

  /** One candidate: tries, waits and tries again within one time limit. */
  async function tryModel(
    model: string,
    request: ModelRequest,
    how: { providers: ProviderTable; settings: ModelSettings; signal?: AbortSignal; hasFallback: boolean },
  ): Promise<Attempt> {
    const { provider, name } = splitModelId(model);
    const access = how.providers[provider];
    const kind = providerKind(provider, access);
    if (kind === null) return { ok: false, reason: 'unknown_model', detail: `Unknown model provider "${provider}"` };
    if (access === undefined)
      return { ok: false, reason: 'not_configured', detail: `No key for model provider "${provider}"` };
    const circuit = `${provider} ${access.baseUrl ?? ''} ${createHash('sha256')
      .update(access.apiKey ?? '')
      .digest('base64')}`;
    const deadline = AbortSignal.timeout(timeoutMs);
    const deadlineMs = performance.now() + timeoutMs;
    const signal = how.signal ? AbortSignal.any([deadline, how.signal]) : deadline;
    for (let attempt = 0; ; attempt += 1) {
      if (!circuits.allows(circuit))
        return { ok: false, reason: 'failed', detail: `${provider} has failed repeatedly and is not asked now` };
      try {
        const asker = await open(kind, name, access, how.settings);
        const { messages, tools, names } = toLangChain(await messageClasses(), request, {
          model,
          needsToolsForHistory: kind === 'anthropic',
          plainObjectSchemas: kind === 'anthropic',
        });
        // Some classes do not hand the signal on: the wait must end all the same.
        const answer = await untilAborted(asker({ messages, tools, signal }), signal);
        circuits.succeeded(circuit);
        return { ok: true, reply: fromLangChain(answer, request, names, model) };
      } catch (thrown) {
        if (how.signal?.aborted) return { ok: false, reason: 'aborted', detail: 'The caller went away' };
        const error = readProviderError(thrown);
        const isTimeout = deadline.aborted || error.kind === 'timeout';
        if (isTimeout || error.kind === 'unavailable') circuits.failed(circuit);
        else circuits.succeeded(circuit);
        log.warn(
          { model, attempt, kind: isTimeout ? 'timeout' : error.kind, status: error.status, code: error.code },
          'a model call failed',
        );
        if (isTimeout) return { ok: false, reason: 'timeout', detail: `No answer within ${timeoutMs} ms` };
        if (error.kind === 'context_overflow') return { ok: false, reason: 'context_overflow', detail: error.detail };
        if (error.kind === 'rejected' || attempt >= retries)
          return { ok: false, reason: 'failed', detail: error.detail };
        const waitMs = error.retryAfterMs ?? backoffMs * 2 ** attempt * (0.75 + Math.random() / 2);
        const cannotWait = performance.now() + waitMs >= deadlineMs || (how.hasFallback && waitMs > longWaitMs);
        if (cannotWait) return { ok: false, reason: 'failed', detail: error.detail };
        await sleep(waitMs, undefined, { signal }).catch(() => {});
      }
    }
  }

  return {
    async settings(scope, model, channel = 'api') {
      const given = typeof model === 'object' ? model : { model };
      const chosen = given.model ?? defaultModel;
      const providers = await providersOf(scope);
      const { temperature, maxTokens, reasoning, fallbacks = [] } = given as Exclude<AgentModel, string>;
      const isForCustomers = scope.environment === 'production' && channel !== 'api';
      const isScripted = Object.keys(providers).length === 0 && !isForCustomers;
      const candidates: [string, ...string[]] = isScripted ? [offlineModel] : [chosen, ...fallbacks];
      return { candidates, temperature, maxTokens, reasoning };
    },
    async complete(scope, settings, request, { signal } = {}) {
      const startedAt = performance.now();
      const durationMs = () => performance.now() - startedAt;
      const providers = await providersOf(scope);
      let last: ModelResult | undefined;
      for (const [index, model] of settings.candidates.entries()) {
        if (model === offlineModel) return { ok: true, reply: answerOffline(request), model, durationMs: durationMs() };
        const hasFallback = index < settings.candidates.length - 1;
        const attempt = await tryModel(model, request, { providers, settings, signal, hasFallback });
        if (attempt.ok) return { ok: true, reply: attempt.reply, model, durationMs: durationMs() };
        last = { ok: false, model, reason: attempt.reason, detail: attempt.detail, durationMs: durationMs() };
        if (attempt.reason === 'aborted') break;
      }
      return last!;
    },
    async warmUp() {
      const { provider, name } = splitModelId(defaultModel);
      const access = environment[provider];
      const kind = providerKind(provider, access);
      if (access === undefined || kind === null) return;
      await Promise.all([open(kind, name, access, { candidates: [defaultModel] }), messageClasses()]);
    },
  };
}

/** A name without a provider, which only a router's `classifyModel` may have, is one of the default provider. */
function splitModelId(model: string): { provider: string; name: string } {
  const slash = model.indexOf('/');
  if (slash === -1) return { provider: 'openai', name: model };
  return { provider: model.slice(0, slash).toLowerCase(), name: model.slice(slash + 1) };
}
