import {
  type ZonePeriod,
  dayMs,
  instantAfterGap,
  instantsIn,
  localTimeOf,
  periodsAround,
} from '@parley/contracts';

/** A cron expression of five fields and the time zone in which it is read. */
export interface Schedule {
  expression: string;
  timezone: string;
}

interface FieldSyntax {
  name: string;
  min: number;
  max: number;
  /** The names of the values, in their order, from `firstName`. */
  names?: readonly string[];
  firstName?: number;
}

const months = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
const weekdays = 'sun mon tue wed thu fri sat'.split(' ');

const syntax: readonly FieldSyntax[] = [
  { name: 'minute', min: 0, max: 59 },
  { name: 'hour', min: 0, max: 23 },
  { name: 'day of month', min: 1, max: 31 },
  { name: 'month', min: 1, max: 12, names: months, firstName: 1 },
  // Both 0 and 7 are Sunday.
  { name: 'day of week', min: 0, max: 7, names: weekdays, firstName: 0 },
];

/** `*`, `5`, `jan` or a range such as `1-5`, each with an optional step such as `/15`. */
const itemSyntax =
  /^(?:(?<all>\*)|(?<from>\d{1,2}|[a-z]{3})(?:-(?<to>\d{1,2}|[a-z]{3}))?)(?:\/(?<step>\d{1,4}))?$/i;

type Item = { ok: true; values: number[] } | { ok: false; problem: string };

/** The values of one item of a field, or what is wrong with it. */
function readItem(item: string, field: FieldSyntax): Item {
  const { min, max } = field;
  const refused: Item = { ok: false, problem: `which allows ${min}-${max}` };
  const groups = itemSyntax.exec(item)?.groups;
  if (groups === undefined) return refused;
  const { all, from = '', to, step = '1' } = groups;
  const first = all === undefined ? valueOf(from, field) : min;
  const last = lastOf({ all, to, hasStep: groups.step !== undefined, first, field });
  if (first === null || last === null) return refused;
  if (Number(step) < 1 || Number(step) > max)
    return { ok: false, problem: `whose step must be 1-${max}` };
  if (last < first) return { ok: false, problem: 'whose range ends before it begins' };
  const values: number[] = [];
  for (let value = first; value <= last; value += Number(step)) values.push(value);
  return { ok: true, values };
}

/** The last value of an item: a step without a range, such as `5/10`, goes on to the end. */
function lastOf(item: {
  all?: string;
  to?: string;
  hasStep: boolean;
  first: number | null;
  field: FieldSyntax;
}): number | null {
  if (item.to !== undefined) return valueOf(item.to, item.field);
  if (item.all !== undefined || item.hasStep) return item.field.max;
  return item.first;
}

/** The value of a number or a name; null when the field does not allow it. */
function valueOf(text: string, { min, max, names, firstName = 0 }: FieldSyntax): number | null {
  if (/^\d+$/.test(text)) {
    const value = Number(text);
    return value >= min && value <= max ? value : null;
  }
  const at = names?.indexOf(text.toLowerCase()) ?? -1;
  return at === -1 ? null : firstName + at;
}

type Fields = { ok: true; texts: string[]; values: number[][] } | { ok: false; problem: string };

/** The texts and the values of the five fields, or what is wrong with them. */
function readFields(expression: string): Fields {
  const texts = expression.trim().split(/\s+/);
  if (texts.length !== syntax.length) {
    const problem = `must have 5 fields (minute hour day month weekday), not ${texts.length}`;
    return { ok: false, problem };
  }
  const values: number[][] = [];
  for (const [index, field] of syntax.entries()) {
    const ofField: number[] = [];
    for (const text of texts[index]!.split(',')) {
      const item = readItem(text, field);
      if (!item.ok)
        return { ok: false, problem: `has "${text}" as ${field.name}, ${item.problem}` };
      ofField.push(...item.values);
    }
    values.push(ofField);
  }
  return { ok: true, texts, values };
}

/**
 * Why this is not a cron expression of five fields (docs/reference/triggers.md#schedules);
 * null when it is one.
 */
export function cronProblem(expression: string): string | null {
  const fields = readFields(expression);
  return fields.ok ? null : fields.problem;
}

/** A parsed expression. */
interface Cron {
  /** The times of a day, in milliseconds from midnight, in order. */
  timesMs: number[];
  daysOfMonth: Set<number>;
  months: Set<number>;
  /** 0 is Sunday. */
  daysOfWeek: Set<number>;
  /** Days of the month and of the week that are both limited match when one of them does. */
  eitherDay: boolean;
  /** `*` and steps of minutes or hours run in both hours when the clock is moved back. */
  repeats: boolean;
  /**
   * Times that the clock skips run right after the change, unless the next hour has a
   * time of its own.
   */
  catchesUp: boolean;
}

