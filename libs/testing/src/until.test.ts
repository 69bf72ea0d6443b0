import { until } from './until';

const limits = { limitMs: 20_000, everyMs: 1 };

test('until returns the first value that is not undefined, null or false, or that isThere accepts', async () => {
  const seen = [undefined, null, false, 0];
  expect(await until(() => seen.shift(), limits)).toBe(0);
  const numbers = [1, 2];
  expect(
    await until(async () => numbers.shift()!, { ...limits, isThere: (number) => number > 1 }),
  ).toBe(2);
});

test('the error after the time limit has the source of the look and the last value', async () => {
  const waiting = until(() => ({ left: 3 }), {
    limitMs: 20,
    everyMs: 1,
    isThere: ({ left }) => left === 0,
  });
  await expect(waiting).rejects.toThrow(
    /^Not within 20 ms: \(\)\s*=>\s*\(\{[^]*\nLast seen: \{ left: 3 \}$/,
  );
});

test('an error of the look is thrown immediately', async () => {
  const broken = until(() => {
    throw new Error('broken');
  });
  await expect(broken).rejects.toThrow('broken');
});
