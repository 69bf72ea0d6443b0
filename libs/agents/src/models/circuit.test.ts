import { createCircuits } from './circuit';

it('opens after failures in a row, lets one probe through, and closes when it succeeds', () => {
  let now = 0;
  const circuits = createCircuits(() => now);
  const fail = (times: number) => {
    for (let n = 0; n < times; n += 1) circuits.failed('a');
  };
  fail(7);
  circuits.succeeded('a');
  fail(7);
  expect(circuits.allows('a')).toBe(true);
  fail(1);
  expect(circuits.allows('a')).toBe(false);
  expect(circuits.allows('b')).toBe(true);
  now = 5_001;
  expect([circuits.allows('a'), circuits.allows('a')]).toEqual([true, false]);
  fail(1);
  now += 9_999;
  expect(circuits.allows('a')).toBe(false);
  now += 2;
  expect(circuits.allows('a')).toBe(true);
  circuits.succeeded('a');
  expect([circuits.allows('a'), circuits.allows('a')]).toEqual([true, true]);
});
