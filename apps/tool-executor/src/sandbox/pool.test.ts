import { setTimeout as sleep } from 'node:timers/promises';
import { type Pool, type PoolOptions, createPool } from './pool';
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
      send: () => undefined,
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
afterEach(() => pool.close());

it('keeps processes warm and gives each to one call at a time', async () => {
  const set = setUp();
  pool = set.pool;
  await pool.warm();
  const [one, other] = [await pool.acquire(), await pool.acquire()];
  expect(one!.process).not.toBe(other!.process);
  let isServed = false;
  const third = pool.acquire().then((acquired) => {
    isServed = true;
    return acquired;
  });
  await settle();
  expect(isServed).toBe(false);
  one!.release();
  expect((await third)!.process).toBe(one!.process);
});

it('refuses a call immediately when the queue is full, and later when it has waited too long', async () => {
  const set = setUp({ max: 2 });
  pool = set.pool;
  await pool.warm();
  await Promise.all([pool.acquire(), pool.acquire()]);
  const waiting = [pool.acquire(), pool.acquire()];
  const startedAt = performance.now();
  expect(await pool.acquire()).toBeNull();
  expect(performance.now() - startedAt).toBeLessThan(100);
  expect(await Promise.all(waiting)).toEqual([null, null]);
  expect(pool.stats().waiting).toBe(0);
});

it('grows up to its maximum when its processes are held, and not for short calls', async () => {
  const set = setUp({ queueTimeoutMs: 2000, maxQueue: 10 });
  pool = set.pool;
  await pool.warm();
  const busy = Array.from({ length: 40 }, async () => {
    const acquired = await pool.acquire();
    await settle();
    acquired?.release();
  });
  await Promise.all(busy);
  expect(set.made).toHaveLength(2);
  await Promise.all([pool.acquire(), pool.acquire()]);
  expect((await pool.acquire())!.process).toBe(set.made[2]);
  const beyond = pool.acquire();
  await sleep(300);
  expect(set.made).toHaveLength(3);
  pool.close();
  expect(await beyond).toBeNull();
});

describe('nested calls', () => {
  it('get a process when all are held by calls that wait for them', async () => {
    const set = setUp({ min: 1, max: 2, perLevel: 1, queueTimeoutMs: 150 });
    pool = set.pool;
    await Promise.all([pool.acquire(), pool.acquire({ depth: 0 })]);
    const chain = [
      await pool.acquire({ depth: 1 }),
      await pool.acquire({ depth: 2 }),
      await pool.acquire({ depth: 3 }),
    ];
    expect(chain.every(Boolean)).toBe(true);
    expect(set.made).toHaveLength(5);
    // Calls from outside do not get the additional processes.
    expect(await pool.acquire()).toBeNull();
    chain[2]!.release();
    expect(await pool.acquire()).toBeNull();
    expect((await pool.acquire({ depth: 3 }))!.process).toBe(chain[2]!.process);
  });

  it('go before calls from outside, the deepest first, and wait longer', async () => {
    const set = setUp({ min: 1, max: 1, perLevel: 0, maxQueue: 1, queueTimeoutMs: 100 });
    pool = set.pool;
    const held = await pool.acquire();
    const order: string[] = [];
    const wait = async (name: string, depth: number): Promise<void> => {
      const acquired = await pool.acquire({ depth });
      order.push(acquired === null ? `${name} refused` : name);
      acquired?.release();
    };
    const all = [wait('outside', 0), wait('first', 1), wait('deep', 3), wait('second', 1)];
    await sleep(200);
    expect(order).toEqual(['outside refused']);
    all.push(wait('late', 0));
    held!.release();
    await Promise.all(all);
    expect(order).toEqual(['outside refused', 'deep', 'first', 'second', 'late']);
  });

  it('leave the queue when their caller aborts', async () => {
    const set = setUp({ min: 1, max: 1, perLevel: 0 });
    pool = set.pool;
    const held = await pool.acquire();
    const caller = new AbortController();
    const nested = pool.acquire({ depth: 1, signal: caller.signal });
    expect(pool.stats().waiting).toBe(1);
    caller.abort();
    expect(await nested).toBeNull();
    expect(await pool.acquire({ depth: 1, signal: caller.signal })).toBeNull();
    held!.release();
    expect(pool.stats()).toEqual({ processes: 1, idle: 1, waiting: 0 });
  });
});

it('replaces a process that ended or was discarded', async () => {
  const set = setUp();
  pool = set.pool;
  await pool.warm();
  (await pool.acquire())!.discard();
  set.made[0]!.exit();
  await settle();
  expect(set.made.filter(({ isKilled }) => isKilled)).toHaveLength(1);
  expect(set.made.length).toBeGreaterThanOrEqual(4);
  expect(pool.stats()).toMatchObject({ processes: 2, idle: 2 });
});

const timersThatKeepAlive = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

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
        send: () => undefined,
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
  expect(await pool.acquire()).toBeNull();
});
