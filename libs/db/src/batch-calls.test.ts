import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '@parley/testing';
import { type BatchOptions, batchCalls } from './batch-calls';

/** Calls of `work`, each of which ends when the test says so. */
function startBatches(options?: BatchOptions<number>) {
  const begun: { items: readonly number[]; end: () => void }[] = [];
  const call = batchCalls(async (items: readonly number[]) => {
    await new Promise<void>((resolve) => begun.push({ items, end: resolve }));
    return items.map((item) => item * 10);
  }, options);
  const begunAfterATurn = async () => {
    await sleep(0);
    return begun.map(({ items }) => items);
  };
  return { begun, call, begunAfterATurn };
}

it('processes the calls of one turn together, and those that arrive meanwhile with the next one', async () => {
  const { begun, call, begunAfterATurn } = startBatches({ lanes: 1, largest: 3 });
  const results = Promise.all([1, 2].map(call));
  expect(await begunAfterATurn()).toEqual([[1, 2]]);
  const later = Promise.all([3, 4, 5, 6].map(call));
  expect(await begunAfterATurn()).toEqual([[1, 2]]);
  begun[0]!.end();
  expect(await results).toEqual([10, 20]);
  expect(await begunAfterATurn()).toEqual([
    [1, 2],
    [3, 4, 5],
  ]);
  begun[1]!.end();
  expect(await begunAfterATurn()).toEqual([[1, 2], [3, 4, 5], [6]]);
  begun[2]!.end();
  expect(await later).toEqual([30, 40, 50, 60]);
});

it('begins one more batch when all take too long', async () => {
  const { begun, call, begunAfterATurn } = startBatches({ lanes: 1, patienceMs: 20 });
  const first = call(1);
  await begunAfterATurn();
  const second = call(2);
  await until(() => begun.length === 2, { everyMs: 5 });
  begun[1]!.end();
  expect(await second).toBe(20);
  begun[0]!.end();
  expect(await first).toBe(10);
});

it('processes items of different keys in different batches, at the same time', async () => {
  const { begun, call, begunAfterATurn } = startBatches({
    keyOf: (item) => Number(item) % 2,
    lanes: 1,
  });
  const results = Promise.all([1, 2, 3, 4].map(call));
  expect(await begunAfterATurn()).toEqual([
    [1, 3],
    [2, 4],
  ]);
  for (const { end } of begun) end();
  expect(await results).toEqual([10, 20, 30, 40]);
});

it('processes each item alone when a batch fails, so that only the one at fault fails', async () => {
  const batches: (readonly number[])[] = [];
  const call = batchCalls(async (items: readonly number[]) => {
    batches.push(items);
    if (items.includes(2)) throw new Error('two');
    return items.map((item) => item * 10);
  });
  expect(await Promise.allSettled([1, 2, 3].map(call))).toMatchObject([
    { value: 10 },
    { reason: new Error('two') },
    { value: 30 },
  ]);
  expect(batches).toEqual([[1, 2, 3], [1], [2], [3]]);
});

it.each([
  ['PostgreSQL is unavailable', 'ECONNREFUSED', {}],
  ['they fail together', '57014', { failsTogether: true }],
])('does not try the items alone when %s', async (_when, code, options) => {
  let calls = 0;
  const call = batchCalls(async () => {
    calls += 1;
    throw Object.assign(new Error('failed'), { code });
  }, options);
  expect((await Promise.allSettled([1, 2, 3].map(call))).map(({ status }) => status)).toEqual(
    Array(3).fill('rejected'),
  );
  expect(calls).toBe(1);
});

it('begins at once with the first call, and processes those that arrive meanwhile together', async () => {
  const batches: number[][] = [];
  const call = batchCalls(
    async (items: readonly number[]) => {
      batches.push([...items]);
      await sleep(0);
      return items;
    },
    { lanes: 1, startsAtOnce: true },
  );
  const first = call(1);
  expect(batches).toEqual([[1]]);
  expect(await Promise.all([first, call(2), call(3)])).toEqual([1, 2, 3]);
  expect(batches).toEqual([[1], [2, 3]]);
});
