import type { AgentModel, Scope } from '@parley/contracts';
import type { AgentLog } from '../log';
import { createModelCaller } from './call-model';
import type { Models } from './model';
import { callWithFallback } from './model-fallback';
import { offlineModel } from './offline-model';
import type { OrganizationKeys, ProviderTable } from './provider-keys';

export interface ModelDeps {
  /** The providers that the process's environment variables configure (providersOfEnvironment). */
  environment: ProviderTable;
  /** Providers of an organization, which have precedence. */
  organizationKeys?: OrganizationKeys;
  log: AgentLog;
  /** The model of an agent that sets none; default `openai/gpt-5-mini`. */
  defaultModel?: string;
  /** Time limit of one model call including retries; default 60 s. */
  timeoutMs?: number;
  /** Number of retries after a 429, a 5xx or a broken connection; default 2. */
  retries?: number;
  /** Model calls of all organizations at the same time; default 256. */
  maxConnections?: number;
  /**
   * Delay of the first retry, which doubles; default 500 ms. A `Retry-After` of the
   * provider has precedence.
   */
  backoffMs?: number;
}

/** Creates the models that agents name as `provider/name`. */
export function createModels(deps: ModelDeps): Models {
  const {
    environment,
    log,
    maxConnections = 256,
    timeoutMs = 60_000,
    retries = 2,
    backoffMs = 500,
  } = deps;
  const defaultModel = deps.defaultModel ?? 'openai/gpt-5-mini';
  const caller = createModelCaller({ log, maxConnections, timeoutMs, retries, backoffMs });

  async function providersOf(scope: Scope): Promise<ProviderTable> {
    const own = await deps.organizationKeys?.(scope);
    return own === undefined ? environment : { ...environment, ...own };
  }

  return {
    async settings(scope, model, channel = 'api') {
      const given = typeof model === 'object' ? model : { model };
      const chosen = given.model ?? defaultModel;
      const providers = await providersOf(scope);
      const {
        temperature,
        maxTokens,
        reasoning,
        fallbacks = [],
      } = given as Exclude<AgentModel, string>;
      const isForCustomers = scope.environment === 'production' && channel !== 'api';
      const isScripted = Object.keys(providers).length === 0 && !isForCustomers;
      const candidates: [string, ...string[]] = isScripted
        ? [offlineModel]
        : [chosen, ...fallbacks];
      return { candidates, temperature, maxTokens, reasoning };
    },
    async complete(scope, settings, request, { signal, sink } = {}) {
      const providers = await providersOf(scope);
      const call = (model: string, hasFallback: boolean) =>
        caller.call(model, request, { scope, providers, settings, signal, sink, hasFallback });
      return callWithFallback(settings, request, call, sink);
    },
    warmUp: () => caller.warmUp(defaultModel, environment),
  };
}
