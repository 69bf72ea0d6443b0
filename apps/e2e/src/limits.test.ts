import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ageRequests } from '@parley/testing';
import { catalog } from './catalog';
import { type Client, createClient, push } from './client';
import type { Answer } from './conformance';
import { startOwnStack } from './stack';
import { type Tenant, createTenant } from './tenant';

/** A stack with the default limits; the shared stack has higher ones. */
let stack: Awaited<ReturnType<typeof startOwnStack>>;
let tenant: Tenant;
beforeAll(async () => {
  stack = await startOwnStack({ services: ['data', 'gateway'] });
});
beforeEach(async () => {
  tenant = await createTenant(stack);
  const admin = await tenant.client({ permissions: ['sync'] });
  await push(admin, catalog);
});
afterEach(() => tenant.close());
afterAll(() => stack?.stop());

const burst = (client: Client, count: number): Promise<Answer[]> =>
  Promise.all(Array.from({ length: count }, () => client.get('/v1/data/product?limit=1')));
const admitted = (answers: Answer[]) => answers.filter(({ status }) => status === 200).length;

it('admits exactly 60 requests of a key in a minute', async () => {
  const client = await tenant.client({ permissions: ['data'] });
  const answers = await burst(client, 75);
  expect(admitted(answers)).toBe(60);
  const refused = answers.filter(({ status }) => status === 429);
  expect(refused).toHaveLength(15);
  for (const { headers, body } of refused) {
    expect(body).toMatchObject({
      error: 'Rate limit exceeded',
      code: 'rate_limited',
      retryAt: expect.any(Number),
    });
    expect(body.retryAt).toBeGreaterThan(Date.now());
    expect(body.retryAt).toBeLessThanOrEqual(Date.now() + 60_500);
    const seconds = Number(headers.get('retry-after'));
    expect(Number.isInteger(seconds) && seconds >= 1 && seconds <= 61).toBe(true);
  }
});

it('counts every Data API endpoint, and only those', async () => {
  const client = await tenant.client();
  await burst(client, 60);
  const calls: [string, string, unknown][] = [
    ['GET', '/v1/entity-types', undefined],
    ['GET', '/v1/data/product/none', undefined],
    ['GET', '/v1/data/product/none/relations', undefined],
    ['POST', '/v1/data/product', { data: {} }],
    ['POST', '/v1/data/product/query', {}],
    ['POST', '/v1/data/product/search', { query: 'x' }],
    ['PATCH', '/v1/data/product/none', { data: {} }],
    ['DELETE', '/v1/data/product/none', undefined],
  ];
  for (const [method, path, body] of calls) {
    expect([path, (await client.send(method, path, body)).status]).toEqual([path, 429]);
  }
  expect((await client.post('/v1/sync/state', {})).status).toBe(200);
});

it('admits 200 requests of an organization in a minute over all its keys, without effect on other organizations', async () => {
  const clients = await Promise.all(
    Array.from({ length: 5 }, () => tenant.client({ permissions: ['data'] })),
  );
  const answers = (await Promise.all(clients.map((client) => burst(client, 50)))).flat();
  expect(admitted(answers)).toBe(200);
  const other = await createTenant(stack);
  const theirs = await other.client();
  await push(theirs, catalog);
  expect(admitted(await burst(theirs, 10))).toBe(10);
  await other.close();
});

it('admits a client that waits until retryAt', async () => {
  const client = await tenant.client({ permissions: ['data'] });
  expect(admitted(await burst(client, 60))).toBe(60);
  await ageRequests(stack.redisUrl, tenant.organizationId, 55_000);
  const startedAt = Date.now();
  const refused = await client.get('/v1/data/product');
  expect(refused.status).toBe(429);
  expect(refused.body.retryAt).toBeGreaterThan(startedAt);
  // wall clock: the time that the answer names is the subject.
  await sleep(refused.body.retryAt - Date.now());
  expect((await client.get('/v1/data/product')).status).toBe(200);
});

/**
 * The last test: afterwards keys that the services do not know yet are refused from this machine.
 */
it('looks up at most 30 unknown keys of an address in a minute, whatever address the client claims', async () => {
  const inUse = await tenant.client({ permissions: ['data'] });
  expect((await inUse.get('/v1/entity-types')).status).toBe(200);
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, at) =>
      createClient(stack.url, `sk_dev_${randomBytes(32).toString('base64url')}`).get(
        '/v1/entity-types',
        {
          'X-Forwarded-For': `203.0.113.${at}`,
        },
      ),
    ),
  );
  expect(answers.filter(({ status }) => status === 401)).toHaveLength(30);
  const refused = answers.filter(({ status }) => status === 429);
  expect(refused).toHaveLength(30);
  for (const { headers, body } of refused) {
    expect(body.code).toBe('too_many_unknown_keys');
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  }
  expect((await inUse.get('/v1/entity-types')).status).toBe(200);
});
