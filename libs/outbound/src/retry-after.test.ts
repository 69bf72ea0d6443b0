import { readRetryAfter } from './retry-after';

const nowMs = Date.parse('2026-01-01T00:00:00Z');

it.each([
  ['7', 7_000],
  ['0.5', 500],
  ['0', 0],
  ['Thu, 01 Jan 2026 00:00:03 GMT', 3_000],
  ['Thu, 01 Jan 2020 00:00:00 GMT', 0],
  ['soon', null],
  ['', null],
  [undefined, null],
  [['1', '2'], null],
])('reads a wait of %j as %j ms', (header, waitMs) => {
  expect(readRetryAfter(header, nowMs)).toBe(waitMs);
});
