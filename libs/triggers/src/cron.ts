import { CronExpressionParser, type CronFieldCollection } from 'cron-parser';

/** A cron expression of five fields and the time zone in which it is read. */
export interface Schedule {
  expression: string;
  timezone: string;
}

const fields = [
  { name: 'minute', min: 0, max: 59 },
  { name: 'hour', min: 0, max: 23 },
  { name: 'day of month', min: 1, max: 31 },
  { name: 'month', min: 1, max: 12, names: 'jan feb mar apr may jun jul aug sep oct nov dec' },
  // Both 0 and 7 are Sunday.
  { name: 'day of week', min: 0, max: 7, names: 'sun mon tue wed thu fri sat' },
];

/** `*`, `5`, `jan` or a range such as `1-5`, each with an optional step such as `/15`. cron-parser accepts more, such as `L`. */
const itemSyntax = /^(?:\*|(?:\d{1,2}|[a-z]{3})(?:-(?:\d{1,2}|[a-z]{3}))?)(?:\/(?<step>\d+))?$/i;

/** Why this is not a cron expression of five fields (docs/reference/triggers.md#schedules); null when it is one. */
export function cronProblem(expression: string): string | null {
  const parts = fieldsOf(expression);
  if (parts.length !== fields.length) {
    return `must have 5 fields (minute hour day month weekday), not ${parts.length}`;
  }
  for (const [index, { name, min, max, names = '' }] of fields.entries()) {
    const faultOf = (item: string): string | null => {
      const match = itemSyntax.exec(item);
      const allowed = `which allows ${min}-${max}`;
      // cron-parser reads names of weekdays as months and vice versa.
      if (
        match === null ||
        item.match(/[a-z]+/gi)?.some((word) => !names.includes(word.toLowerCase()))
      )
        return allowed;
      const step = Number(match.groups!.step ?? 1);
      if (step < 1 || step > max) return `whose step must be 1-${max}`;
      try {
        CronExpressionParser.parse(fields.map((_, at) => (at === index ? item : '*')).join(' '));
        return null;
      } catch (error) {
        return (error as Error).message.startsWith('Invalid range')
          ? 'whose range ends before it begins'
          : allowed;
      }
    };
    for (const item of parts[index]!.split(',')) {
      const fault = faultOf(item);
      if (fault !== null) return `has "${item}" as ${name}, ${fault}`;
    }
  }
  return null;
}

/** The first time after `afterMs` at which a schedule is due, in Unix milliseconds; null when there is none. */
export const nextTickMs = (schedule: Schedule, afterMs: number): number | null =>
  tickMs(schedule, afterMs, 'next');

/** The last time up to and including `untilMs` at which a schedule was due, in Unix milliseconds; null when there is none. */
export const lastTickMs = (schedule: Schedule, untilMs: number): number | null =>
  tickMs(schedule, untilMs + 1, 'prev');

function tickMs(
  { expression, timezone }: Schedule,
  fromMs: number,
  direction: 'next' | 'prev',
): number | null {
  // With six fields cron-parser takes the first one for seconds.
  if (fieldsOf(expression).length !== fields.length) return null;
  return orNull(() => {
    const cron = CronExpressionParser.parse(expression, {
      tz: timezone,
      currentDate: new Date(fromMs),
    });
    return neverOccurs(cron.fields) ? null : cron[direction]().getTime();
  });
}

const daysOfMonths = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Whether none of the months has one of the days. cron-parser would search 10,000 days for one, which takes 60 to 300 ms. */
const neverOccurs = ({ dayOfMonth, month, dayOfWeek }: CronFieldCollection): boolean =>
  dayOfWeek.isWildcard &&
  Math.min(...dayOfMonth.values.map(Number)) >
    Math.max(...month.values.map((number) => daysOfMonths[number - 1]!));

const fieldsOf = (expression: string): string[] => expression.trim().split(/\s+/);

/** cron-parser throws when it cannot parse the expression, and when it finds no time. */
function orNull<T>(compute: () => T): T | null {
  try {
    return compute();
  } catch {
    return null;
  }
}
