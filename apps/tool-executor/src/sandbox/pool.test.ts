import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '@parley/testing';
import { type AcquiredProcess, type Pool, type PoolOptions, createPool } from './pool';
import type { SandboxProcess } from './start-process';

/** A pool of fake processes, which do nothing. */
function setUp(options: Partial<PoolOptions> = {}) {
  const made: (SandboxProcess & { exit(): void; isKilled: boolean })[] = [];
  const start = async (): Promise<SandboxProcess> => {
    const listeners: (() => void)[] = [];
    const one = {
      pid: made.length + 1,
      isLimited: true,
      isKilled: false,
      send: async () => undefined,
      listen: () => undefined,
      kill: () => {
        one.isKilled = true;
        one.exit();
      },
      exit: () => listeners.splice(0).forEach((listener) => listener()),
      onExit: (listener: () => void) => void listeners.push(listener),
    };
    made.push(one);
    return one;
  };
  const failures: unknown[] = [];
  const pool = createPool({
    start,
    min: 2,
    max: 3,
    maxQueue: 2,
    queueTimeoutMs: 150,
    onStartFailure: (error) => void failures.push(error),
    ...options,
  });
  return { pool, made, failures };
}

const settle = () => sleep(5);
let pool: Pool;
/** A process that the pool must have. */
async function take(options: Parameters<Pool['acquire']>[0] = {}): Promise<AcquiredProcess> {
  const acquired = await pool.acquire(options);
  if (typeof acquired === 'string') throw new Error(`Refused: ${acquired}`);
  return acquired;
}

afterEach(() => pool.close());

it('keeps processes warm and gives each to one call at a time', async () => {
  const set = setUp();
  pool = set.pool;
  await pool.warm();
  const [one, other] = [await take(), await take()];
  expect(one.process).not.toBe(other.process);
  let isServed = false;
  const third = take().then((acquired) => {
    isServed = true;
    return acquired;
  });
  await settle();
  expect(isServed).toBe(false);
  one.release();
  expect((await third).process).toBe(one.process);
});

it('refuses a call immediately when the queue is full, and later when it has waited too long', async () => {
  const set = setUp({ max: 2 });
  pool = set.pool;
  await pool.warm();
  await Promise.all([take(), take()]);
  const waiting = [pool.acquire(), pool.acquire()];
  expect(await pool.acquire()).toBe('busy');
  expect(pool.stats().waiting).toBe(2);
  expect(await Promise.all(waiting)).toEqual(['busy', 'busy']);
  expect(pool.stats().waiting).toBe(0);
});

it('grows up to its maximum when its processes are held, and not for short calls', async () => {
  const set = setUp({ queueTimeoutMs: 2000, maxQueue: 60 });
  pool = set.pool;
  await pool.warm();
  const busy = Array.from({ length: 40 }, async () => {
    const acquired = await take();
    await settle();
    acquired.release();
  });
  await Promise.all(busy);
  expect(set.made).toHaveLength(2);
  await Promise.all([take(), take()]);
  expect((await take({ key: 'other' })).process).toBe(set.made[2]);
  const beyond = pool.acquire();
  // wall clock: nothing shows that no further process is started.
  await sleep(300);
  expect(set.made).toHaveLength(3);
  pool.close();
  expect(await beyond).toBe('busy');
});

describe('organizations', () => {
  it('share the processes: one that holds all it may have leaves some to the others', async () => {
    const set = setUp({ min: 9, max: 9, maxQueue: 0 });
    pool = set.pool;
    await pool.warm();
    const held = Array.from({ length: 6 }, () => take({ key: 'a' }));
    await Promise.all(held);
    expect(await pool.acquire({ key: 'a' })).toBe('share');
    await Promise.all([take({ key: 'b' }), take()]);
  });

  it('share the queue: one that fills it is refused, and the calls of others still wait', async () => {
    const set = setUp({ min: 3, max: 3, maxQueue: 9, queueTimeoutMs: 2000 });
    pool = set.pool;
    const held = [await take({ key: 'a' }), await take({ key: 'a' }), await take({ key: 'b' })];
    const waiting = Array.from({ length: 6 }, () => pool.acquire({ key: 'a' }));
    expect(await pool.acquire({ key: 'a' })).toBe('share');
    const other = take({ key: 'c' });
    await settle();
    // The one that holds nothing is served before those that waited longer.
    held[2]!.release();
    (await other).release();
    pool.close();
    await Promise.all(waiting);
  });

  it('with slow calls leave a process to another at once, and get more while the pool grows', async () => {
    const set = setUp({ min: 4, max: 16, maxQueue: 256, queueTimeoutMs: 8_000 });
    pool = set.pool;
    await pool.warm();
    const flood = Array.from({ length: 100 }, () => pool.acquire({ key: 'a' }));
    const served: unknown[] = [];
    for (let call = 0; call < 20; call++) {
      const acquired = await take({ key: 'b' });
      served.push(acquired.process);
      acquired.release();
    }
    // The same process, which was never given away.
    expect(new Set(served).size).toBe(1);
    expect(set.made).toHaveLength(4);
    await until(() => Promise.resolve(set.made.length === 16));
    expect(pool.stats()).toMatchObject({ processes: 16, idle: 5 });
    pool.close();
    await Promise.all(flood);
  });
});

