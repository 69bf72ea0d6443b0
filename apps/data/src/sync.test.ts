import { createTestDatabase } from '@parley/testing';
import { type TestApi, createTestApi } from './testing/create-test-api';

let api: TestApi;
let key: string;
let production: string;
const reindexings: string[] = [];

beforeAll(async () => {
  api = createTestApi(await createTestDatabase(), {
    requestReindexing: (requestId) => reindexings.push(requestId),
  });
  const tenant = await api.organization();
  key = await api.key({ tenant, permissions: ['sync'] });
  production = await api.key({ tenant, environment: 'production', permissions: ['*'] });
});
afterAll(() => api.close());

const order = {
  slug: 'order',
  name: 'Order',
  schema: { total: 'number', a: 'string' },
  searchFields: ['a'],
};
const push = (body: unknown, withKey = key) => api.call('post', '/v1/sync', withKey, body);

test('state and pull return what was pushed, in the environment of the key', async () => {
  const pushed = await push({ resources: { entityTypes: [order] } }).expect(200);
  expect(pushed.body).toEqual({
    dryRun: false,
    version: 1,
    results: { entityTypes: { created: ['order'], updated: [], deleted: [], unchanged: [] } },
  });
  const state = await api.call('post', '/v1/sync/state', key).expect(200);
  expect(state.body).toMatchObject({
    organization: { slug: expect.any(String), name: expect.any(String) },
    environment: 'development',
    version: 1,
  });
  expect(state.body.resources.entityTypes).toEqual([
    { slug: 'order', name: 'Order', version: 1, hash: expect.stringMatching(/./) },
  ]);
  const pulled = await api.call('post', '/v1/sync/pull', key, {}).expect(200);
  expect(pulled.body.resources.entityTypes).toEqual([order]);
  expect(JSON.stringify(pulled.body.resources.entityTypes[0].schema)).toBe(
    JSON.stringify(order.schema),
  );

  const again = await push({ resources: pulled.body.resources }).expect(200);
  expect(again.body.version).toBe(1);
  expect(again.body.results.entityTypes.unchanged).toEqual(['order']);
  const other = await api.call('post', '/v1/sync/pull', production).expect(200);
  expect(other.body).toMatchObject({
    environment: 'production',
    version: 0,
    resources: { entityTypes: [] },
  });
});

test('each push that changes something adds one entry to the audit log: who, where from and what', async () => {
  const tenant = await api.organization();
  const keys = {
    development: await api.key({ tenant, permissions: ['sync'] }),
    production: await api.key({ tenant, environment: 'production', permissions: ['sync'] }),
  };
  const entries = async () => {
    const { rows } = await api.db.pool.query(
      `select environment, action, actor_type, actor_id, address, target_id, before, after, request_id
       from audit_log where tenant = $1 order by id`,
      [tenant],
    );
    return rows;
  };
  const definition = { ...order, searchFields: [] };
  const many = Array.from({ length: 70 }, (_, i) => ({ ...definition, slug: `type-${i}` }));
  const pushes: [keyof typeof keys, object, object | null][] = [
    [
      'development',
      { resources: { entityTypes: [definition] } },
      { version: 1, created: ['entityTypes/order'] },
    ],
    ['development', { resources: { entityTypes: [definition] } }, null],
    [
      'development',
      { resources: { entityTypes: [{ ...definition, name: 'O' }] }, dryRun: true },
      null,
    ],
    ['development', { resources: {}, expectedVersion: 7 }, null],
    [
      'development',
      { resources: { entityTypes: [{ ...definition, schema: { a: 'nmber' } }] } },
      null,
    ],
    [
      'development',
      { resources: { entityTypes: [{ ...definition, name: 'O' }] } },
      { updated: ['entityTypes/order'] },
    ],
    [
      'development',
      { resources: { entityTypes: [] }, prune: true },
      { version: 3, deleted: ['entityTypes/order'] },
    ],
    [
      'production',
      { resources: { entityTypes: many } },
      { version: 1, created: expect.arrayContaining(['and 10 more']) },
    ],
  ];
  for (const [environment, body, after] of pushes) {
    const before = (await entries()).length;
    await push(body, keys[environment]).set('X-Request-Id', 'push-2');
    const added = (await entries()).slice(before);
    if (after === null) expect(added).toEqual([]);
    else
      expect(added).toMatchObject([
        {
          environment,
          action: 'definitions.pushed',
          actor_type: 'api_key',
          actor_id: expect.any(String),
          address: expect.stringContaining('127.0.0.1'),
          target_id: environment,
          after,
          request_id: 'push-2',
        },
      ]);
  }
});

