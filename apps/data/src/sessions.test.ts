import type { Environment } from '@parley/contracts';
import { createTestDatabase, seedPerson } from '@parley/testing';
import { type TestApi, createTestApi } from './testing/create-test-api';

let api: TestApi;
let tenant: number;
beforeAll(async () => {
  api = createTestApi(await createTestDatabase());
  tenant = await api.organization();
  for (const environment of ['development', 'production'] as const)
    await api.push(
      { tenant, environment },
      { entityTypes: [{ slug: 'order', name: 'Order', schema: {} }] },
    );
});
afterAll(() => api.close());

async function signedIn(role: 'admin' | 'member', environment: Environment = 'development') {
  const { id, headers, signOut } = await seedPerson(api.db.pool, { tenant, role, environment });
  const send = (method: 'get' | 'post' | 'patch', path: string, body?: unknown, more = {}) =>
    api.call(method, path, undefined, body, { ...headers, ...more });
  return { id, send, signOut };
}

test('a member reads and edits entities of the environment in the header, and events name the person', async () => {
  const { id, send } = await signedIn('member');
  const { body: order } = await send('post', '/v1/data/order', { data: { total: 1 } }).expect(201);
  await send('patch', `/v1/data/order/${order.id}`, { data: { total: 2 } }).expect(200);
  expect((await send('post', '/v1/data/order/query', {}).expect(200)).body.data).toHaveLength(1);
  const production = { 'Parley-Environment': 'production' };
  await send('get', `/v1/data/order/${order.id}`, undefined, production).expect(404);
  const { rows } = await api.db.pool.query(
    'select actor from events where tenant = $1 and entity_id = $2',
    [tenant, order.id],
  );
  expect(rows.map(({ actor }) => actor)).toEqual([
    { type: 'person', id },
    { type: 'person', id },
  ]);
});

test('the same Idempotency-Key of a person in development and in production is two requests', async () => {
  const { send } = await signedIn('admin');
  const create = (environment: Environment) => {
    const headers = { 'Parley-Environment': environment, 'Idempotency-Key': 'order-17' };
    return send('post', '/v1/data/order', { data: { total: 1 } }, headers).expect(201);
  };
  const development = (await create('development')).body;
  const production = (await create('production')).body;
  expect(production.id).not.toBe(development.id);
  await send('get', `/v1/data/order/${production.id}`, undefined, {
    'Parley-Environment': 'production',
  }).expect(200);
  expect((await create('development')).body.id).toBe(development.id);
  expect((await create('production')).body.id).toBe(production.id);
});

test('a bulk change of a person runs in each environment, also with the same Idempotency-Key', async () => {
  const { send } = await signedIn('admin');
  const body = { operations: [{ action: 'create', data: { total: 3 } }] };
  const ids = new Set<string>();
  for (const environment of ['development', 'production', 'development', 'production'] as const) {
    const headers = { 'Parley-Environment': environment, 'Idempotency-Key': 'bulk-17' };
    const { body: answer } = await send('post', '/v1/data/order/bulk', body, headers).expect(200);
    ids.add(answer.results[0].id);
  }
  expect(ids.size).toBe(2);
});

test('a page of another site, and a session that ended, change nothing', async () => {
  const { send, signOut } = await signedIn('member');
  const body = { data: {} };
  const other = { 'Sec-Fetch-Site': 'cross-site' };
  expect((await send('post', '/v1/data/order', body, other).expect(403)).body.code).toBe(
    'cross_site',
  );
  await signOut();
  await send('post', '/v1/data/order', body).expect(401);
  await send('get', '/v1/data/order').expect(401);
});

test('a member pushes to development, and only an admin to production', async () => {
  const push = { resources: { entityTypes: [{ slug: 'note', name: 'Note', schema: {} }] } };
  for (const [role, environment, status] of [
    ['member', 'development', 200],
    ['member', 'production', 403],
    ['admin', 'production', 200],
  ] as const) {
    const { send } = await signedIn(role, environment);
    await send('post', '/v1/sync', push).expect(status);
    await send('post', '/v1/sync/state', {}).expect(200);
  }
});
