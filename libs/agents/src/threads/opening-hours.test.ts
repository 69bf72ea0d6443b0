import { isOpen } from './opening-hours';

const weekdays = { days: ['mon', 'tue', 'wed', 'thu', 'fri'] as const, from: '09:00', to: '18:00' };
const night = { days: ['sat'] as const, from: '22:00', to: '02:00' };

test.each([
  ['2026-11-23T12:00:00Z', true], // Monday, 09:00 in Santiago
  ['2026-11-23T11:59:59Z', false],
  ['2026-11-23T20:59:00Z', true],
  ['2026-11-23T21:00:00Z', false],
  ['2026-11-22T15:00:00Z', false], // Sunday
  ['2026-11-22T01:30:00Z', true], // Saturday, 22:30
  ['2026-11-22T04:59:00Z', true], // Sunday, 01:59
  ['2026-11-22T05:00:00Z', false],
])('%s: %s', (at, expected) => {
  const hours = [weekdays, night].map(({ days, ...rest }) => ({ days: [...days], ...rest }));
  expect(isOpen(hours, 'America/Santiago', new Date(at))).toBe(expected);
});

test('without opening hours people answer always', () => {
  expect(isOpen([], 'UTC', new Date())).toBe(true);
});
