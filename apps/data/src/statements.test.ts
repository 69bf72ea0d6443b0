import { countStatementsRepeatedly, createTestDatabase } from '@parley/testing';
import { type TestApi, createTestApi } from './testing/create-test-api';

let api: TestApi;
let key: string;
let id: string;

beforeAll(async () => {
  api = createTestApi(await createTestDatabase());
  const tenant = await api.organization();
  const order = {
    slug: 'order',
    name: 'Order',
    schema: { total: 'number' },
    searchFields: ['note'],
  };
  await api.push({ tenant }, { entityTypes: [order] });
  key = await api.key({ tenant, permissions: ['data'] });
  id = (
    await api.call('post', '/v1/data/order', key, { data: { total: 1, note: 'red' } }).expect(201)
  ).body.id;
});
afterAll(() => api.close());

// The first request caches the key and the type, so the second shows the statements of every
// further request.
test.each([
  ['get an entity', 1, () => api.call('get', `/v1/data/order/${id}`, key)],
  ['list', 1, () => api.call('get', '/v1/data/order', key)],
  [
    'query',
    1,
    () => api.call('post', '/v1/data/order/query', key, { filters: { 'data.total': 1 } }),
  ],
  ['search', 1, () => api.call('post', '/v1/data/order/search', key, { query: 'red' })],
  ['create an entity', 1, () => api.call('post', '/v1/data/order', key, { data: { total: 1 } })],
  [
    'update an entity',
    4,
    () => api.call('patch', `/v1/data/order/${id}`, key, { data: { total: Math.random() } }),
  ],
])('%s: %d statements', async (_name, expected, send) => {
  await send();
  let status = 0;
  const count = await countStatementsRepeatedly(
    api.db.pool,
    async () => ({ status } = await send()),
  );
  expect([count, status < 300]).toEqual([expected, true]);
});