/** Returns null for an expression that `cronProblem` refuses. */
function parse(expression: string): Cron | null {
  const fields = readFields(expression);
  if (!fields.ok) return null;
  const [minutes, hours, daysOfMonth, monthNumbers, daysOfWeek] = fields.values;
  const [minuteText, hourText, dayText, , weekdayText] = fields.texts;
  const times = hours!.flatMap((hour) => minutes!.map((minute) => (hour * 60 + minute) * 60_000));
  return {
    timesMs: [...new Set(times)].sort((a, b) => a - b),
    daysOfMonth: new Set(daysOfMonth),
    months: new Set(monthNumbers),
    daysOfWeek: new Set(daysOfWeek!.map((day) => day % 7)),
    eitherDay: dayText !== '*' && weekdayText !== '*',
    repeats: minuteText!.includes('*') || hourText!.includes('*'),
    catchesUp: hourText !== '*',
  };
}

/**
 * The first time after `afterMs` at which a schedule is due, in Unix milliseconds; null
 * when there is none.
 */
export const nextTickMs = (schedule: Schedule, afterMs: number): number | null =>
  findTick(schedule, afterMs, 'next');

/**
 * The last time up to and including `untilMs` at which a schedule was due, in Unix milliseconds;
 * null when there is none.
 */
export const lastTickMs = (schedule: Schedule, untilMs: number): number | null =>
  findTick(schedule, untilMs, 'last');

/** 29 February, which does not occur in 1900 or 2100, occurs at least once in this time. */
const searchedDays = 8 * 366 + 2;

function findTick(
  { expression, timezone }: Schedule,
  fromMs: number,
  direction: 'next' | 'last',
): number | null {
  const cron = parse(expression);
  if (cron === null) return null;
  const step = direction === 'next' ? 1 : -1;
  const today = Math.floor(localTimeOf(fromMs, timezone) / dayMs);
  const closest = direction === 'next' ? firstAfter : lastUntil;
  // A clock that is moved back at midnight repeats a part of the day before: two days are compared.
  let before = closest(ticksOf(cron, today - step, timezone), fromMs);
  for (let offset = 0; offset <= searchedDays; offset += 1) {
    const onDay = closest(ticksOf(cron, today + step * offset, timezone), fromMs);
    if (before !== null && onDay !== null) return closest([before, onDay], fromMs);
    if (before !== null) return before;
    before = onDay;
  }
  return null;
}

function firstAfter(ticks: readonly number[], afterMs: number): number | null {
  let found: number | null = null;
  for (const tick of ticks) {
    if (tick > afterMs && (found === null || tick < found)) found = tick;
  }
  return found;
}

function lastUntil(ticks: readonly number[], untilMs: number): number | null {
  let found: number | null = null;
  for (const tick of ticks) {
    if (tick <= untilMs && (found === null || tick > found)) found = tick;
  }
  return found;
}

/**
 * The instants at which the schedule is due on a local day, which is counted from 1 January 1970.
 */
function ticksOf(cron: Cron, day: number, timezone: string): number[] {
  if (!matchesDay(cron, day)) return [];
  const startMs = day * dayMs;
  const periods = periodsAround(startMs, timezone, startMs + dayMs);
  const [only] = periods;
  if (periods.length === 1) return cron.timesMs.map((timeMs) => startMs + timeMs - only!.offsetMs);
  return cron.timesMs.flatMap((timeMs) => ticksAt(cron, startMs + timeMs, periods));
}

function ticksAt(cron: Cron, localMs: number, periods: readonly ZonePeriod[]): number[] {
  const instants = instantsIn(periods, localMs);
  if (instants.length === 0) return cron.catchesUp ? [instantAfterGap(periods, localMs)] : [];
  return cron.repeats ? instants : [instants[0]!];
}

function matchesDay(cron: Cron, day: number): boolean {
  const date = new Date(day * dayMs);
  if (!cron.months.has(date.getUTCMonth() + 1)) return false;
  const matchesMonth = cron.daysOfMonth.has(date.getUTCDate());
  const matchesWeek = cron.daysOfWeek.has(date.getUTCDay());
  return cron.eitherDay ? matchesMonth || matchesWeek : matchesMonth && matchesWeek;
}
