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

/** Returns the local date and time of an instant in a time zone. */
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
  const fields = Object.fromEntries(format.formatToParts(instant).map(({ type, value }) => [type, value]));
  const today = `${fields.year}-${fields.month}-${fields.day}`;
  const offset = fields.timeZoneName?.replace('GMT', '') || '+00:00';
  const time = `${fields.hour}:${fields.minute}:${fields.second}`;
  return { now: `${today}T${time}${offset}`, today, weekday: fields.weekday ?? '', timezone: zone };
}

function isZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: name }) !== undefined;
  } catch {
    return false;
  }
}
