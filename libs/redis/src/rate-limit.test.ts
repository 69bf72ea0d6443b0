import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { startRedis } from '@parley/embedded';
import { type TestRedis, createTestRedis, until } from '@parley/testing';
import {
  type RateLimiter,
  type RateLimiterOptions,
  type RateLimits,
  createRateLimiter,
} from './rate-limit';
import { type RedisConnection, closeRedis, connectRedis, waitForRedis } from './connect-redis';

/**
 * Far longer than an answer takes on a busy machine: a request that is admitted without an
 * answer is not counted.
 */
const deadlineMs = 600_000;

let server: TestRedis;
const closing: (() => unknown)[] = [];
beforeAll(async () => {
  server = await createTestRedis();
});
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function connect(url = server.url): Promise<RedisConnection> {
  const redis = connectRedis({ url, role: 'limiter', timeouts: { socketTimeout: deadlineMs } });
  closing.push(() => closeRedis(redis));
  await waitForRedis(redis, 30_000);
  return redis;
}

function limiterOn(
  redis: RedisConnection,
  options: Omit<RateLimiterOptions, 'redis'> = {},
): RateLimiter {
  const made = createRateLimiter({ redis, deadlineMs, ...options });
  closing.push(() => made.close());
  return made;
}

/** A limiter with its own connection and its own memory, like a limiter in another process. */
async function limiter(limits: Partial<RateLimits> = {}): Promise<RateLimiter> {
  return limiterOn(await connect(), { limits });
}

let sequence = 0;
const newKey = (organizationId = `org${(sequence += 1)}`) => ({
  id: `key${(sequence += 1)}`,
  organizationId,
});

async function burst(
  limiters: RateLimiter[],
  keys: { id: string; organizationId: string }[],
  count: number,
) {
  const decisions = await Promise.all(
    Array.from({ length: count }, (_, at) =>
      limiters[at % limiters.length]!.admit(keys[at % keys.length]!),
    ),
  );
  return { admitted: decisions.filter((at) => at === 0).length, decisions };
}

test('exactly 60 requests of an API key and 200 of an organization are admitted over several connections', async () => {
  const limiters = await Promise.all([limiter(), limiter(), limiter(), limiter()]);
  const one = newKey();
  expect((await burst(limiters, [one], 2_000)).admitted).toBe(60);
  expect((await burst(limiters, [one], 2_000)).admitted).toBe(0);

  const organization = 'shared';
  const keys = Array.from({ length: 7 }, () => newKey(organization));
  expect((await burst(limiters, keys, 4_000)).admitted).toBe(200);
  expect((await burst(limiters, [newKey(organization)], 10)).admitted).toBe(0);
  expect((await burst(limiters, [newKey()], 10)).admitted).toBe(10);
});

test('exactly 200 requests of an organization are admitted over several processes', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'limiter-'));
  closing.push(() => rmSync(folder, { recursive: true }));
  const root = resolve(__dirname, '../../..');
  const program = join(folder, 'burst.ts');
  writeFileSync(
    program,
    `import { createRateLimiter } from '${__dirname}/rate-limit';
     import { connectRedis, waitForRedis } from '${__dirname}/connect-redis';
     void (async () => {
       const redis = connectRedis({ url: process.argv[2]!, role: 'limiter', timeouts: { socketTimeout: ${deadlineMs} } });
       await waitForRedis(redis, 30000);
       const limiter = createRateLimiter({ redis, deadlineMs: ${deadlineMs} });
       const decisions = await Promise.all(Array.from({ length: 2500 }, (_, at) => limiter.admit({ id: 'p' + (at % 5), organizationId: 'processes' })));
       // A number may be printed in color.
       console.log(String(decisions.filter((at) => at === 0).length));
       redis.disconnect();
     })();`,
  );
  const bundle = join(folder, 'burst.cjs');
  execFileSync(join(root, 'node_modules/.bin/esbuild'), [
    program,
    '--bundle',
    '--platform=node',
    `--outfile=${bundle}`,
    '--log-level=error',
    `--alias:ioredis=${join(root, 'node_modules/ioredis')}`,
  ]);
  const runs = await Promise.all(
    Array.from({ length: 4 }, () => promisify(execFile)(process.execPath, [bundle, server.url])),
  );
  expect(runs.reduce((sum, { stdout }) => sum + Number(stdout), 0)).toBe(200);
}, 60_000);

