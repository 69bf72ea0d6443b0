import { CronExpressionParser } from 'cron-parser';
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

const took = (work: () => void) => {
  const startedMs = performance.now();
  work();
  return performance.now() - startedMs;
};

test.each(['0 0 31 2,4 *', '* * 31 2,4,6,9,11 *'])(
  '%s is never due, without a search',
  (expression) => {
    const schedule = { expression, timezone: 'UTC' };
    const searchMs = took(() =>
      expect(() => CronExpressionParser.parse(expression).next()).toThrow(),
    );
    const answersMs = took(() => {
      for (let n = 0; n < 10; n += 1)
        expect([nextTickMs(schedule, 0), lastTickMs(schedule, 0)]).toEqual([null, null]);
    });
    // wall clock: a search takes seconds, and an answer without one microseconds.
    expect(answersMs).toBeLessThan(searchMs);
  },
);

test.each(['0 0 29 2 *', '0 0 31 2,3 *', '0 0 31 2,4 1'])('%s is due some time', (expression) =>
  expect(nextTickMs({ expression, timezone: 'UTC' }, 0)).not.toBeNull(),
);
