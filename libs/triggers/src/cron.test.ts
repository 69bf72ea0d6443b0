import { cronProblem, lastTickMs, nextTickMs } from './cron';

test.each([
  '* * * * *',
  '0 9 * * 1-5',
  '*/15 2-4 1,15 jan-mar sun',
  '59 23 31 12 7',
  '  5  4 * * *  ',
  '5/10 * * * *',
])('accepts %s', (expression) => expect(cronProblem(expression)).toBeNull());

test.each([
  ['* * * *', 'must have 5 fields (minute hour day month weekday), not 4'],
  ['0 0 * * * *', 'must have 5 fields (minute hour day month weekday), not 6'],
  ['60 * * * *', 'has "60" as minute, which allows 0-59'],
  ['* 24 * * *', 'has "24" as hour, which allows 0-23'],
  ['* * 0 * *', 'has "0" as day of month, which allows 1-31'],
  ['* * * foo *', 'has "foo" as month, which allows 1-12'],
  ['0 9 * mon-fri *', 'has "mon-fri" as month, which allows 1-12'],
  ['0 9 * * jan', 'has "jan" as day of week, which allows 0-7'],
  ['* * * * 5-1', 'has "5-1" as day of week, whose range ends before it begins'],
  ['0 17-9 * * *', 'has "17-9" as hour, whose range ends before it begins'],
  ['* * * dec-jan *', 'has "dec-jan" as month, whose range ends before it begins'],
  ['70-60 * * * *', 'has "70-60" as minute, which allows 0-59'],
  ['*/0 * * * *', 'has "*/0" as minute, whose step must be 1-59'],
  ['* */99 * * *', 'has "*/99" as hour, whose step must be 1-23'],
  ['1,,2 * * * *', 'has "" as minute, which allows 0-59'],
])('refuses %s', (expression, problem) => expect(cronProblem(expression)).toBe(problem));

test.each(['@daily', '? * * * *', '* * L * *', '* * * * 1#2', '*/60 * * * *'])(
  'refuses %s, which other cron libraries accept',
  (expression) => expect(cronProblem(expression)).not.toBeNull(),
);

test.each(['0 0 31 2,4 *', '* * 31 2,4,6,9,11 *', '0 0 30 feb *'])(
  '%s is never due',
  (expression) => {
    const schedule = { expression, timezone: 'UTC' };
    expect([nextTickMs(schedule, 0), lastTickMs(schedule, 0)]).toEqual([null, null]);
  },
);

test('29 February is found over a century without one', () => {
  const schedule = { expression: '0 0 29 2 *', timezone: 'UTC' };
  expect(nextTickMs(schedule, Date.UTC(2096, 2))).toBe(Date.UTC(2104, 1, 29));
  expect(lastTickMs(schedule, Date.UTC(2104, 1))).toBe(Date.UTC(2096, 1, 29));
});

test('days of the month and of the week that are both limited are due on either', () => {
  const schedule = { expression: '0 0 13 * fri', timezone: 'UTC' };
  // Friday, 1 January 2027; Friday, 8 January; Wednesday, 13 January.
  expect(nextTickMs(schedule, Date.UTC(2027, 0, 1))).toBe(Date.UTC(2027, 0, 8));
  expect(nextTickMs(schedule, Date.UTC(2027, 0, 8))).toBe(Date.UTC(2027, 0, 13));
});

test.each(['0 0 29 2 *', '0 0 31 2,3 *', '0 0 31 2,4 1'])('%s is due some time', (expression) =>
  expect(nextTickMs({ expression, timezone: 'UTC' }, 0)).not.toBeNull(),
);
