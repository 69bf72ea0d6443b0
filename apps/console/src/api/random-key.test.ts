import { randomKey } from './random-key';

test('a key is 128 random bits as hex digits, on pages without HTTPS too', () => {
  const keys = Array.from({ length: 2_000 }, randomKey);
  expect(keys.filter((key) => !/^[0-9a-f]{32}$/.test(key))).toEqual([]);
  expect(new Set(keys).size).toBe(keys.length);
  // A byte below 16 is written with two digits.
  expect(keys.some((key) => key.startsWith('0'))).toBe(true);
});