test('dryRun changes nothing and requests no reindexing', async () => {
  reindexings.length = 0;
  const changed = { ...order, searchFields: ['a', 'b'] };
  const dry = await push({ resources: { entityTypes: [changed] }, dryRun: true }).expect(200);
  expect(dry.body).toMatchObject({
    dryRun: true,
    version: 1,
    results: { entityTypes: { updated: ['order'] } },
  });
  expect(reindexings).toEqual([]);
  await push({ resources: { entityTypes: [changed] } })
    .set('X-Request-Id', 'push-1')
    .expect(200);
  expect(reindexings).toEqual(['push-1']);
});

test('an outdated expectedVersion is refused with 409', async () => {
  const { body } = await push({ resources: {}, expectedVersion: 0 }).expect(409);
  expect(body).toEqual({
    error: 'The environment has changed: it is now at version 2',
    code: 'version_conflict',
    requestId: expect.any(String),
    details: [{ path: 'expectedVersion', message: 'is 0, but the environment is at version 2' }],
  });
  await push({ resources: {}, expectedVersion: 2 }).expect(200);
});

test('all problems are reported, and nothing is written', async () => {
  const role = {
    slug: 'r',
    name: 'R',
    policies: [{ resource: 'nothing', actions: ['read'], effect: 'allow' }],
  };
  const { body } = await push({
    resources: { roles: [role], entityTypes: [{ ...order, name: 'Changed' }] },
  }).expect(400);
  expect(body).toMatchObject({
    error: 'The definitions have problems',
    code: 'invalid_definitions',
  });
  expect(body.details[0].path).toContain('roles.0');
  const typo = { slug: 'order', name: 'Order', schema: { total: 'nmber' } };
  const refused = await push({ resources: { entityTypes: [typo] } }).expect(400);
  expect(refused.body.details).toEqual([
    {
      path: 'entityTypes.0.schema.total',
      message: expect.stringMatching(/^"nmber" is not a type name; use one of .*number/),
    },
  ]);
  expect((await api.call('post', '/v1/sync/state', key)).body.version).toBe(2);
});

test.each([
  ['', 'A JSON body is required'],
  [{}, /resources/],
  [{ resources: [] }, /resources/],
  [{ resources: { unknown: [] } }, /unknown/],
  [{ resources: { entityTypes: [{ slug: 'x y', name: 'X', schema: {} }] } }, /slug/],
  [{ resources: { entityTypes: [{ slug: 'x', name: 'X', schema: {}, extra: 1 }] } }, /extra/],
  [{ resources: {}, environment: 'production' }, /environment/],
  [{ resources: {}, expectedVersion: -1 }, /expectedVersion/],
])('%j is a 400', async (body, error) => {
  const response = await push(body).expect(400);
  expect(`${response.body.error} ${JSON.stringify(response.body.details)}`).toMatch(error);
});

test('state and pull accept an empty or missing body and refuse invalid JSON', async () => {
  for (const path of ['/v1/sync/state', '/v1/sync/pull']) {
    await api.call('post', path, key, '').expect(200);
    await api.call('post', path, key, { anything: 1 }).expect(200);
    await api.call('post', path, key, '{').expect(400);
    await api.call('get', path, key).expect(405);
  }
});

describe('a push that takes long to check', () => {
  const many = <T>(count: number, make: (n: number) => T): T[] =>
    Array.from({ length: count }, (_, n) => make(n));
  const slow = (n: number) => ({
    name: `slow${n}`,
    description: 'd',
    parameters: { properties: { a: { enum: many(6_000, (m) => ({ m })) } } },
    handlerCode: 'return 1',
  });

  test('lets other requests be answered', async () => {
    let isChecked = false;
    const pushing = push({ resources: { tools: [slow(0)] }, dryRun: true }).then(
      () => (isChecked = true),
    );
    let answered = 0;
    for (; !isChecked; answered += 1) await api.call('post', '/v1/sync/state', key).expect(200);
    await pushing;
    // On the thread that serves requests, the check would delay all but the first ones.
    expect(answered).toBeGreaterThan(5);
  });

  test('is refused with 413 after a time, and changes nothing', async () => {
    const strict = createTestApi(await createTestDatabase(), { pushCheckMs: 100 });
    const strictKey = await strict.key({ tenant: await strict.organization() });
    const body = { resources: { tools: many(5, slow) } };
    const refused = await strict.call('post', '/v1/sync', strictKey, body).expect(413);
    expect(refused.body).toMatchObject({
      code: 'push_too_complex',
      error: expect.stringContaining('fewer at a time'),
    });
    expect((await strict.call('post', '/v1/sync/state', strictKey).expect(200)).body.version).toBe(
      0,
    );
    await strict.close();
  });
});

test('a push with many problems reports 1,000 of them', async () => {
  const schema = Object.fromEntries(Array.from({ length: 60_000 }, (_, n) => [`f${n}`, 'x']));
  const { body } = await push({
    resources: { entityTypes: [{ slug: 'a', name: 'A', schema }] },
  }).expect(400);
  expect(body.details).toHaveLength(1_000);
});
