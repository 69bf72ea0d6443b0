import { createTestDatabase } from '@parley/testing';
import { type TestApi, createTestApi } from './testing/create-test-api';

let api: TestApi;
let tenant: number;
let system: string;
let clerk: string;
let inScope: string;
let outside: string;

beforeAll(async () => {
  api = createTestApi(await createTestDatabase());
  tenant = await api.organization();
  const allow = (
    resource: string,
    ...actions: ('create' | 'read' | 'update' | 'delete' | 'list' | '*')[]
  ) => ({
    resource,
    actions,
    effect: 'allow' as const,
  });
  await api.push(
    { tenant },
    {
      entityTypes: [
        {
          slug: 'order',
          name: 'Order',
          schema: { shop: 'string', total: 'number' },
          searchFields: ['title'],
        },
        {
          slug: 'person',
          name: 'Person',
          schema: { name: 'string' },
          searchFields: ['name', 'email'],
        },
        { slug: 'secret', name: 'Secret', schema: {} },
        { slug: 'ledger', name: 'Ledger', schema: {} },
      ],
      roles: [
        {
          slug: 'clerk',
          name: 'Clerk',
          policies: [
            allow('order', '*'),
            allow('person', 'read', 'list', 'update'),
            allow('ledger', '*'),
            { resource: 'ledger', actions: ['delete'], effect: 'deny' },
          ],
          scopeRules: [{ entityType: 'order', field: 'data.shop', operator: 'eq', value: 'north' }],
          fieldMasks: [
            { entityType: 'person', fieldPath: 'email', maskType: 'hide' },
            { entityType: 'person', fieldPath: 'address.street', maskType: 'redact' },
          ],
        },
        { slug: 'empty', name: 'Empty', policies: [] },
      ],
    },
  );
  system = await api.key({ tenant, permissions: ['data'] });
  clerk = await api.key({ tenant, permissions: ['data'], role: 'clerk' });
  const create = async (type: string, data: object) =>
    (await api.call('post', `/v1/data/${type}`, system, { data }).expect(201)).body.id as string;
  inScope = await create('order', { shop: 'north', title: 'a red bicycle' });
  outside = await create('order', { shop: 'south', title: 'a red bicycle' });
});
afterAll(() => api.close());

const outOfScope = {
  error: 'Entity not accessible within scope',
  code: 'out_of_scope',
  requestId: expect.any(String),
};
const denied = (message: string) => ({
  error: message,
  code: 'permission_denied',
  requestId: expect.any(String),
});
const ids = (response: { body: { data: { id: string }[] } }) =>
  response.body.data.map(({ id }) => id);

test('an entity outside of the scope is a 403, and one inside is returned', async () => {
  await api.call('get', `/v1/data/order/${inScope}`, clerk).expect(200);
  for (const [method, body] of [['get'], ['patch', { data: { total: 1 } }], ['delete']] as const) {
    const response = await api.call(method, `/v1/data/order/${outside}`, clerk, body).expect(403);
    expect(response.body).toEqual(outOfScope);
  }
  await api.call('get', `/v1/data/order/${outside}`, system).expect(200);
  await api.call('get', '/v1/data/order/ent_nothing', clerk).expect(404);
});

test('lists, queries and searches return only entities in the scope', async () => {
  expect(ids(await api.call('get', '/v1/data/order', clerk).expect(200))).toEqual([inScope]);
  expect(ids(await api.call('post', '/v1/data/order/query', clerk, {}).expect(200))).toEqual([
    inScope,
  ]);
  const south = { filters: { 'data.shop': 'south' } };
  expect(ids(await api.call('post', '/v1/data/order/query', clerk, south).expect(200))).toEqual([]);
  const foreignId = { filters: { id: outside } };
  expect(ids(await api.call('post', '/v1/data/order/query', clerk, foreignId).expect(200))).toEqual(
    [],
  );
  const search = { query: 'bicycle' };
  expect(ids(await api.call('post', '/v1/data/order/search', clerk, search).expect(200))).toEqual([
    inScope,
  ]);
  expect(
    ids(await api.call('post', '/v1/data/order/search', system, search).expect(200)),
  ).toHaveLength(2);
});

