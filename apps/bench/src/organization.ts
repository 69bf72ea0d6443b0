import { createDb, newId } from '@parley/db';
import { createApiKey, insertOrganization } from '@parley/identity';

export interface BenchOrganization {
  id: string;
  key: string;
  tenant: number;
  /** Sends a POST request to the API and returns the JSON; throws for an error status. */
  post(path: string, body: object): Promise<Record<string, unknown>>;
}

/** Creates an organization with the given definitions and a key with all permissions. */
export async function createOrganization(
  databaseUrl: string,
  url: string,
  resources: object,
  slug = 'bench',
): Promise<BenchOrganization> {
  const db = createDb({ databaseUrl, poolSize: 1 });
  const organization = await insertOrganization(db, { id: newId('org'), slug, name: 'Bench' });
  const { id, tenant } = organization!;
  const { key } = await createApiKey(db, {
    tenant,
    environment: 'development',
    name: 'bench',
    permissions: ['*'],
  });
  await db.close();
  const post = async (path: string, body: object) => {
    const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
    const response = await fetch(url + path, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as Record<string, unknown>;
  };
  await post('/v1/sync', { resources });
  return { id, key, tenant, post };
}
