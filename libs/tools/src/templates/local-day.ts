import { LRUCache } from 'lru-cache';

export interface LocalDay {
  /** ISO 8601 in seconds, with the zone's offset. */
  now: string;
  /** `2026-11-20`. */
  today: string;
  /** In English: `Friday`. */
  weekday: string;
  /** IANA name of the zone in use: UTC when the given one is unknown. */
  timezone: string;
}

/**
 * Creating a format takes 0.1 ms, a noticeable part of a turn, so the formats of the zones
 * in use are kept.
 */
const formats = new LRUCache<string, { format: Intl.DateTimeFormat; zone: string }>({
  max: 500,
  memoMethod: (timezone) => createFormat(timezone) ?? createFormat('UTC')!,
});

/** Returns the local date and time of an instant in a time zone. */
export function localDay(instant: Date, timezone: string): LocalDay {
  const { format, zone } = formats.memo(timezone);
  const fields = Object.fromEntries(
    format.formatToParts(instant).map(({ type, value }) => [type, value]),
  );
  const today = `${fields.year}-${fields.month}-${fields.day}`;
  const offset = fields.timeZoneName?.replace('GMT', '') || '+00:00';
  const time = `${fields.hour}:${fields.minute}:${fields.second}`;
  return { now: `${today}T${time}${offset}`, today, weekday: fields.weekday ?? '', timezone: zone };
}

/** Returns null for an unknown zone. */
function createFormat(zone: string) {
  try {
    const format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      weekday: 'long',
      timeZoneName: 'longOffset',
    });
    return { format, zone };
  } catch {
    return null;
  }
}
