import {
  type RedisConnection,
  closeRedis,
  connectRedis,
  createRateLimiter,
  waitForRedis,
} from '@parley/redis';
import { createTestDatabase, createTestRedis, seedPerson, until } from '@parley/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import { limitCallers } from './limit-callers';
import { type TestApi, createTestApi } from './testing/create-test-api';

/**
 * Far longer than an answer takes on a busy machine: a request that is admitted without an
 * answer is not counted.
 */
const deadlineMs = 600_000;

let redisUrl: string;
let api: TestApi;
const connections: RedisConnection[] = [];
let skipped = 0;

type Limits = Parameters<typeof createRateLimiter>[0]['limits'];

async function createLimiter(limits: Limits = {}, name?: string) {
  const redis = connectRedis({
    url: redisUrl,
    role: 'limiter',
    timeouts: { socketTimeout: deadlineMs },
  });
  connections.push(redis);
  await waitForRedis(redis, 30_000);
  return createRateLimiter({ redis, name, limits, deadlineMs, onSkip: () => (skipped += 1) });
}

beforeAll(async () => {
  redisUrl = (await createTestRedis()).url;
});
afterEach(() => api.close());
afterAll(() => Promise.all(connections.map(closeRedis)));

async function start(limits?: Limits, ofPeople: Limits = {}) {
  const limiter = limitCallers({
    keys: await createLimiter(limits),
    people: await createLimiter(ofPeople, 'people-rate'),
  });
  api = createTestApi(await createTestDatabase(), { limiter });
  const tenant = await api.organization();
  await api.push({ tenant }, { entityTypes: [{ slug: 'order', name: 'Order', schema: {} }] });
  const { body } = await api
    .call('post', '/v1/data/order', await api.key({ tenant }), { data: {} })
    .expect(201);
  return { tenant, id: body.id as string };
}

/** Longer than all requests take on a busy machine. */
const windowMs = 600_000;

test('every Data API route allows 60 requests per key and 200 per organization, and sync is not limited', async () => {
  const { tenant, id } = await start({ windowMs });
  const key = await api.key({ tenant });
  const routes = [
    ['get', '/v1/entity-types', undefined, 200],
    ['get', '/v1/data/order', undefined, 200],
    ['get', `/v1/data/order/${id}`, undefined, 200],
    ['get', `/v1/data/order/${id}/relations`, undefined, 200],
    ['get', '/v1/data/nothing', undefined, 404],
    ['post', '/v1/data/order', { data: {} }, 201],
    ['post', '/v1/data/order/query', {}, 200],
    ['post', '/v1/data/order/query', '{', 400],
    ['post', '/v1/data/order/search', { query: 'x' }, 200],
    ['patch', `/v1/data/order/${id}`, { data: { a: 1 } }, 200],
    ['delete', `/v1/data/order/${id}`, undefined, 200],
  ] as const;
  for (const [method, path, body, status] of routes) {
    const response = await api.call(method, path, key, body);
    expect([method, path, response.status]).toEqual([method, path, status]);
  }
  for (let used = routes.length; used < 60; used += 1)
    await api.call('get', '/v1/data/order', key).expect(200);
  const rows = () =>
    api.db.pool.query('select count(*)::int from entities').then((result) => result.rows[0].count);
  const before = await rows();
  for (const [method, path, body] of routes) {
    const now = Date.now();
    const response = await api.call(method, path, key, body);
    expect([path, response.status]).toEqual([path, 429]);
    const { retryAt } = response.body;
    expect(response.body).toEqual({
      error: 'Rate limit exceeded',
      code: 'rate_limited',
      requestId: expect.any(String),
      retryAt: expect.any(Number),
    });
    expect(Number.isInteger(retryAt)).toBe(true);
    expect(retryAt).toBeGreaterThan(now);
    expect(retryAt).toBeLessThanOrEqual(Date.now() + windowMs + 2);
    const seconds = Number(response.headers['retry-after']);
    expect(Number.isInteger(seconds)).toBe(true);
    expect(seconds * 1_000 + Date.now()).toBeGreaterThanOrEqual(retryAt - 5);
  }
  expect(await rows()).toBe(before);
  await api.call('post', '/v1/sync/state', key, {}).expect(200);
  await api.call('post', '/v1/sync/pull', key).expect(200);

  // The setup used 1 request and this key 60, so 139 are left for the other keys of
  // the organization.
  const others = await Promise.all([1, 2, 3].map(() => api.key({ tenant })));
  const burst = await Promise.all(
    Array.from({ length: 240 }, (_, at) =>
      api.call('get', '/v1/data/order?limit=1', others[at % 3]),
    ),
  );
  expect(burst.filter(({ status }) => status === 200)).toHaveLength(139);
  expect(burst.filter(({ status }) => status === 429)).toHaveLength(101);
  const elsewhere = await api.key({ tenant: await api.organization() });
  await api.call('get', '/v1/entity-types', elsewhere).expect(200);
}, 240_000);