test('no window contains more requests than the limit, wherever it begins', async () => {
  const windowMs = 600;
  const limits = { perKey: 5, perOrganization: 8, windowMs };
  const redis = await connect();
  const limiters = await Promise.all([limiter(limits), limiter(limits)]);
  const keys = [newKey('sliding'), newKey('sliding'), newKey('sliding')];
  const admitted: { at: number; key: number }[] = [];
  const most = (times: number[]) =>
    Math.max(
      0,
      ...times.map((from) => times.filter((at) => at >= from && at < from + windowMs).length),
    );
  const mostOfAll = () => most(admitted.map(({ at }) => at));
  // A busy machine may take longer than a window for as many requests as it may contain.
  for (let index = 0; admitted.length < 4 * 8 || mostOfAll() < 8; index += 1) {
    const key = index % keys.length;
    // The limiter records the time of its decision, by the clock of Redis.
    if ((await limiters[index % 2]!.admit(keys[key]!)) === 0)
      admitted.push({ at: Number(await redis.lindex('rate:{sliding}', 0)), key });
    await sleep(0);
  }
  expect(mostOfAll()).toBe(8);
  for (const key of keys.keys()) {
    expect(most(admitted.filter((one) => one.key === key).map(({ at }) => at))).toBeLessThanOrEqual(
      5,
    );
  }
});

test('refused requests do not count', async () => {
  const redis = await connect();
  const limiters = [await limiter({ perKey: 3 }), await limiter({ perKey: 3 })];
  const key = newKey();
  expect((await burst(limiters, [key], 3)).admitted).toBe(3);
  const counted = () => redis.lrange(`rate:{${key.organizationId}}:key:${key.id}`, 0, -1);
  const before = await counted();
  expect((await burst(limiters, [key], 50)).admitted).toBe(0);
  expect(await counted()).toEqual(before);
});

test('a request at retryAt is admitted, by the limiter that refused and by another', async () => {
  const windowMs = 1_000;
  const limits = { perKey: 3, windowMs };
  const [refusing, other] = [await limiter(limits), await limiter(limits)];
  for (const waiting of [refusing, other]) {
    const key = newKey();
    const askedAtMs = Date.now();
    // More than three when a busy machine lets a window pass in between.
    const retryAtMs = await until(() => refusing.admit(key), {
      isThere: (decision) => decision > 0,
      everyMs: 0,
    });
    expect(retryAtMs).toBeGreaterThan(askedAtMs);
    expect(retryAtMs).toBeLessThanOrEqual(Date.now() + windowMs + 2);
    // wall clock: the time that the answer names is the subject.
    while (Date.now() < retryAtMs) await sleep(retryAtMs - Date.now());
    expect(await waiting.admit(key)).toBe(0);
  }
});

test('by default a window is a minute', async () => {
  const made = await limiter({ perKey: 1 });
  const key = newKey();
  const askedAtMs = Date.now();
  expect(await made.admit(key)).toBe(0);
  const retryAtMs = await made.admit(key);
  expect(retryAtMs).toBeGreaterThan(askedAtMs + 60_000);
  expect(retryAtMs).toBeLessThanOrEqual(Date.now() + 60_002);
});

test('an API key that is known to be blocked is refused without asking Redis', async () => {
  const made = await limiter({ perKey: 1 });
  const key = newKey();
  expect(await made.admit(key)).toBe(0);
  const refusal = made.admit(key);
  expect(typeof refusal).toBe('object');
  const retryAtMs = await refusal;
  expect(made.admit(key)).toBe(retryAtMs);
});

test('the lists in Redis are bounded and expire', async () => {
  const redis = await connect();
  const made = await limiter({ perKey: 4, perOrganization: 6 });
  const keys = [newKey('bounded'), newKey('bounded')];
  await burst([made], keys, 500);
  const names = await redis.keys('rate:{bounded}*');
  expect(names.sort()).toEqual(
    ['rate:{bounded}', ...keys.map(({ id }) => `rate:{bounded}:key:${id}`)].sort(),
  );
  expect(await redis.llen('rate:{bounded}')).toBe(6);
  for (const name of names) {
    const leftMs = await redis.pttl(name);
    expect(leftMs).toBeGreaterThan(0);
    expect(leftMs).toBeLessThanOrEqual(60_001);
  }
});

test('after the clock was set back, the limits hold and requests are refused for little longer', async () => {
  const redis = await connect();
  const made = await limiter({ perKey: 2 });
  const key = newKey();
  const log = `rate:{${key.organizationId}}:key:${key.id}`;
  const aheadMs = Date.now() + 30_000;
  await redis.lpush(log, aheadMs, aheadMs);
  const retryAtMs = await made.admit(key);
  expect(retryAtMs).toBeGreaterThanOrEqual(aheadMs + 60_000);
  expect(retryAtMs).toBeLessThanOrEqual(Date.now() + 30_000 + 60_002);

  const lost = newKey();
  const farMs = Date.now() + 3_600_000;
  await redis.lpush(`rate:{${lost.organizationId}}:key:${lost.id}`, farMs, farMs);
  expect(await made.admit(lost)).toBe(0);
});

test('a high limit is as exact as a low one, for a busy key over several processes', async () => {
  const limits = { perKey: 640, perOrganization: 10_000 };
  const redis = await connect();
  const limiters = await Promise.all([limiter(limits), limiter(limits)]);
  const key = newKey();
  const listed = () => redis.llen(`rate:{${key.organizationId}}:key:${key.id}`);
  for (let index = 0; index < 100; index += 1)
    expect(await limiters[index % 2]!.admit(key)).toBe(0);
  expect(await listed()).toBe(100);
  expect((await burst(limiters, [key], 700)).admitted).toBe(540);
});

