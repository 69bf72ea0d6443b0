import type { Json } from '@parley/contracts';
import { isCalendarDay } from '@parley/entities';

/**
 * The time that a value names, in Unix milliseconds; null when it names none. A number, or a text of at least ten digits, is
 * Unix milliseconds. A date without `Z` or an offset is read in `timezone`. A date without a time means midnight.
 */
export function parseInstantMs(value: Json, timezone: string): number | null {
  if (typeof value === 'number') return isInstant(value) ? value : null;
  if (typeof value !== 'string') return null;
  const text = value.trim();
  if (/^\d{10,}$/.test(text)) return isInstant(Number(text)) ? Number(text) : null;
  const parts =
    /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)\s*(Z|[+-]\d{2}:?\d{2})?)?$/i.exec(
      text,
    );
  if (parts === null) return null;
  const [, day, time = '00:00', offset] = parts;
  const asUtc = Date.parse(`${day}T${time}${offset ?? 'Z'}`);
  if (Number.isNaN(asUtc) || !isCalendarDay(text)) return null;
  return offset === undefined ? localToUtc(asUtc, timezone) : asUtc;
}

const isInstant = (value: number): boolean => Number.isFinite(value) && Math.abs(value) <= 8.64e15;

/** Returns the instant of the local time `asUtc` in the zone. Looks up the offset twice, because it may change in between. */
function localToUtc(asUtc: number, timezone: string): number {
  const first = asUtc - offsetMs(asUtc, timezone);
  return asUtc - offsetMs(first, timezone);
}

function offsetMs(instant: number, timezone: string): number {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: timezone,
    timeZoneName: 'longOffset',
  });
  const name =
    format.formatToParts(new Date(instant)).find(({ type }) => type === 'timeZoneName')?.value ??
    '';
  const [, sign, hours, minutes] = /GMT([+-])(\d{2}):(\d{2})/.exec(name) ?? [];
  return sign === undefined
    ? 0
    : (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
}