test('requests with a missing permission, unknown paths and unsupported methods do not count', async () => {
  const { tenant } = await start({ perKey: 2 });
  const key = await api.key({ tenant, permissions: ['data'] });
  const chat = await api.key({ tenant, permissions: ['chat'] });
  for (let at = 0; at < 4; at += 1) {
    await api.call('get', '/v1/data/order', chat).expect(403);
    await api.call('get', '/v1/nowhere', key).expect(404);
    await api.call('put', '/v1/data/order', key).expect(405);
    await api.call('post', '/v1/sync/state', key).expect(403);
  }
  await api.call('get', '/v1/data/order', key).expect(200);
  await api.call('get', '/v1/data/order', key).expect(200);
  await api.call('get', '/v1/data/order', key).expect(429);
});

test('people and keys of an organization have limits of their own', async () => {
  const { tenant } = await start(
    { perKey: 2, perOrganization: 4 },
    { perKey: 3, perOrganization: 5 },
  );
  const get = (key?: string, headers = {}) =>
    api.call('get', '/v1/data/order', key, undefined, headers);
  const statuses = async (count: number, ...args: Parameters<typeof get>) => {
    const answers = [];
    for (let at = 0; at < count; at += 1) answers.push((await get(...args)).status);
    return answers;
  };
  const people = await Promise.all(
    [1, 2].map(() => seedPerson(api.db.pool, { tenant, role: 'member' })),
  );
  const [ana, ben] = people.map(({ headers }) => headers);
  expect(await statuses(4, undefined, ana)).toEqual([200, 200, 200, 429]);
  const inProduction = { ...ana, 'Parley-Environment': 'production' };
  expect(await statuses(1, undefined, inProduction)).toEqual([429]);
  expect(await statuses(3, undefined, ben)).toEqual([200, 200, 429]);
  // The setup has used one request of a key.
  expect(await statuses(3, await api.key({ tenant }))).toEqual([200, 200, 429]);
  expect(await statuses(2, await api.key({ tenant }))).toEqual([200, 429]);
  const other = await api.organization();
  const { headers } = await seedPerson(api.db.pool, { tenant: other, role: 'admin' });
  expect(await statuses(1, undefined, headers)).toEqual([404]);
});

test('a client that waits until retryAt is admitted', async () => {
  const { tenant } = await start({ perKey: 3, windowMs: 1_000 });
  for (let round = 0; round < 2; round += 1) {
    const key = await api.key({ tenant });
    const get = () => api.call('get', '/v1/data/order', key);
    // More than three requests when a busy machine lets a window pass in between.
    const { body } = await until(get, { isThere: ({ status }) => status === 429, everyMs: 0 });
    // wall clock: the time that the answer names is the subject.
    while (Date.now() < body.retryAt) await sleep(body.retryAt - Date.now());
    await api.call('get', '/v1/data/order', key).expect(200);
  }
});

test('without Redis, requests are admitted and counted as skipped', async () => {
  const { tenant } = await start({ perKey: 1 });
  const key = await api.key({ tenant });
  await Promise.all(connections.slice(-2).map(closeRedis));
  skipped = 0;
  for (let at = 0; at < 5; at += 1) await api.call('get', '/v1/data/order', key).expect(200);
  expect(skipped).toBe(5);
});
