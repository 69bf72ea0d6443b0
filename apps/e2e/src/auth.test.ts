import type { Permission } from '@parley/contracts';
import { until } from '@parley/testing';
import { assistant, catalog, productType } from './catalog';
import { type Client, createClient, push } from './client';
import { shared } from './stack';
import { type Tenant, createTenant } from './tenant';

let tenant: Tenant;
let admin: Client;
beforeAll(async () => {
  tenant = await createTenant();
  admin = await tenant.client();
  await push(admin, catalog);
});
afterAll(() => tenant.close());

const routes: [
  method: string,
  path: string,
  body: unknown,
  permission: 'chat' | 'data' | 'sync',
][] = [
  ['POST', '/v1/chat', { agentId: 'x', message: 'hi' }, 'chat'],
  ['POST', `/v1/agents/${assistant.slug}/chat`, { message: 'hi' }, 'chat'],
  ['POST', '/v1/routers/none/chat', { message: 'hi' }, 'chat'],
  ['POST', '/v1/executions', { agentSlug: 'none', message: 'hi' }, 'chat'],
  ['GET', '/v1/executions/1', undefined, 'chat'],
  ['POST', '/v1/executions/1/cancel', undefined, 'chat'],
  ['GET', '/v1/executions/1/stream', undefined, 'chat'],
  ['GET', '/v1/threads/none/stream', undefined, 'chat'],
  ['POST', '/v1/compile-prompt', { slug: assistant.slug }, 'sync'],
  ['POST', '/v1/run-tool', { toolName: 'entity.query', args: { type: 'product' } }, 'sync'],
  ['POST', '/v1/sync/state', {}, 'sync'],
  ['POST', '/v1/sync/pull', {}, 'sync'],
  ['GET', '/v1/tool-secrets', undefined, 'sync'],
  ['POST', '/v1/tool-secrets', { name: 'A', value: 'some-value' }, 'sync'],
  ['DELETE', '/v1/tool-secrets/A', undefined, 'sync'],
  ['POST', '/v1/sync', { resources: {} }, 'sync'],
  ['GET', '/v1/entity-types', undefined, 'data'],
  ['GET', '/v1/data/product', undefined, 'data'],
  ['GET', '/v1/data/product/none', undefined, 'data'],
  ['GET', '/v1/data/product/none/relations', undefined, 'data'],
  ['POST', '/v1/data/product', { data: {} }, 'data'],
  ['POST', '/v1/data/product/query', {}, 'data'],
  ['POST', '/v1/data/product/search', { query: 'x' }, 'data'],
  ['PATCH', '/v1/data/product/none', { data: {} }, 'data'],
  ['DELETE', '/v1/data/product/none', undefined, 'data'],
];

describe.each(routes)('%s %s', (method, path, body, permission) => {
  it.each([
    ['no header', 'missing_key', {}],
    ['an unknown key', 'unknown_key', { Authorization: `Bearer sk_dev_${'A'.repeat(43)}` }],
    ['a malformed key', 'unknown_key', { Authorization: 'Bearer nonsense' }],
    ['an empty token', 'missing_key', { Authorization: 'Bearer ' }],
    ['another scheme', 'wrong_scheme', { Authorization: 'Basic dXNlcjpwYXNz' }],
    ['a key in another header', 'missing_key', { 'X-Api-Key': 'nonsense' }],
  ])('answers 401 to %s with %s', async (_name, code, headers) => {
    const answer = await createClient(shared.url).send(
      method,
      path,
      body,
      headers as Record<string, string>,
    );
    expect(answer.status).toBe(401);
    expect(answer.body).toMatchObject({ error: 'Unauthorized', code });
  });

  it(`requires the permission ${permission}`, async () => {
    const others = (['chat', 'data', 'sync'] as Permission[]).filter((name) => name !== permission);
    const without = await tenant.client({ permissions: others });
    const refused = await without.send(method, path, body);
    expect(refused.status).toBe(403);
    expect(refused.body.error).toBe(`API key does not have ${permission} permission`);
    const holder = await tenant.client({ permissions: [permission] });
    expect([401, 403]).not.toContain((await holder.send(method, path, body)).status);
  });
});

