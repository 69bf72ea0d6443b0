import { until } from './until';

const limits = { limitMs: 20_000, everyMs: 1 };

test('returns the first thing that is there, by the given rule if there is one', async () => {
  const seen = [undefined, null, false, 0];
  expect(await until(() => seen.shift(), limits)).toBe(0);
  const numbers = [1, 2];
  expect(await until(async () => numbers.shift()!, { ...limits, isThere: (number) => number > 1 })).toBe(2);
});

test('says what it waited for and what it saw last when the time is over', async () => {
  const waiting = until(() => ({ left: 3 }), { limitMs: 20, everyMs: 1, isThere: ({ left }) => left === 0 });
  await expect(waiting).rejects.toThrow(/^Not within 20 ms: \(\)\s*=>\s*\(\{[^]*\nLast seen: \{ left: 3 \}$/);
});

test('passes on an error of the look at once', async () => {
  const broken = until(() => {
    throw new Error('gone');
  });
  await expect(broken).rejects.toThrow('gone');
});
