import type { Scope } from '@parley/contracts';
import { type Queryable, type SecretBox, integrationSecretContext, listEnvironmentIntegrations } from '@parley/db';
import { LRUCache } from 'lru-cache';
import type { AgentLog } from '../log';

/** How a provider is reached. A base URL alone is enough for a server of one's own that asks for no key. */
export interface ProviderAccess {
  apiKey?: string;
  baseUrl?: string;
}

export type ProviderTable = Readonly<Record<string, ProviderAccess>>;

/** The port behind which an organization's own keys are: every provider it has configured. */
export interface OrganizationKeys {
  (scope: Scope): Promise<ProviderTable>;
}

/** Provider settings of a process's environment, as its configuration read them. */
export interface ProviderVariables {
  OPENAI_API_KEY?: string;
  OPENAI_BASE_URL?: string;
  ANTHROPIC_API_KEY?: string;
  ANTHROPIC_BASE_URL?: string;
  GOOGLE_API_KEY?: string;
  GOOGLE_BASE_URL?: string;
  OLLAMA_BASE_URL?: string;
}

export function providersOfEnvironment(variables: ProviderVariables): ProviderTable {
  const all: Record<string, ProviderAccess> = {
    openai: { apiKey: variables.OPENAI_API_KEY, baseUrl: variables.OPENAI_BASE_URL },
    anthropic: { apiKey: variables.ANTHROPIC_API_KEY, baseUrl: variables.ANTHROPIC_BASE_URL },
    google: { apiKey: variables.GOOGLE_API_KEY, baseUrl: variables.GOOGLE_BASE_URL },
    ollama: { baseUrl: variables.OLLAMA_BASE_URL },
  };
  return Object.fromEntries(Object.entries(all).filter(([, access]) => access.apiKey || access.baseUrl));
}

/** Integrations of other kinds: they have keys too, but no models. */
const notModels = /^(flow$|kapso$|resend$|mcp\.)/;
const cacheMs = 5_000;
const cacheSize = 10_000;

/**
 * The organization's own provider keys: rows of `integrations` whose secret is `{"apiKey": …}` and whose config may hold
 * a `baseUrl`. Answers are kept for 5 s. A row that cannot be opened is logged and left out.
 */
export function createOrganizationKeys(db: Queryable, box: SecretBox, log: AgentLog): OrganizationKeys {
  const cache = new LRUCache<string, ProviderTable, Scope>({
    max: cacheSize,
    ttl: cacheMs,
    ignoreFetchAbort: true,
    fetchMethod: (_key, _old, { context: scope }) => read(scope),
  });

  async function read(scope: Scope): Promise<ProviderTable> {
    const table: Record<string, ProviderAccess> = {};
    for (const { provider, config, secrets } of await listEnvironmentIntegrations(db, scope)) {
      if (notModels.test(provider)) continue;
      const baseUrl = typeof config.baseUrl === 'string' ? config.baseUrl : undefined;
      try {
        const opened =
          secrets === null ? {} : (JSON.parse(box.open(secrets, integrationSecretContext(scope, provider))) as object);
        const apiKey = 'apiKey' in opened && typeof opened.apiKey === 'string' ? opened.apiKey : undefined;
        if (apiKey || baseUrl) table[provider] = { apiKey, baseUrl };
      } catch (error) {
        log.error({ err: error, ...scope, provider }, 'the key of a model provider could not be opened');
      }
    }
    return table;
  }

  return (scope) => cache.forceFetch(`${scope.organizationId}/${scope.environment}`, { context: scope });
}
