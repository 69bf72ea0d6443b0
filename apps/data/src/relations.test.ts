import { createTestDatabase } from '@parley/testing';
import { type TestApi, createTestApi } from './testing/create-test-api';

let api: TestApi;
let tenant: number;
let key: string;

beforeAll(async () => {
  api = createTestApi(await createTestDatabase());
  tenant = await api.organization();
  key = await api.key({ tenant, permissions: ['data'] });
  await api.push(
    { tenant },
    {
      entityTypes: ['order', 'customer', 'secret'].map((slug) => ({
        slug,
        name: slug,
        schema: {},
      })),
      roles: [
        {
          slug: 'clerk',
          name: 'Clerk',
          policies: [
            { resource: 'order', actions: ['read'], effect: 'allow' },
            { resource: 'customer', actions: ['read'], effect: 'allow' },
          ],
          scopeRules: [
            { entityType: 'customer', field: 'data.city', operator: 'eq', value: 'Arica' },
          ],
        },
        {
          slug: 'customers-only',
          name: 'Customers only',
          policies: [{ resource: 'customer', actions: ['read'], effect: 'allow' }],
        },
      ],
    },
  );
});
afterAll(() => api.close());

const add = async (type: string, data: object = {}) =>
  (await api.call('post', `/v1/data/${type}`, key, { data }).expect(201)).body.id as string;
const link = async (fromId: string, relation: string, toId: string) => {
  const scope = { organizationId: '', tenant, environment: 'development' as const };
  expect(await api.entities.link(scope, { fromId, relation, toId })).toEqual({ ok: true });
};
const relations = (type: string, id: string, query = '', withKey = key) =>
  api.call('get', `/v1/data/${type}/${id}/relations?${query}`, withKey);
const listed = async (...args: Parameters<typeof relations>) =>
  (await relations(...args).expect(200)).body.data.map(
    ({
      relation,
      direction,
      entity,
    }: {
      relation: string;
      direction: string;
      entity: { type: string; id: string };
    }) => [relation, direction, entity.type, entity.id].join(' '),
  );

test('relations in both directions are listed newest first, without deleted entities', async () => {
  const [order, customer, friend] = [
    await add('order'),
    await add('customer'),
    await add('customer'),
  ];
  expect((await relations('order', order).expect(200)).body).toEqual({
    data: [],
    cursor: '',
    hasMore: false,
  });
  await link(order, 'placed_by', customer);
  await link(friend, 'recommends', order);
  await link(order, 'same_as', order);
  const deleted = await add('customer');
  await link(order, 'paid_by', deleted);
  await api.call('delete', `/v1/data/customer/${deleted}`, key).expect(200);
  expect(await listed('order', order)).toEqual([
    `same_as outgoing order ${order}`,
    `recommends incoming customer ${friend}`,
    `placed_by outgoing customer ${customer}`,
  ]);
  expect(await listed('customer', customer)).toEqual([`placed_by incoming order ${order}`]);
  const { body } = await relations('order', order, 'limit=1').expect(200);
  expect(body.data[0].createdAt).toBeGreaterThan(Date.now() - 60_000);
});

test('pages contain each relation once, also of one time and while others are added', async () => {
  const customer = await add('customer');
  const orders = await Promise.all(Array.from({ length: 7 }, () => add('order')));
  for (const order of orders) await link(order, 'placed_by', customer);
  await api.db.pool.query('update entity_relations set created_at = $1 where to_id = $2', [
    new Date(Date.now() - 1_000),
    customer,
  ]);
  const seen: string[] = [];
  for (let cursor = '', more = true; more;) {
    const { body } = await relations(
      'customer',
      customer,
      `limit=2&cursor=${encodeURIComponent(cursor)}`,
    ).expect(200);
    seen.push(...body.data.map(({ entity }: { entity: { id: string } }) => entity.id));
    ({ cursor, hasMore: more } = body);
    if (seen.length === 2) await link(await add('order'), 'placed_by', customer);
  }
  expect([...seen].sort()).toEqual([...orders].sort());
});

test('a role sees relations with the entities that it may read', async () => {
  const order = await add('order');
  const [inArica, inLima] = [
    await add('customer', { city: 'Arica' }),
    await add('customer', { city: 'Lima' }),
  ];
  for (const other of [inArica, inLima, await add('secret')]) await link(order, 'about', other);
  const clerk = await api.key({ tenant, permissions: ['data'], role: 'clerk' });
  expect(await listed('order', order, '', clerk)).toEqual([`about outgoing customer ${inArica}`]);
  expect((await relations('customer', inLima, '', clerk).expect(403)).body.code).toBe(
    'out_of_scope',
  );
  const customersOnly = await api.key({ tenant, permissions: ['data'], role: 'customers-only' });
  expect(await listed('customer', inLima, '', customersOnly)).toEqual([]);
  expect((await relations('order', order, '', customersOnly).expect(403)).body.code).toBe(
    'permission_denied',
  );
});

test('unknown and deleted entities are 404, and broken cursors and limits 400', async () => {
  const [order, other] = [await add('order'), await add('order')];
  await link(order, 'same_as', other);
  const { cursor } = (await relations('order', order, 'limit=1').expect(200)).body;
  for (const query of ['limit=0', 'limit=x', 'cursor=x', 'cursor=c1.W10', `cursor=${cursor}x`])
    expect((await relations('order', order, query).expect(400)).body.code).toBe('invalid_query');
  await relations('order', other, `cursor=${cursor}`).expect(400);
  const [prefix, body] = cursor.split('.');
  const [query, at] = JSON.parse(Buffer.from(body, 'base64url').toString());
  const forged = Buffer.from(JSON.stringify([query, at, '\0'])).toString('base64url');
  await relations('order', order, `cursor=${prefix}.${forged}`).expect(400);
  await relations('customer', order).expect(404);
  await relations('nothing', order).expect(404);
  await relations('order', 'é%2F..').expect(404);
  await api.call('delete', `/v1/data/order/${order}`, key).expect(200);
  expect((await relations('order', order).expect(404)).body.code).toBe('entity_deleted');
});