test('an entity cannot be created outside of the scope or moved out of it', async () => {
  const make = (shop: string) => api.call('post', '/v1/data/order', clerk, { data: { shop } });
  const { body } = await make('north').expect(201);
  expect((await make('south').expect(403)).body).toEqual(outOfScope);
  const move = await api
    .call('patch', `/v1/data/order/${body.id}`, clerk, { data: { shop: 'south' } })
    .expect(403);
  expect(move.body).toEqual(outOfScope);
  expect((await api.call('get', `/v1/data/order/${body.id}`, system)).body.data.shop).toBe('north');
  await api.call('delete', `/v1/data/order/${body.id}`, clerk).expect(200);
});

test('policies allow or deny each action, with the error of the permission check', async () => {
  const lacking = (action: string, type: string) =>
    denied(`Permission denied: cannot perform '${action}' on '${type}'`);
  const { body: person } = await api.call('post', '/v1/data/person', system, {
    data: { name: 'Ann' },
  });
  const { body: entry } = await api
    .call('post', '/v1/data/ledger', clerk, { data: {} })
    .expect(201);
  const cases = [
    ['post', '/v1/data/person', { data: {} }, lacking('create', 'person')],
    ['delete', `/v1/data/person/${person.id}`, undefined, lacking('delete', 'person')],
    ['get', '/v1/data/secret', undefined, lacking('list', 'secret')],
    ['get', '/v1/data/secret/ent_1', undefined, lacking('read', 'secret')],
    ['post', '/v1/data/secret/query', {}, lacking('list', 'secret')],
    ['post', '/v1/data/secret/search', { query: 'x' }, lacking('list', 'secret')],
    ['patch', '/v1/data/secret/ent_1', { data: {} }, lacking('update', 'secret')],
    [
      'delete',
      `/v1/data/ledger/${entry.id}`,
      undefined,
      denied('Permission denied: denied by policy'),
    ],
  ] as const;
  for (const [method, path, body, expected] of cases) {
    expect((await api.call(method, path, clerk, body).expect(403)).body).toEqual(expected);
  }
  await api
    .call('patch', `/v1/data/person/${person.id}`, clerk, { data: { name: 'Bea' } })
    .expect(200);
  const missing = { error: 'Entity type nothing not found', code: 'entity_type_not_found' };
  expect((await api.call('get', '/v1/data/nothing', clerk).expect(404)).body).toMatchObject(
    missing,
  );
  expect(
    (await api.call('post', '/v1/data/nothing', clerk, { data: {} }).expect(404)).body,
  ).toMatchObject(missing);
});

test('a PATCH that deletes or restores requires the delete permission', async () => {
  const { body: person } = await api
    .call('post', '/v1/data/person', system, { data: { name: 'Cleo' } })
    .expect(201);
  const path = `/v1/data/person/${person.id}`;
  const refusal = denied("Permission denied: cannot perform 'delete' on 'person'");
  const change = (key: string, status: string) =>
    api.call('patch', path, key, { data: {}, status });
  expect((await change(clerk, 'deleted').expect(403)).body).toEqual(refusal);
  await change(clerk, 'archived').expect(200);
  await api.call('delete', path, system).expect(200);
  expect((await change(clerk, 'active').expect(403)).body).toEqual(refusal);
  expect((await change(clerk, 'deleted').expect(403)).body).toEqual(refusal);
  // Without a status the PATCH neither deletes nor restores, and the deleted entity is a 404.
  await api.call('patch', path, clerk, { data: {} }).expect(404);
  await api.call('get', path, system).expect(404);
  await change(system, 'active').expect(200);
  // The role allows every action on orders.
  const order = `/v1/data/order/${(await api.call('post', '/v1/data/order', clerk, { data: { shop: 'north' } })).body.id}`;
  await api.call('patch', order, clerk, { data: {}, status: 'deleted' }).expect(200);
  await api.call('patch', order, clerk, { data: {}, status: 'active' }).expect(200);
  await api.call('delete', order, clerk).expect(200);
});

test('a role without policies, and one that does not exist, permit nothing', async () => {
  for (const role of ['empty', 'missing']) {
    const key = await api.key({ tenant, permissions: ['data'], role });
    await api.call('get', '/v1/data/order', key).expect(403);
    await api.call('get', `/v1/data/order/${inScope}`, key).expect(403);
    expect((await api.call('get', '/v1/entity-types', key).expect(200)).body).toEqual({ data: [] });
  }
});