describe('nested calls', () => {
  const levels = { count: 3, processes: 1 };

  it('get a process when all are held by calls that wait for them', async () => {
    const set = setUp({ min: 1, max: 2, levels, queueTimeoutMs: 150 });
    pool = set.pool;
    await Promise.all([take(), take({ depth: 0 })]);
    const chain = [await take({ depth: 1 }), await take({ depth: 2 }), await take({ depth: 3 })];
    expect(set.made).toHaveLength(5);
    // Calls from outside do not get the additional processes.
    expect(await pool.acquire()).toBe('busy');
    chain[2]!.release();
    expect(await pool.acquire()).toBe('busy');
    expect((await take({ depth: 3 })).process).toBe(chain[2]!.process);
  });

  it('get one although calls from outside wait, and wait longer', async () => {
    const set = setUp({ min: 1, max: 1, levels, maxQueue: 1, queueTimeoutMs: 100 });
    pool = set.pool;
    await take();
    const outside = pool.acquire();
    const first = await take({ depth: 1 });
    const second = take({ depth: 1 });
    expect(await outside).toBe('busy');
    await sleep(100);
    first.release();
    expect((await second).process).toBe(first.process);
  });

  it('of an organization count towards its share', async () => {
    const set = setUp({ min: 3, max: 3, levels, maxQueue: 3, queueTimeoutMs: 1000 });
    pool = set.pool;
    await pool.warm();
    await take({ key: 'a' });
    // One in the share of the organization, one in the level.
    await Promise.all([take({ key: 'a', depth: 1 }), take({ key: 'a', depth: 1 })]);
    expect(await pool.acquire({ key: 'a' })).toBe('share');
    await take({ key: 'b' });
  });

  it('leave the queue when their caller aborts', async () => {
    const set = setUp({ min: 1, max: 1 });
    pool = set.pool;
    const held = await take();
    const caller = new AbortController();
    const nested = pool.acquire({ depth: 1, signal: caller.signal });
    expect(pool.stats().waiting).toBe(1);
    caller.abort();
    expect(await nested).toBe('busy');
    expect(await pool.acquire({ depth: 1, signal: caller.signal })).toBe('busy');
    held.release();
    expect(pool.stats()).toEqual({ processes: 1, idle: 1, waiting: 0 });
  });
});

it('replaces a process that ended or was discarded', async () => {
  const set = setUp();
  pool = set.pool;
  await pool.warm();
  (await take()).discard();
  set.made[0]!.exit();
  await settle();
  expect(set.made.filter(({ isKilled }) => isKilled)).toHaveLength(1);
  expect(set.made.length).toBeGreaterThanOrEqual(4);
  expect(pool.stats()).toMatchObject({ processes: 2, idle: 2 });
});

const timersThatKeepAlive = () =>
  process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

it('retries when a process does not start, reports it, and keeps the service alive until it does', async () => {
  const before = timersThatKeepAlive();
  let tries = 0;
  const set = setUp();
  set.pool.close();
  const failing = setUp({
    start: async () => {
      if (++tries < 3) throw new Error('no');
      return {
        pid: 1,
        isLimited: true,
        send: async () => undefined,
        listen: () => undefined,
        kill: () => undefined,
        onExit: () => undefined,
      };
    },
  });
  pool = failing.pool;
  await settle();
  // At the start of the service nothing else keeps it alive.
  expect(timersThatKeepAlive()).toBeGreaterThan(before);
  await pool.warm();
  expect(failing.failures.length).toBeGreaterThanOrEqual(2);
});

it('kills its processes when it is closed', async () => {
  const set = setUp();
  pool = set.pool;
  await pool.warm();
  pool.close();
  await settle();
  expect(set.made.every(({ isKilled }) => isKilled)).toBe(true);
  expect(set.made).toHaveLength(2);
  expect(await pool.acquire()).toBe('busy');
});
