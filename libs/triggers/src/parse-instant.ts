import { type Json, instantOf } from '@parley/contracts';
import { isCalendarDay } from '@parley/entities';

/**
 * The time that a value names, in Unix milliseconds; null when it names none. A number, or a text
 * of at least ten digits, is Unix milliseconds. A date without `Z` or an offset is read in
 * `timezone`; a time that a change of the clock skips is the first one after it. A date without a
 * time means midnight.
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
  return offset === undefined ? instantOf(asUtc, timezone) : asUtc;
}

const isInstant = (value: number): boolean => Number.isFinite(value) && Math.abs(value) <= 8.64e15;
