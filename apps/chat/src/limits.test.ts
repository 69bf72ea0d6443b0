import { onRefusal } from '@parley/contracts';
import { type Db, createDb } from '@parley/db';
import {
  type RedisConnection,
  closeRedis,
  connectRedis,
  createRateLimiter,
  waitForRedis,
} from '@parley/redis';
import { type TestRuntime, startRuntime } from '@parley/runtime/testing';
import {
  type ModelServer,
  createTestRedis,
  openTestDatabase,
  seedOrganization,
  startModelServer,
  until,
} from '@parley/testing';
import { type ChatUnderTest, startChat } from './chat-under-test';

let db: Db;
let models: ModelServer;
let runtime: TestRuntime;
let redisUrl: string;
const refusals: string[] = [];
const processes: ChatUnderTest[] = [];
const connections: RedisConnection[] = [];
let skipped = 0;

beforeAll(async () => {
  db = await openTestDatabase(createDb, { poolSize: 8 });
  models = await startModelServer();
  redisUrl = (await createTestRedis()).url;
  runtime = startRuntime(db, { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: models.urls.openai });
  onRefusal((limit) => void refusals.push(limit));
});
afterAll(async () => {
  for (const process of processes) await process.close();
  await runtime.close();
  await models.stop();
  await Promise.all(connections.map(closeRedis));
  await db.close();
});

async function connect(): Promise<RedisConnection> {
  const redis = connectRedis({ url: redisUrl, role: 'limiter' });
  connections.push(redis);
  await waitForRedis(redis, 5_000);
  return redis;
}

/** Starts a process of the service. */
async function start(options: {
  limits?: Parameters<typeof createRateLimiter>[0]['limits'];
  maxTurns?: number;
}) {
  const redis = await connect();
  const limiter = createRateLimiter({
    redis,
    name: 'chat-rate',
    limits: options.limits,
    onSkip: () => (skipped += 1),
  });
  const process = await startChat({ db, runtime, limiter, maxTurns: options.maxTurns });
  processes.push(process);
  return async (key: string, body: object, path = '/v1/agents/clerk/chat') => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
    const response = await fetch(process.url + path, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    return {
      status: response.status,
      retryAfter: response.headers.get('retry-after'),
      body: (await response.json()) as { code?: string; error?: string; retryAt?: number },
    };
  };
}
const organization = () => seedOrganization(db.pool, { agents: [{ slug: 'clerk' }] });
const hi = { message: 'Hi' };

it('refuses what an organization asks for at the same time beyond its share, and answers another organization', async () => {
  const post = await start({ maxTurns: 6 });
  const [busy, other] = [await organization(), await organization()];
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  let held = 0;
  models.play(async ({ messages }) => {
    if (messages.at(-1)!.text !== 'slow') return { text: 'ok' };
    held += 1;
    await released;
    return { text: 'at last' };
  });
  // All on one thread: those that wait for the first one count, too.
  const slow = Array.from({ length: 4 }, () =>
    post(busy.key, { message: 'slow', externalThreadId: 'one' }),
  );
  await until(async () => held === 1);
  await until(async () => (await post(busy.key, hi)).status === 429);
  for (const [path, body] of [
    ['/v1/agents/clerk/chat', hi],
    ['/v1/chat', { ...hi, agentId: busy.agentIds.clerk }],
    ['/v1/run-tool', { toolName: 'entity.query', args: { type: 'order' } }],
    ['/v1/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list' }],
  ] as const) {
    const answer = await post(busy.key, body, path);
    expect(answer).toMatchObject({
      status: 429,
      retryAfter: '1',
      body: { code: 'too_many_turns' },
    });
  }
  expect(refusals).toContain('too_many_turns');
  for (let n = 0; n < 3; n += 1) expect((await post(other.key, hi)).status).toBe(200);
  release();
  for (const answer of await Promise.all(slow)) expect(answer.status).toBe(200);
  expect((await post(busy.key, hi)).status).toBe(200);
});

it('limits the chat requests of a key and of an organization in a minute, over all processes', async () => {
  models.play(() => ({ text: 'ok' }));
  const limits = { perKey: 3, perOrganization: 5 };
  const processes = [await start({ limits }), await start({ limits })] as const;
  const { key, scope } = await organization();
  for (let n = 0; n < 3; n += 1) expect((await processes[n % 2]!(key, hi)).status).toBe(200);
  for (const post of processes) {
    const { status, retryAfter, body } = await post(key, hi);
    expect({ status, code: body.code }).toEqual({ status: 429, code: 'rate_limited' });
    expect(body.retryAt! - Date.now()).toBeGreaterThan(0);
    expect(Number(retryAfter)).toBeGreaterThan(0);
  }
  const { rowCount } = await db.pool.query('select from executions where tenant = $1', [
    scope.tenant,
  ]);
  expect(rowCount).toBe(3);
  // The utilities do not count.
  expect(
    (await processes[0](key, { jsonrpc: '2.0', id: 1, method: 'ping' }, '/v1/mcp')).status,
  ).toBe(200);
  expect((await processes[0]((await organization()).key, hi)).status).toBe(200);
});

it('counts apart from the Data API', async () => {
  const post = await start({ limits: { perKey: 1 } });
  const { key, scope } = await organization();
  const data = createRateLimiter({
    redis: await connect(),
    limits: { perKey: 1, perOrganization: 1 },
  });
  expect(await data.admit({ id: 'key', organizationId: scope.organizationId })).toBe(0);
  expect((await post(key, hi)).status).toBe(200);
  expect((await post(key, hi)).status).toBe(429);
  data.close();
});

it('admits and counts requests while Redis is unavailable', async () => {
  const post = await start({ limits: { perKey: 1 } });
  const { key } = await organization();
  await closeRedis(connections.at(-1)!);
  skipped = 0;
  for (let n = 0; n < 3; n += 1) expect((await post(key, hi)).status).toBe(200);
  expect(skipped).toBe(3);
});