test('a person in two organizations is counted and refused in each', async () => {
  const redis = await connect();
  const made = await limiter({ perKey: 1, perOrganization: 1 });
  const [here, there] = [newKey(), newKey()].map((key) => ({ ...key, id: 'person' }));
  expect(await made.admit(here!)).toBe(0);
  expect(await made.admit(here!)).toBeGreaterThan(Date.now());
  expect(await made.admit(there!)).toBe(0);
  expect(await redis.llen(`rate:{${there!.organizationId}}:key:person`)).toBe(1);
});

describe('while Redis is unavailable', () => {
  test('after it is killed, requests are admitted immediately and counted; after its restart, the limits hold', async () => {
    const first = await startRedis({ ephemeral: true });
    const redis = await connect(first.url);
    let skipped = 0;
    const made = limiterOn(redis, { onSkip: () => (skipped += 1) });
    expect((await burst([made], [newKey()], 100)).admitted).toBe(60);

    const running = burst([made], [newKey()], 500);
    process.kill(first.pid, 'SIGKILL');
    const { decisions } = await running;
    expect(decisions).toHaveLength(500);
    await until(() => redis.status !== 'ready');
    const before = skipped;
    expect(Array.from({ length: 1_000 }, () => made.admit(newKey()))).toEqual(Array(1_000).fill(0));
    expect(skipped - before).toBe(1_000);

    await first.stop();
    const second = await startRedis({ ephemeral: true, port: first.port });
    closing.push(() => second.stop());
    expect(second.port).toBe(first.port);
    await waitForRedis(redis, 30_000);
    expect((await burst([made], [newKey()], 500)).admitted).toBe(60);
  });

  test('by default, requests are admitted after 250 ms of silence and then immediately; after it, the limits hold', async () => {
    const silent = await startRedis({ ephemeral: true });
    closing.push(() => silent.stop());
    let skipped = 0;
    const made = limiterOn(await connect(silent.url), {
      deadlineMs: undefined,
      onSkip: () => (skipped += 1),
    });
    const isAnswered = async () => {
      const before = skipped;
      await made.admit(newKey());
      return skipped === before;
    };
    await until(isAnswered);

    process.kill(silent.pid, 'SIGSTOP');
    skipped = 0;
    const startedAt = performance.now();
    expect((await burst([made], [newKey()], 300)).admitted).toBe(300);
    // Two timers of 125 ms, each of which may be a millisecond early.
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(248);
    expect(made.admit(newKey())).toBe(0);
    expect(skipped).toBe(301);

    process.kill(silent.pid, 'SIGCONT');
    await until(isAnswered);
    skipped = 0;
    const { admitted } = await burst([made], [newKey()], 500);
    // Those that a busy machine answers after the deadline again are not counted in time.
    expect(admitted - skipped).toBeLessThanOrEqual(60);
  });

  test('a connection that stays silent is replaced', async () => {
    const silent = await startRedis({ ephemeral: true });
    closing.push(() => silent.stop());
    const redis = connectRedis({ url: silent.url, role: 'limiter' });
    closing.push(() => closeRedis(redis));
    await waitForRedis(redis, 30_000);
    const replaced = new Promise((resolve) => redis.once('close', resolve));
    process.kill(silent.pid, 'SIGSTOP');
    // Long before the deadline.
    expect(await limiterOn(redis).admit(newKey())).toBe(0);
    await replaced;
    process.kill(silent.pid, 'SIGCONT');
    await waitForRedis(redis, 30_000);
  });

  test('during a pause of Redis below the deadline no more requests are admitted than the limit', async () => {
    const pausing = await startRedis({ ephemeral: true });
    closing.push(() => pausing.stop());
    let skipped = 0;
    const made = limiterOn(await connect(pausing.url), { onSkip: () => (skipped += 1) });
    process.kill(pausing.pid, 'SIGSTOP');
    const pending = burst([made], [newKey()], 100);
    // wall clock: a pause that is longer than the default deadline and shorter than this one.
    await sleep(600);
    process.kill(pausing.pid, 'SIGCONT');
    expect((await pending).admitted).toBe(60);
    expect(skipped).toBe(0);
  });

  test('a delay of the process itself does not count as silence of Redis', async () => {
    let skipped = 0;
    const options = { deadlineMs: 1_000, onSkip: () => (skipped += 1) };
    const limiters = [limiterOn(await connect(), options), limiterOn(await connect(), options)];
    const pending = burst(limiters, [newKey()], 400);
    // Longer than the deadline, while Redis answers.
    const untilMs = performance.now() + 1_600;
    while (performance.now() < untilMs);
    expect((await pending).admitted).toBe(60);
    expect(skipped).toBe(0);
  });
});
