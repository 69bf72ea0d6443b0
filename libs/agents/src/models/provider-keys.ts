import type { Scope } from '@parley/contracts';
import {
  type Queryable,
  type SecretBox,
  integrationSecretContext,
  listEnvironmentIntegrations,
} from '@parley/db';
import { LRUCache } from 'lru-cache';
import type { AgentLog } from '../log';

/** Access to a provider. A base URL without a key is enough for a server that requires none. */
export interface ProviderAccess {
  apiKey?: string;
  baseUrl?: string;
}

export type ProviderTable = Readonly<Record<string, ProviderAccess>>;

/** Returns the providers that an organization has configured in an environment. */
export interface OrganizationKeys {
  (scope: Scope): Promise<ProviderTable>;
}

/** The environment variables that configure providers (model-variables.ts). */
export interface ProviderVariables {
  OPENAI_API_KEY?: string;
  OPENAI_BASE_URL?: string;
  ANTHROPIC_API_KEY?: string;
  ANTHROPIC_BASE_URL?: string;
  GOOGLE_API_KEY?: string;
  GOOGLE_BASE_URL?: string;
  OLLAMA_BASE_URL?: string;
}

/** The providers that the process's environment variables configure, by name. */
export function providersOfEnvironment(variables: ProviderVariables): ProviderTable {
  const all: Record<string, ProviderAccess> = {
    openai: { apiKey: variables.OPENAI_API_KEY, baseUrl: variables.OPENAI_BASE_URL },
    anthropic: { apiKey: variables.ANTHROPIC_API_KEY, baseUrl: variables.ANTHROPIC_BASE_URL },
    google: { apiKey: variables.GOOGLE_API_KEY, baseUrl: variables.GOOGLE_BASE_URL },
    ollama: { baseUrl: variables.OLLAMA_BASE_URL },
  };
  return Object.fromEntries(
    Object.entries(all).filter(([, access]) => access.apiKey || access.baseUrl),
  );
}

/** Integrations that are not model providers. */
const notModelProviders = /^(flow$|kapso$|resend$|mcp\.)/;
const cacheMs = 5_000;
const cacheSize = 10_000;

/**
 * Reads an organization's own provider keys: rows of `integrations` whose secret is `{"apiKey": …}`
 * and whose config may have a `baseUrl`. Results are cached for 5 s. A row that cannot be decrypted
 * is logged and omitted.
 */
export function createOrganizationKeys(
  db: Queryable,
  box: SecretBox,
  log: AgentLog,
): OrganizationKeys {
  const cache = new LRUCache<string, ProviderTable, Scope>({
    max: cacheSize,
    ttl: cacheMs,
    ignoreFetchAbort: true,
    fetchMethod: (_key, _old, { context: scope }) => read(scope),
  });

  async function read(scope: Scope): Promise<ProviderTable> {
    const table: Record<string, ProviderAccess> = {};
    for (const { provider, config, secrets } of await listEnvironmentIntegrations(db, scope)) {
      if (notModelProviders.test(provider)) continue;
      const baseUrl = typeof config.baseUrl === 'string' ? config.baseUrl : undefined;
      try {
        const opened =
          secrets === null
            ? {}
            : (JSON.parse(box.open(secrets, integrationSecretContext(scope, provider))) as object);
        const apiKey =
          'apiKey' in opened && typeof opened.apiKey === 'string' ? opened.apiKey : undefined;
        if (apiKey || baseUrl) table[provider] = { apiKey, baseUrl };
      } catch (error) {
        log.error(
          { err: error, ...scope, provider },
          'the key of a model provider could not be decrypted',
        );
      }
    }
    return table;
  }

  return (scope) =>
    cache.forceFetch(`${scope.organizationId}/${scope.environment}`, { context: scope });
}
