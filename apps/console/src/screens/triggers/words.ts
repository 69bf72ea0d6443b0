import { formatOfDay } from '../../formats';
import type { Language } from '../../language';
import type { TriggerTexts } from './texts';

/**
 * What starts a trigger, as it was pushed (docs/reference/definitions.md#trigger). The API answers
 * with any object.
 */
export interface TriggerStart {
  entityType?: string;
  action?: 'created' | 'updated' | 'deleted';
  condition?: Record<string, unknown>;
  schedule?: string;
  timezone?: string;
}

/** What starts a trigger, in words. */
export function startInWords(on: TriggerStart, texts: TriggerTexts, language: Language): string {
  if (on.schedule !== undefined) {
    const words = cronInWords(on.schedule, texts, language) ?? texts.cron.expression(on.schedule);
    return on.timezone === undefined ? words : `${words} (${on.timezone})`;
  }
  const change = texts.on[on.action ?? 'updated'](on.entityType ?? '');
  const conditions = Object.entries(on.condition ?? {}).flatMap(([field, value]) =>
    conditionInWords(field, value, texts),
  );
  return conditions.length === 0 ? change : `${change}, ${texts.where(conditions)}`;
}

const signs: Record<string, string> = {
  $eq: '=',
  $ne: '≠',
  $neq: '≠',
  $gt: '>',
  $gte: '≥',
  $lt: '<',
  $lte: '≤',
};

const shown = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value);

function conditionInWords(field: string, value: unknown, texts: TriggerTexts): string[] {
  const isPrevious = /^previous(Data\.|Status$)/.test(field);
  const path = field === 'previousStatus' ? 'status' : field.replace(/^(data|previousData)\./, '');
  const name = isPrevious ? texts.before(path) : path;
  const isOperators =
    typeof value === 'object' &&
    value !== null &&
    Object.keys(value).length > 0 &&
    Object.keys(value).every((key) => key.startsWith('$'));
  if (!isOperators) return [`${name} = ${shown(value)}`];
  return Object.entries(value).map(([operator, operand]) => {
    if (operator === '$exists') return operand === true ? texts.exists(name) : texts.isAbsent(name);
    const sign =
      signs[operator] ?? texts.operators[operator as keyof typeof texts.operators] ?? operator;
    return `${name} ${sign} ${Array.isArray(operand) ? operand.map(shown).join(', ') : shown(operand)}`;
  });
}

const dayNames = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const monthNames = [
  'jan',
  'feb',
  'mar',
  'apr',
  'may',
  'jun',
  'jul',
  'aug',
  'sep',
  'oct',
  'nov',
  'dec',
];

/** The usual cron expressions in words; null for all others. */
function cronInWords(expression: string, texts: TriggerTexts, language: Language): string | null {
  const [minute = '', hour = '', day = '', month = '', weekday = ''] = expression
    .trim()
    .toLowerCase()
    .split(/\s+/);
  const days = daysInWords(day, month, weekday, texts, language);
  const times = timesInWords(minute, hour, texts);
  if (days === null || times === null) return null;
  const { text, isTime } = times;
  if (days === '') return isTime ? texts.cron.everyDay(text) : text;
  return isTime ? texts.cron.at(days, text) : texts.cron.both(days, text);
}

const whole = (text: string): number | null => (/^\d+$/.test(text) ? Number(text) : null);
// A step counts only if it divides the whole: `*/45` is the minutes 0 and 45, which are not always
// 45 minutes apart.
function step(text: string, of: number): number | null {
  const every = whole(/^\*\/(\d+)$/.exec(text)?.[1] ?? '');
  return every !== null && of % every === 0 ? every : null;
}
const clock = (hour: number, minute: number): string =>
  `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`;

function timesInWords(
  minute: string,
  hour: string,
  { cron }: TriggerTexts,
): { text: string; isTime: boolean } | null {
  const everyMinutes = minute === '*' ? 1 : step(minute, 60);
  const range = /^(\d+)-(\d+)$/.exec(hour);
  if (everyMinutes !== null) {
    const text = cron.everyMinutes(everyMinutes);
    if (hour === '*') return { text, isTime: false };
    if (range === null) return null;
    return {
      text: cron.between(text, clock(Number(range[1]), 0), clock(Number(range[2]), 59)),
      isTime: false,
    };
  }
  const at = whole(minute);
  if (at === null) return null;
  const everyHours = hour === '*' ? 1 : step(hour, 24);
  if (everyHours !== null)
    return { text: cron.everyHours(everyHours, clock(0, at).slice(3)), isTime: false };
  const hours = hour.split(',').map(whole);
  return hours.some((one) => one === null)
    ? null
    : { text: hours.map((one) => clock(one!, at)).join(', '), isTime: true };
}

function daysInWords(
  day: string,
  month: string,
  weekday: string,
  { cron }: TriggerTexts,
  language: Language,
): string | null {
  if (day === '*' && month === '*' && weekday === '*') return '';
  if (weekday !== '*') {
    if (day !== '*' || month !== '*') return null;
    const [from, to, more] = weekday.split('-');
    const nameOf = (text: string) => {
      const index = dayNames.indexOf(text) >= 0 ? dayNames.indexOf(text) : whole(text);
      // 4 January 1970 was a Sunday.
      return index === null || index > 7
        ? null
        : formatOfDay(language, { weekday: 'long' }, Date.UTC(1970, 0, 4 + index));
    };
    const names = to === undefined ? weekday.split(',').map(nameOf) : [nameOf(from!), nameOf(to)];
    if (more !== undefined || names.some((name) => name === null)) return null;
    return to === undefined ? cron.weekdays(names.join(', ')) : cron.fromTo(names[0]!, names[1]!);
  }
  const dates = day.split(',').map(whole);
  if (dates.some((date) => date === null)) return null;
  if (month === '*') return cron.daysOfMonth(dates.join(', '));
  const index =
    monthNames.indexOf(month) >= 0 ? monthNames.indexOf(month) : (whole(month) ?? 0) - 1;
  if (index < 0 || dates.length > 1) return null;
  return cron.date(
    formatOfDay(language, { day: 'numeric', month: 'long' }, Date.UTC(1972, index, dates[0]!)),
  );
}
