import { createSlots } from './slots';

const never = new AbortController().signal;
const takeAll = (slots: ReturnType<typeof createSlots>, key: string) => {
  const taken: (() => void)[] = [];
  for (let slot = slots.tryAcquire(key); slot !== null; slot = slots.tryAcquire(key))
    taken.push(slot);
  return taken;
};

it('leaves slots for other keys, however many a key asks for', () => {
  const slots = createSlots({ total: 24 });
  expect(takeAll(slots, 'a')).toHaveLength(16);
  expect(takeAll(slots, 'b').length).toBeGreaterThanOrEqual(5);
  expect(slots.tryAcquire('c')).not.toBeNull();
});

it('gives the whole of a single slot to one key at a time', () => {
  const slots = createSlots({ total: 1 });
  const release = slots.tryAcquire('a');
  expect(slots.tryAcquire('b')).toBeNull();
  release?.();
  release?.();
  expect(slots.tryAcquire('b')).not.toBeNull();
  expect(slots.stats()).toEqual({ running: 1, waiting: 0 });
});

it('serves the waiting key with the least work first, and the calls of a key in their order', async () => {
  const slots = createSlots({ total: 4 });
  const [first, second] = takeAll(slots, 'a');
  const others = takeAll(slots, 'b');
  const order: string[] = [];
  const wait = async (key: string, name: string) => {
    const release = await slots.acquire(key, never, 10_000);
    order.push(name);
    release!();
  };
  const waits = [wait('a', 'a1'), wait('a', 'a2'), wait('c', 'c1')];
  first!();
  second!();
  for (const release of others) release();
  await Promise.all(waits);
  expect(order[0]).toBe('c1');
  expect(order.indexOf('a1')).toBeLessThan(order.indexOf('a2'));
});

it('gives waiting keys with equally much work turns', async () => {
  const slots = createSlots({ total: 1 });
  const order: string[] = [];
  const first = slots.tryAcquire('a')!;
  const wait = async (key: string) => {
    const release = await slots.acquire(key, never, 10_000);
    order.push(key);
    release!();
  };
  const waits = ['a', 'a', 'a', 'b', 'c'].map(wait);
  first();
  await Promise.all(waits);
  expect(order.slice(0, 3).sort()).toEqual(['a', 'b', 'c']);
});

it('ends a wait after its time or when the signal is aborted, and forgets the key', async () => {
  const slots = createSlots({ perKey: 1 });
  const release = slots.tryAcquire('a');
  expect(await slots.acquire('a', never, 5)).toBeNull();
  expect(await slots.acquire('a', AbortSignal.abort(), 10_000)).toBeNull();
  expect(await slots.acquire('a', never, 0)).toBeNull();
  release!();
  expect(slots.stats()).toEqual({ running: 0, waiting: 0 });
  expect(slots.tryAcquire('a')).not.toBeNull();
});

it('counts a call by its size, and leaves room for the calls of other keys', async () => {
  const slots = createSlots({ total: 48 });
  const first = slots.tryAcquire('a', 14);
  const second = slots.tryAcquire('a', 14);
  expect([first, second]).not.toContain(null);
  expect(slots.tryAcquire('a', 14)).toBeNull();
  const other = slots.tryAcquire('b', 14);
  expect(other).not.toBeNull();
  const third = slots.acquire('a', never, 60_000, 14);
  other!();
  expect(slots.stats()).toEqual({ running: 28, waiting: 1 });
  first!();
  expect(await third).not.toBeNull();
  expect(slots.stats()).toEqual({ running: 28, waiting: 0 });
});

it('serves waiting keys when the total grows, and none while more are in use than a smaller total', async () => {
  const slots = createSlots({ total: 0 });
  const first = slots.acquire('a', never, 60_000);
  slots.resize(2);
  const release = await first;
  const other = slots.tryAcquire('b');
  slots.resize(1);
  release?.();
  expect(slots.tryAcquire('a')).toBeNull();
  other?.();
  expect(slots.tryAcquire('a')).not.toBeNull();
});
