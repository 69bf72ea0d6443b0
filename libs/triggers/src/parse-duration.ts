import { dayMs } from '@parley/contracts';

const unitsMs: Record<string, number> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: dayMs,
  w: 7 * dayMs,
};

/** A duration whose whole days are kept apart, because a day of a time zone has 23 to 25 hours. */
export interface Duration {
  days: number;
  ms: number;
}

/**
 * Parses a duration such as `1500`, `"1500"`, `"30s"`, `"1h30m"` or `"-2d"`. Whole days and weeks
 * are days. Returns null if it is invalid.
 */
export function parseDuration(value: number | string): Duration | null {
  if (typeof value === 'number') return Number.isFinite(value) ? { days: 0, ms: value } : null;
  const [, sign, text] = /^\s*([+-]?)\s*(\S.*?)\s*$/.exec(value) ?? [];
  if (text === undefined) return null;
  if (/^\d+(\.\d+)?$/.test(text)) return { days: 0, ms: Number(`${sign}${text}`) };
  if (!/^(\d+(\.\d+)?\s*(ms|s|m|h|d|w)\s*)+$/.test(text)) return null;
  const factor = sign === '-' ? -1 : 1;
  const duration = { days: 0, ms: 0 };
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)\s*(ms|s|m|h|d|w)/g)) {
    const partMs = factor * Number(amount) * unitsMs[unit!]!;
    const isWholeDays = (unit === 'd' || unit === 'w') && partMs % dayMs === 0;
    if (isWholeDays) duration.days += partMs / dayMs;
    else duration.ms += partMs;
  }
  return duration;
}

/**
 * The length of a duration in milliseconds, with days of 24 hours. Returns null if it is invalid.
 */
export function parseDurationMs(value: number | string): number | null {
  const duration = parseDuration(value);
  return duration === null ? null : duration.days * dayMs + duration.ms;
}
