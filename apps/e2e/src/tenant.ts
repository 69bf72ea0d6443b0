import type { Environment, Permission, Scope } from '@parley/contracts';
import { createDb, createSecretBox, newId, saveIntegration } from '@parley/db';
import { createApiKey, insertOrganization, revokeApiKey } from '@parley/identity';
import { type Client, createClient } from './client';
import { type SharedStack, shared } from './stack';

/** The organization of one test file. */
export interface Tenant {
  organizationId: string;
  /** The organization's scope in development. */
  scope: Scope;
  slug: string;
  /** Creates a key and a client with it. By default the key has all permissions in development. */
  client(key?: {
    permissions?: Permission[];
    environment?: Environment;
    role?: string;
    expiresAt?: Date;
  }): Promise<Client & { key: string; keyId: string }>;
  revoke(keyId: string): Promise<void>;
  /** Lets agents of the organization in development ask the models of OpenAI at this address. */
  useModels(baseUrl: string): Promise<void>;
  /** Queries the database, for state that the API does not show. */
  query(text: string, values?: unknown[]): Promise<Record<string, unknown>[]>;
  close(): Promise<void>;
}

export async function createTenant({
  url,
  databaseUrl,
  secretsKey = '',
}: Pick<SharedStack, 'url' | 'databaseUrl'> & { secretsKey?: string } = shared): Promise<Tenant> {
  const db = createDb({ databaseUrl, poolSize: 2 });
  const organizationId = newId('org');
  const slug = organizationId.replace('_', '-');
  const organization = await insertOrganization(db, {
    id: organizationId,
    slug,
    name: `Organization ${slug}`,
  });
  const { tenant } = organization!;
  return {
    organizationId,
    scope: { organizationId, tenant, environment: 'development' },
    slug,
    async client(wanted = {}) {
      const { id, key } = await createApiKey(db, {
        tenant,
        environment: 'development',
        name: 'e2e',
        permissions: ['*'],
        ...wanted,
      });
      return { ...createClient(url, key), key, keyId: id };
    },
    async revoke(keyId) {
      await revokeApiKey(db, { tenant }, keyId);
    },
    async useModels(baseUrl) {
      const integration = {
        provider: 'openai',
        config: { baseUrl },
        secrets: { apiKey: 'sk-test' },
      };
      const scope = { organizationId, tenant, environment: 'development' as const };
      await saveIntegration(db, createSecretBox(secretsKey), scope, integration);
    },
    async query(text, values) {
      return (await db.pool.query(text, values)).rows as Record<string, unknown>[];
    },
    close: () => db.close(),
  };
}