test('entity types are listed if the role may read them', async () => {
  const { body } = await api.call('get', '/v1/entity-types', clerk).expect(200);
  expect(body.data.map(({ slug }: { slug: string }) => slug)).toEqual([
    'ledger',
    'order',
    'person',
  ]);
});

test('masked fields appear in no response and cannot be used in filters or sorts, or be set', async () => {
  const data = {
    name: 'Ann',
    email: 'ann@example.org',
    address: { street: 'Elm 1', city: 'Oslo' },
  };
  const { body: person } = await api.call('post', '/v1/data/person', system, { data }).expect(201);
  const path = `/v1/data/person/${person.id}`;
  const shown = { name: 'Ann', address: { street: '[redacted]', city: 'Oslo' } };
  expect((await api.call('get', path, clerk)).body.data).toEqual(shown);
  const { body: listed } = await api.call('get', '/v1/data/person?limit=1', clerk);
  expect(listed.data[0].data).toEqual(shown);
  expect((await api.call('patch', path, clerk, { data: { name: 'Ann' } })).body.data).toEqual(
    shown,
  );

  const refused = [
    ['post', '/v1/data/person/query', { filters: { 'data.email': 'ann@example.org' } }],
    ['post', '/v1/data/person/query', { filters: { 'data.address.street': { $exists: true } } }],
    ['post', '/v1/data/person/query', { sort: { field: 'data.email' } }],
    ['patch', path, { data: { email: 'x' } }],
    ['patch', path, { data: { address: {} } }],
  ] as const;
  for (const [method, to, body] of refused) {
    const response = await api.call(method, to, clerk, body).expect(403);
    expect(response.body.code).toBe('masked_field');
    expect(response.text).not.toContain('ann@');
  }
  const found = await api.call('post', '/v1/data/person/search', clerk, { query: 'ann@example' });
  expect(found.text).not.toContain('ann@');
  expect((await api.call('get', path, system)).body.data).toEqual(data);
});

test('a changed role applies from the next request on', async () => {
  await api.push({ tenant }, { roles: [{ slug: 'changing', name: 'C', policies: [] }] });
  const key = await api.key({ tenant, permissions: ['data'], role: 'changing' });
  await api.call('get', '/v1/data/order', key).expect(403);
  const policies = [{ resource: 'order', actions: ['list' as const], effect: 'allow' as const }];
  await api.push({ tenant }, { roles: [{ slug: 'changing', name: 'C', policies }] });
  await api.call('get', '/v1/data/order', key).expect(200);
});

test('the event of a change by a key with a role names the key and the role', async () => {
  const { body } = await api
    .call('post', '/v1/data/order', clerk, { data: { shop: 'north' } })
    .expect(201);
  const { rows } = await api.db.pool.query('select actor from events where entity_id = $1', [
    body.id,
  ]);
  expect(rows).toEqual([
    { actor: { type: 'user', callerId: expect.stringMatching(/^key_/), roles: ['clerk'] } },
  ]);
});

test('a role of one environment has no effect in the other', async () => {
  await api.push(
    { tenant, environment: 'production' },
    { entityTypes: [{ slug: 'order', name: 'O', schema: {} }] },
  );
  const key = await api.key({
    tenant,
    environment: 'production',
    permissions: ['data'],
    role: 'clerk',
  });
  await api.call('get', '/v1/data/order', key).expect(403);
});

it.each(['/v1/sync', '/v1/sync/state', '/v1/sync/pull'])(
  '%s refuses a key with a role, whatever its permissions',
  async (path) => {
    const key = await api.key({ tenant, permissions: ['*'], role: 'clerk' });
    const body = { resources: { roles: [{ slug: 'clerk', name: 'Clerk', policies: [] }] } };
    const refused = await api.call('post', path, key, body).expect(403);
    expect(refused.body).toMatchObject({
      error: 'A key with a role cannot use this endpoint',
      code: 'key_has_role',
    });
    const withoutRole = await api.key({ tenant, permissions: ['sync'] });
    await api.call('post', path, withoutRole, { ...body, dryRun: true }).expect(200);
  },
);
