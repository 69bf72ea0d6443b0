import { createTestDatabase, until } from '@parley/testing';
import { type KeyOptions, type TestApi, createTestApi } from './testing/create-test-api';

/**
 * Every route × two organizations × two environments × every kind of key, with ids of the other
 * tenants. All tenants have the same type with the same words in it, and each has a marker that no
 * response to another tenant may contain.
 */
interface Tenant {
  name: string;
  scope: KeyOptions;
  marker: string;
  /** A key with every permission, for the setup. */
  key: string;
  id: string;
  cursor: string;
}

let api: TestApi;
const tenants: Tenant[] = [];

beforeAll(async () => {
  api = createTestApi(await createTestDatabase());
  const organizations = [await api.organization(), await api.organization()];
  for (const [at, tenant] of organizations.entries()) {
    for (const environment of ['development', 'production'] as const) {
      const marker = `marker${at}${environment}`;
      const scope = { tenant, environment };
      const entityType = {
        slug: 'order',
        name: marker,
        schema: { title: 'string' },
        searchFields: ['title'],
      };
      const secret = { slug: `only-${at}-${environment.slice(0, 3)}`, name: marker, schema: {} };
      await api.push(scope, { entityTypes: [entityType, secret] });
      const key = await api.key(scope);
      let id = '';
      for (const status of ['active', 'active', 'archived']) {
        const created = await api.call('post', '/v1/data/order', key, {
          data: { title: `word ${marker}` },
          status,
        });
        id = created.body.id;
      }
      const { body } = await api.call('get', '/v1/data/order?limit=1', key);
      tenants.push({
        name: `organization ${at} ${environment}`,
        scope,
        marker,
        key,
        id,
        cursor: body.cursor,
      });
    }
  }
});
afterAll(() => api.close());

interface RouteCase {
  method: 'get' | 'post' | 'patch' | 'delete';
  permission: 'data' | 'sync';
  /** A request that names data of `victim`, sent with a key of another tenant. */
  path: (victim: Tenant) => string;
  body?: (victim: Tenant) => unknown;
  /** The expected status: 200 with data of the key's own tenant, or an error. */
  status: number;
}

const routes: Record<string, RouteCase> = {
  'list types': { method: 'get', permission: 'data', path: () => '/v1/entity-types', status: 200 },
  list: { method: 'get', permission: 'data', path: () => '/v1/data/order', status: 200 },
  'list with a foreign cursor': {
    method: 'get',
    permission: 'data',
    path: ({ cursor }) => `/v1/data/order?cursor=${encodeURIComponent(cursor)}`,
    status: 400,
  },
  'list a foreign type': {
    method: 'get',
    permission: 'data',
    path: ({ scope, marker }) => `/v1/data/${foreignType(scope, marker)}`,
    status: 404,
  },
  get: { method: 'get', permission: 'data', path: ({ id }) => `/v1/data/order/${id}`, status: 404 },
  relations: {
    method: 'get',
    permission: 'data',
    path: ({ id }) => `/v1/data/order/${id}/relations`,
    status: 404,
  },
  create: {
    method: 'post',
    permission: 'data',
    path: ({ scope, marker }) => `/v1/data/${foreignType(scope, marker)}`,
    body: () => ({ data: {} }),
    status: 404,
  },
  query: {
    method: 'post',
    permission: 'data',
    path: () => '/v1/data/order/query',
    body: ({ marker }) => ({ filters: { 'data.title': `word ${marker}` } }),
    status: 200,
  },
  'query by foreign id': {
    method: 'post',
    permission: 'data',
    path: () => '/v1/data/order/query',
    body: ({ id }) => ({ filters: { id } }),
    status: 200,
  },
  'query with a foreign cursor': {
    method: 'post',
    permission: 'data',
    path: () => '/v1/data/order/query',
    body: ({ cursor }) => ({ cursor }),
    status: 400,
  },
  search: {
    method: 'post',
    permission: 'data',
    path: () => '/v1/data/order/search',
    body: ({ marker }) => ({ query: marker }),
    status: 200,
  },
  patch: {
    method: 'patch',
    permission: 'data',
    path: ({ id }) => `/v1/data/order/${id}`,
    body: () => ({ data: { title: 'stolen' }, status: 'stolen' }),
    status: 404,
  },
  delete: {
    method: 'delete',
    permission: 'data',
    path: ({ id }) => `/v1/data/order/${id}`,
    status: 404,
  },
  state: { method: 'post', permission: 'sync', path: () => '/v1/sync/state', status: 200 },
  pull: { method: 'post', permission: 'sync', path: () => '/v1/sync/pull', status: 200 },
  push: {
    method: 'post',
    permission: 'sync',
    path: () => '/v1/sync',
    body: () => ({ resources: { entityTypes: [] }, prune: false }),
    status: 200,
  },
};

