import { type Language, currentLanguage } from './language';
import { type Texts, commonCatalog } from './texts/common';

/** A format of the current language, which is made once. `kind` names its options. */
const formats = new Map<string, unknown>();
function cached<F>(kind: string, make: (language: Language) => F): F {
  const key = `${currentLanguage()} ${kind}`;
  if (!formats.has(key)) formats.set(key, make(currentLanguage()));
  return formats.get(key) as F;
}
const number = (kind: string, value: number, options?: Intl.NumberFormatOptions): string =>
  cached(`number ${kind}`, (language) => new Intl.NumberFormat(language, options)).format(value);
const date = (kind: string, at: number, options: Intl.DateTimeFormatOptions): string =>
  cached(`date ${kind}`, (language) => new Intl.DateTimeFormat(language, options)).format(at);

export const formatNumber = (value: number): string => number('', value);
/** An amount in cents of a currency that is not known. */
export const formatCents = (cents: number): string =>
  number('cents', cents / 100, { minimumFractionDigits: 2, maximumFractionDigits: 2 });
/** With all decimals, as values of data show it. */
export const formatDecimal = (value: number): string =>
  number('decimal', value, { maximumFractionDigits: 20 });
export const formatCompact = (value: number): string =>
  number('compact', value, { notation: 'compact', maximumFractionDigits: 1 });
/** Such as "list, read and create". */
export const formatList = (items: readonly string[]): string =>
  cached('list', (language) => new Intl.ListFormat(language)).format(items);
/**
 * A sum of money. What payments contain is not checked: a currency that does not exist
 * is shown as it is.
 */
export function formatMoney(amount: unknown, currency: unknown): string {
  if (typeof amount !== 'number') return commonCatalog[currentLanguage()].states.noValue;
  const code = String(currency ?? '');
  if (!/^[A-Z]{3}$/.test(code)) return `${formatNumber(amount)} ${code}`.trim();
  return number(`money ${code}`, amount, { style: 'currency', currency: code });
}
export const formatTime = (at: number): string =>
  date('time', at, { hour: '2-digit', minute: '2-digit' });
export const formatDay = (at: number): string =>
  date('day', at, { weekday: 'short', day: 'numeric', month: 'short' });
/** A part of a day that has no time zone, such as the name of its weekday. */
export const formatOfDay = (
  language: Language,
  parts: Intl.DateTimeFormatOptions,
  utc: number,
): string => new Intl.DateTimeFormat(language, { ...parts, timeZone: 'UTC' }).format(utc);
/** With the year, as values of data show it. */
export const formatDate = (at: number): string => date('date', at, { dateStyle: 'medium' });
export const formatDateTime = (at: number): string =>
  date('date time', at, { dateStyle: 'medium', timeStyle: 'short' });
/** With seconds and zone, as titles show it. */
export const formatExact = (at: number): string =>
  date('exact', at, { dateStyle: 'medium', timeStyle: 'long' });

const steps = [
  [60_000, 1_000, 'second'],
  [3_600_000, 60_000, 'minute'],
  [86_400_000, 3_600_000, 'hour'],
  [30 * 86_400_000, 86_400_000, 'day'],
] as const;
/** Such as "2 min. ago"; a date after 30 days. */
export function formatAgo(at: number, nowMs = Date.now()): string {
  const agoMs = nowMs - at;
  const step = steps.find(([belowMs]) => Math.abs(agoMs) < belowMs);
  if (step === undefined) return formatDate(at);
  return cached(
    'ago',
    (language) => new Intl.RelativeTimeFormat(language, { style: 'narrow', numeric: 'auto' }),
  ).format(-Math.trunc(agoMs / step[1]), step[2]);
}

/**
 * The length of a wait in its largest unit, such as "9 min", "21 h" and "3 days"; less than a
 * minute is "1 min".
 */
export function formatSpan(ms: number): string {
  const [value, unit] =
    ms < 3_600_000
      ? [Math.max(1, ms / 60_000), 'minute']
      : ms < 86_400_000
        ? [ms / 3_600_000, 'hour']
        : [ms / 86_400_000, 'day'];
  const options = {
    style: 'unit',
    unit,
    unitDisplay: 'short',
    maximumFractionDigits: 0,
    roundingMode: 'trunc',
  };
  return number(unit, value, options as Intl.NumberFormatOptions);
}

/** Such as "340 kB" and "9.8 MB". */
export function formatBytes(bytes: number): string {
  const [value, unit] =
    bytes < 1_000_000 ? [bytes / 1_000, 'kilobyte'] : [bytes / 1_000_000, 'megabyte'];
  return number(unit, value, { style: 'unit', unit, maximumFractionDigits: 1 });
}

/** Such as "320 ms", "1.8 s" and "3 min 12 s". */
export function formatDuration(ms: number | null, texts: Texts): string {
  if (ms === null) return texts.states.noValue;
  if (ms < 1_000) return texts.units.ms(String(Math.floor(ms)));
  if (ms < 60_000) return texts.units.seconds(number('seconds', Math.floor(ms / 100) / 10));
  const minutes = Math.floor(ms / 60_000);
  return minutes < 120
    ? `${minutes} min ${Math.floor((ms % 60_000) / 1_000)} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
