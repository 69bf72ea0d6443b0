export interface LocalDay {
  /** ISO 8601 with the zone's offset, to the second. */
  now: string;
  /** `2026-11-20`. */
  today: string;
  /** In English: `Friday`. */
  weekday: string;
  /** The IANA name that was used: UTC when the given one is unknown. */
  timezone: string;
}

/** What the clock and the calendar show in a time zone. */
export function localDay(instant: Date, timezone: string): LocalDay {
  const zone = isZone(timezone) ? timezone : 'UTC';
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
  const part = Object.fromEntries(format.formatToParts(instant).map(({ type, value }) => [type, value]));
  const today = `${part.year}-${part.month}-${part.day}`;
  const offset = part.timeZoneName?.replace('GMT', '') || '+00:00';
  const time = `${part.hour}:${part.minute}:${part.second}`;
  return { now: `${today}T${time}${offset}`, today, weekday: part.weekday ?? '', timezone: zone };
}

function isZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: name }) !== undefined;
  } catch {
    return false;
  }
}