const foreignType = (scope: KeyOptions, marker: string) =>
  `only-${marker.includes('marker0') ? 0 : 1}-${scope.environment!.slice(0, 3)}`;

test.each(Object.entries(routes))(
  '%s: a tenant can neither see nor change data of another',
  async (_name, route) => {
    for (const own of tenants) {
      for (const permission of ['*', route.permission] as const) {
        const key = await api.key({ ...own.scope, permissions: [permission] });
        for (const victim of tenants) {
          if (victim === own) continue;
          const before = await storedRows(victim);
          const response = await api.call(
            route.method,
            route.path(victim),
            key,
            route.body?.(victim),
          );
          expect({ status: response.status, own: own.name, victim: victim.name }).toEqual({
            status: route.status,
            own: own.name,
            victim: victim.name,
          });
          expect(withoutEcho(response.text, route.path(victim))).not.toContain(victim.marker);
          expect(withoutEcho(response.text, route.path(victim))).not.toContain(victim.id);
          expect(await storedRows(victim)).toEqual(before);
        }
      }
    }
  },
);

test.each(Object.entries(routes))(
  '%s: invalid keys and keys without the permission are refused',
  async (_name, route) => {
    const { scope } = tenants[0]!;
    const victim = tenants[0]!;
    const other = route.permission === 'data' ? 'sync' : 'data';
    const valid = await api.key(scope);
    const refused: Record<string, { key: string | undefined; status: number; error: string }> = {
      'no key': { key: undefined, status: 401, error: 'Unauthorized' },
      empty: { key: '', status: 401, error: 'Unauthorized' },
      malformed: { key: 'sk_dev_short', status: 401, error: 'Unauthorized' },
      unknown: { key: `sk_dev_${'A'.repeat(43)}`, status: 401, error: 'Unauthorized' },
      'of the other environment': {
        key: valid.replace('sk_dev_', 'sk_prod_'),
        status: 401,
        error: 'Unauthorized',
      },
      'cut short': { key: valid.slice(0, -1), status: 401, error: 'Unauthorized' },
      'in other letters': { key: valid.toUpperCase(), status: 401, error: 'Unauthorized' },
      revoked: { key: await api.revokedKey(scope), status: 401, error: 'Unauthorized' },
      expired: {
        key: await api.key({ ...scope, expiresAt: new Date(Date.now() - 1) }),
        status: 401,
        error: 'Unauthorized',
      },
    };
    for (const permission of ['chat', other] as const) {
      const error = `API key does not have ${route.permission} permission`;
      refused[permission] = {
        key: await api.key({ ...scope, permissions: [permission] }),
        status: 403,
        error,
      };
    }
    refused.none = {
      key: await api.key({ ...scope, permissions: [] }),
      status: 403,
      error: `API key does not have ${route.permission} permission`,
    };
    const before = await storedRows(victim);
    for (const [name, { key, status, error }] of Object.entries(refused)) {
      const response = await api.call(route.method, route.path(victim), key, route.body?.(victim));
      expect({ name, status: response.status, error: response.body.error }).toEqual({
        name,
        status,
        error,
      });
      expect(response.text).not.toContain(victim.marker);
    }
    expect(await storedRows(victim)).toEqual(before);
  },
);

test('a key that is revoked or expires while it is in use is refused soon after', async () => {
  const { scope } = tenants[0]!;
  const expiring = await api.key(scope);
  expect((await api.call('get', '/v1/entity-types', expiring)).status).toBe(200);
  const revoking = await api.key(scope);
  expect((await api.call('get', '/v1/entity-types', revoking)).status).toBe(200);
  await api.db.pool.query('update api_keys set revoked_at = now() where prefix = $1', [
    revoking.slice(0, 13),
  ]);
  await api.db.pool.query('update api_keys set expires_at = now() where prefix = $1', [
    expiring.slice(0, 13),
  ]);
  for (const key of [revoking, expiring])
    await until(async () => (await api.call('get', '/v1/entity-types', key)).status === 401, {
      limitMs: 10_000,
    });
});

/** Removes the segments of the path, which a response may repeat. */
const withoutEcho = (text: string, path: string) =>
  path.split('/').reduce((left, segment) => left.replaceAll(segment, ''), text);

async function storedRows({ scope }: Tenant): Promise<unknown[]> {
  const values = [scope.tenant, scope.environment];
  const where = 'where tenant = $1 and environment = $2::"Environment" order by id';
  const entities = await api.db.pool.query(`select * from entities ${where}`, values);
  const types = await api.db.pool.query(
    `select id, name, revision from entity_types ${where}`,
    values,
  );
  const events = await api.db.pool.query(
    `select count(*) from events ${where.replace(' order by id', '')}`,
    values,
  );
  return [...entities.rows, ...types.rows, ...events.rows];
}
