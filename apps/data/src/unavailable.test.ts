import {
  type TcpProxy,
  type TestDatabase,
  createTestDatabase,
  fillDisk,
  startTcpProxy,
  until,
} from '@parley/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import { type TestApi, createTestApi } from './testing/create-test-api';

let database: TestDatabase;
let proxy: TcpProxy;
let api: TestApi;
let key: string;
let id: string;

beforeAll(async () => {
  database = await createTestDatabase();
  proxy = await startTcpProxy(database.url);
  api = createTestApi({ url: proxy.url, drop: database.drop, timeoutMs: 3_000 });
  const tenant = await api.organization();
  key = await api.key({ tenant });
  await api.push({ tenant }, { entityTypes: [{ slug: 'order', name: 'Order', schema: {} }] });
  id = (await api.call('post', '/v1/data/order', key, { data: {} }).expect(201)).body.id;
});
afterAll(async () => {
  await proxy.cut();
  await api.close();
});

const requests = () =>
  [
    ['get', '/v1/entity-types', undefined],
    ['get', '/v1/data/order', undefined],
    ['get', `/v1/data/order/${id}`, undefined],
    ['get', `/v1/data/order/${id}/relations`, undefined],
    ['post', '/v1/data/order', { data: {} }],
    ['post', '/v1/data/order/query', {}],
    ['post', '/v1/data/order/search', { query: 'x' }],
    ['patch', `/v1/data/order/${id}`, { data: {} }],
    ['delete', `/v1/data/order/${id}`, undefined],
    ['post', '/v1/sync', { resources: {} }],
    ['post', '/v1/sync/state', {}],
    ['post', '/v1/sync/pull', {}],
  ] as const;

test('without PostgreSQL every route answers 503 with Retry-After, also for an unknown key, and recovers afterwards', async () => {
  for (let round = 0; round < 2; round += 1) {
    await proxy.cut();
    for (const [method, path, body] of requests()) {
      for (const withKey of [key, `sk_dev_${'b'.repeat(42)}${round}`]) {
        const response = await api.call(method, path, withKey, body);
        expect([method, path, response.status]).toEqual([method, path, 503]);
        expect(response.headers['retry-after']).toBe('2');
        expect(response.body).toEqual({
          error: 'Service temporarily unavailable',
          code: 'unavailable',
          requestId: expect.any(String),
        });
      }
    }
    await proxy.open();
    await api.call('get', '/v1/data/order', key).expect(200);
    await api.call('post', '/v1/data/order', key, { data: { after: round } }).expect(201);
  }
});

test('while PostgreSQL is silent every route answers 503 with Retry-After, and recovers afterwards', async () => {
  const ask = async () => {
    const answers = requests().map(([method, path, body]) => api.call(method, path, key, body));
    return (await Promise.all(answers)).map(({ status, headers }) => [
      status,
      headers['retry-after'],
    ]);
  };
  proxy.freeze();
  const running = ask();
  // Connections are warm for the first requests, and hang while they are opened for the later ones.
  // wall clock: requests that hang are the subject.
  await sleep(1_000);
  for (const answer of [...(await running), ...(await ask())]) expect(answer).toEqual([503, '2']);
  proxy.thaw();
  await until(async () => (await api.call('get', '/v1/data/order', key)).status === 200);
}, 60_000);

test('on a full disk writes answer 503 with Retry-After, and reads are served', async () => {
  const full = await createTestDatabase();
  await fillDisk(full.url, 'entities');
  const other = createTestApi(full);
  const tenant = await other.organization();
  const withKey = await other.key({ tenant });
  await other.push({ tenant }, { entityTypes: [{ slug: 'order', name: 'Order', schema: {} }] });
  const { status, headers, body } = await other.call('post', '/v1/data/order', withKey, {
    data: {},
  });
  expect([status, headers['retry-after'], body.code]).toEqual([503, '2', 'unavailable']);
  await other.call('get', '/v1/data/order', withKey).expect(200);
  await other.close();
});

test('a create that was interrupted can be retried with its Idempotency-Key and creates one entity', async () => {
  const create = () =>
    api.call('post', '/v1/data/order', key, { data: { tried: 1 } }, { 'Idempotency-Key': 'cut' });
  const attempts = Array.from({ length: 5 }, create);
  const running = Promise.all(attempts.map((attempt) => attempt.then(({ status }) => status)));
  // wall clock: the cut comes in the middle of the requests.
  await sleep(5);
  await proxy.cut();
  expect((await running).every((status) => status === 503 || status === 201)).toBe(true);
  await proxy.open();
  const { body } = await create().expect(201);
  const { rows } = await api.db.pool.query(`select id from entities where data = '{"tried": 1}'`);
  expect(rows).toEqual([{ id: body.id }]);
});
