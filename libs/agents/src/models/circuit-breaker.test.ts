import { createCircuitBreakers } from './circuit-breaker';

it('opens after consecutive failures, allows one test call, and closes when it succeeds', () => {
  let now = 0;
  const breakers = createCircuitBreakers(() => now);
  const fail = (times: number) => {
    for (let n = 0; n < times; n += 1) breakers.failed('a');
  };
  fail(7);
  breakers.succeeded('a');
  fail(7);
  expect(breakers.allows('a')).toBe(true);
  fail(1);
  expect(breakers.allows('a')).toBe(false);
  expect(breakers.allows('b')).toBe(true);
  now = 5_001;
  expect([breakers.allows('a'), breakers.allows('a')]).toEqual([true, false]);
  fail(1);
  now += 9_999;
  expect(breakers.allows('a')).toBe(false);
  now += 2;
  expect(breakers.allows('a')).toBe(true);
  breakers.succeeded('a');
  expect([breakers.allows('a'), breakers.allows('a')]).toEqual([true, true]);
});
