import { createTestDatabase } from '@parley/testing';
import { type TestApi, createTestApi } from './testing/create-test-api';

let api: TestApi;
beforeAll(async () => {
  api = createTestApi(await createTestDatabase());
});
afterAll(() => api.close());

test('an organization has a share of the requests that count at the same time', async () => {
  const tenant = await api.organization();
  const key = await api.key({ tenant, permissions: ['data'] });
  await api.push({ tenant }, { entityTypes: [{ slug: 'item', name: 'Item', schema: {} }] });
  await api.call('get', '/v1/data/item?count=exact', key).expect(200);
  const client = await api.db.pool.connect();
  await client.query('begin; lock table entities in access exclusive mode');
  const counted = ['get /v1/data/item?count=exact', 'post /v1/data/item/query'].flatMap((line) =>
    Array.from({ length: 4 }, () => {
      const [method, path] = line.split(' ') as ['get' | 'post', string];
      return api
        .call(method, path, key, method === 'post' ? { count: 'estimated' } : undefined)
        .then((answer) => answer);
    }),
  );
  const refused = (await Promise.race(counted)).body;
  const others = Array.from({ length: 2 }, () =>
    api.call('get', '/v1/data/item', key).then(({ status }) => status),
  );
  await client.query('rollback');
  client.release();
  expect(refused).toMatchObject({ code: 'too_many_counts', retryAt: expect.any(Number) });
  const statuses = (await Promise.all(counted)).map(({ status }) => status);
  expect(statuses.toSorted()).toEqual([200, 200, 200, 200, 429, 429, 429, 429]);
  expect(await Promise.all(others)).toEqual([200, 200]);
});
