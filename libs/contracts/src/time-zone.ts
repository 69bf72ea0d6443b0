/** Whether the platform knows this time zone: an IANA name, or an offset such as `+03:00`. */
export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/**
 * Whether this is an IANA name of a time zone. An offset is none: PostgreSQL reads its sign the
 * other way round.
 */
export const isZoneName = (name: string): boolean => /^[A-Za-z]/.test(name) && isTimeZone(name);
