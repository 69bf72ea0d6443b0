import { onRefusal } from '@parley/contracts';
import { createUnknownKeyLimit } from './unknown-keys';

/** A limit of three, a clock that tests set, and look-ups that end when a test says so. */
function limited() {
  let nowMs = 1;
  const limit = {
    unknownKeysPerMinute: 3,
    refusal: (_retryAtMs: number, kind: string) => new Error(`limited ${kind}`),
  };
  const lookUp = createUnknownKeyLimit('sessions', limit, () => nowMs);
  const open: ((found: string | null) => void)[] = [];
  const start = (address: string) =>
    lookUp(address, () => new Promise<string | null>((resolve) => void open.push(resolve)));
  const find = (address: string, found: string | null) => lookUp(address, async () => found);
  return { start, find, open, advance: (ms: number) => (nowMs += ms) };
}

it('refuses an address after its unknown keys, and no other', async () => {
  const { find, advance } = limited();
  const refusals: string[] = [];
  onRefusal((limit) => refusals.push(limit));
  for (let at = 0; at < 3; at += 1) expect(await find('a', null)).toBeNull();
  await expect(find('a', 'key')).rejects.toThrow('limited sessions');
  expect(refusals).toEqual(['too_many_unknown_sessions']);
  expect(await find('b', 'key')).toBe('key');
  advance(60_001);
  expect(await find('a', 'key')).toBe('key');
});

it('does not count keys that exist, and failed look-ups', async () => {
  const { find } = limited();
  for (let at = 0; at < 20; at += 1) expect(await find('a', `key ${at}`)).toBe(`key ${at}`);
  expect(await find('a', null)).toBeNull();
});

it('runs as many look-ups at the same time as could be unknown; the others wait and are not refused', async () => {
  const { start, open } = limited();
  const all = Array.from({ length: 6 }, () => start('a'));
  await Promise.resolve();
  expect(open).toHaveLength(3);
  const answers = Promise.all(all);
  for (let at = 0; at < 6; at += 1) {
    while (open.length <= at) await new Promise(setImmediate);
    open[at]!(`key ${at}`);
  }
  expect(await answers).toEqual(['key 0', 'key 1', 'key 2', 'key 3', 'key 4', 'key 5']);
});

it('refuses those that wait when the ones before them were unknown', async () => {
  const { start, open } = limited();
  const all = Array.from({ length: 6 }, () => start('a'));
  const settled = Promise.allSettled(all);
  await Promise.resolve();
  for (const end of open) end(null);
  expect((await settled).map(({ status }) => status)).toEqual([
    ...Array<string>(3).fill('fulfilled'),
    ...Array<string>(3).fill('rejected'),
  ]);
  expect(open).toHaveLength(3);
});
