import type { Scope } from '@parley/contracts';
import {
  type Queryable,
  type SecretBox,
  integrationSecretContext,
  listEnvironmentIntegrations,
} from '@parley/db';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { ToolLog } from '../types';
import { mcpNamespace } from './mcp-names';

/** A configured server. `key` changes with its configuration. */
export interface McpServer {
  key: string;
  organizationId: string;
  name: string;
  url: string;
  headers: Record<string, string>;
}

const configSchema = z.object({ url: z.url({ protocol: /^https?$/ }) });
const secretsSchema = z.object({
  /** Sent as `Authorization: Bearer …`. */
  apiKey: z.string().optional(),
  headers: z.record(z.string(), z.string()).optional(),
});

const cacheMs = 5_000;

/**
 * Reads the MCP servers of an environment: active rows of `integrations` whose provider is
 * `mcp.<server>`, with `config { url }` and encrypted secrets `{ apiKey?, headers? }`. Cached for 5
 * s. A row that cannot be used is logged and left out.
 */
export function createMcpServerReader(db: Queryable, box: SecretBox, log: ToolLog) {
  const cache = new LRUCache<string, McpServer[], Scope>({
    max: 10_000,
    ttl: cacheMs,
    ignoreFetchAbort: true,
    fetchMethod: (_key, _old, { context: scope }) => read(scope),
  });

  async function read(scope: Scope): Promise<McpServer[]> {
    const integrations = await listEnvironmentIntegrations(db, scope);
    return integrations.flatMap(({ id, revision, provider, config, secrets }) => {
      if (!provider.startsWith(mcpNamespace)) return [];
      try {
        const { url } = configSchema.parse(config);
        const opened: unknown =
          secrets === null
            ? {}
            : JSON.parse(box.open(secrets, integrationSecretContext(scope, provider)));
        const { apiKey, headers } = secretsSchema.parse(opened);
        const authorization: Record<string, string> =
          apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
        const name = provider.slice(mcpNamespace.length);
        const { organizationId } = scope;
        return [
          {
            key: `${id}:${revision}`,
            organizationId,
            name,
            url,
            headers: { ...authorization, ...headers },
          },
        ];
      } catch (error) {
        const reason = 'the configuration cannot be used';
        log.error(
          { err: error, reason, ...scope, provider },
          'the configuration of an MCP server cannot be used',
        );
        return [];
      }
    });
  }

  return (scope: Scope) =>
    cache.forceFetch(`${scope.organizationId}/${scope.environment}`, { context: scope });
}