describe('a key', () => {
  it('with * has all permissions', async () => {
    const all = await tenant.client({ permissions: ['*'] });
    for (const [method, path, body] of routes) {
      expect([401, 403]).not.toContain((await all.send(method, path, body)).status);
    }
  });

  it('has its environment in its prefix', async () => {
    expect((await tenant.client({ environment: 'development' })).key).toMatch(/^sk_dev_/);
    expect((await tenant.client({ environment: 'production' })).key).toMatch(/^sk_prod_/);
  });

  it('has no access to the other environment', async () => {
    const production = await tenant.client({ environment: 'production' });
    const { body: created } = await admin.post('/v1/data/product', { data: { name: 'dev only' } });
    expect((await production.get('/v1/entity-types')).body).toEqual({ data: [] });
    expect((await production.get('/v1/data/product')).status).toBe(404);
    await push(production, { entityTypes: [productType] });
    expect((await production.get(`/v1/data/product/${created.id}`)).status).toBe(404);
    expect((await production.get('/v1/data/product')).body.data).toEqual([]);
    expect(
      (await production.patch(`/v1/data/product/${created.id}`, { data: { name: 'x' } })).status,
    ).toBe(404);
    expect((await production.delete(`/v1/data/product/${created.id}`)).status).toBe(404);
    const chat = await production.post(`/v1/agents/${assistant.slug}/chat`, { message: 'hi' });
    expect(chat.status).toBe(500);
    expect(chat.body.error).toBe(
      `No active config found for agent "${assistant.slug}" in production`,
    );
  });

  it('keeps its environment whatever a body or a header states', async () => {
    const production = await tenant.client({ environment: 'production' });
    const body = { environment: 'development', data: { name: 'x' } };
    const created = await production.post('/v1/data/product', body, {
      'X-Environment': 'development',
    });
    const list = await admin.get('/v1/data/product');
    expect(list.body.data.map(({ id }: { id: string }) => id)).not.toContain(
      created.body.id ?? 'none',
    );
  });

  it('has no access to another organization', async () => {
    const other = await createTenant();
    const theirs = await other.client();
    await push(theirs, catalog);
    const { body: created } = await admin.post('/v1/data/product', { data: { name: 'ours' } });
    expect((await theirs.get(`/v1/data/product/${created.id}`)).status).toBe(404);
    expect((await theirs.get('/v1/data/product')).body.data).toEqual([]);
    const { body: chat } = await admin.post(`/v1/agents/${assistant.slug}/chat`, { message: 'hi' });
    const joined = await theirs.post(`/v1/agents/${assistant.slug}/chat`, {
      message: 'hi',
      threadId: chat.threadId,
    });
    expect(joined.status).toBe(404);
    expect(joined.body.error).toBe('Thread not found');
    await other.close();
  });

  it('is refused soon after its revocation, by every service', async () => {
    const revoked = await tenant.client();
    const ask = async () => [
      (await revoked.get('/v1/entity-types')).status,
      (await revoked.post('/v1/compile-prompt', { slug: assistant.slug })).status,
    ];
    expect(await ask()).toEqual([200, 200]);
    await tenant.revoke(revoked.keyId);
    // Services keep a key that they have read for a second.
    await until(ask, {
      isThere: (statuses) => statuses.every((status) => status === 401),
      limitMs: 10_000,
    });
  });

  it('is refused once it has expired', async () => {
    const brief = await tenant.client({ expiresAt: new Date(Date.now() + 700) });
    expect((await brief.get('/v1/entity-types')).status).toBe(200);
    await until(async () => (await brief.get('/v1/entity-types')).status === 401);
  });
});

describe('a key with a role', () => {
  it('reads only entities within the scope of its role', async () => {
    const role = {
      slug: 'shelf',
      name: 'Shelf',
      policies: [{ resource: 'product', actions: ['read', 'list', 'update'], effect: 'allow' }],
      scopeRules: [{ entityType: 'product', field: 'data.name', operator: 'eq', value: 'visible' }],
      fieldMasks: [{ entityType: 'product', fieldPath: 'price', maskType: 'hide' }],
    };
    await push(admin, { roles: [role] });
    const visible = (await admin.post('/v1/data/product', { data: { name: 'visible', price: 7 } }))
      .body;
    const hidden = (await admin.post('/v1/data/product', { data: { name: 'hidden', price: 8 } }))
      .body;
    const limited = await tenant.client({ permissions: ['data'], role: 'shelf' });

    const list = await limited.get('/v1/data/product');
    expect(list.body.data.map(({ id }: { id: string }) => id)).toEqual([visible.id]);
    expect(list.body.data[0].data).toEqual({ name: 'visible' });
    const outside = await limited.get(`/v1/data/product/${hidden.id}`);
    expect(outside.status).toBe(403);
    expect(outside.body.error).toBe('Entity not accessible within scope');
    expect((await limited.post('/v1/data/product', { data: { name: 'visible' } })).status).toBe(
      403,
    );

    const full = await tenant.client({ permissions: ['*'], role: 'shelf' });
    const ran = await full.post('/v1/run-tool', {
      toolName: 'entity.query',
      args: { type: 'product' },
    });
    expect(ran.body.result.data.map(({ data }: { data: object }) => data)).toEqual([
      { name: 'visible' },
    ]);
    const fetched = await full.post('/v1/run-tool', {
      toolName: 'web.fetch',
      args: { url: 'https://example.com' },
    });
    expect(fetched).toMatchObject({ status: 403, body: { errorType: 'permission_denied' } });
    const beyond = { '/v1/sync/state': {}, '/v1/sync/pull': {}, '/v1/sync': { resources: {} } };
    const utilities = {
      '/v1/fire-trigger': { triggerSlug: 'x' },
      '/v1/compile-prompt': { slug: 'x' },
    };
    for (const [path, body] of Object.entries({ ...beyond, ...utilities }))
      expect(await full.post(path, body)).toMatchObject({
        status: 403,
        body: { code: 'key_has_role' },
      });
  });
});
