/**
 * Local dates and times of a time zone. A local time is the number of milliseconds that the same
 * date and time would have in UTC, so that arithmetic on local days needs no calendar.
 */

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/** The zone's distance to UTC, from one change of the clock to the next. */
export interface ZonePeriod {
  /** The first instant of the period, or the beginning of the range that was asked for. */
  fromMs: number;
  /** Local time minus UTC. */
  offsetMs: number;
}

/** The local time of an instant. */
export const localTimeOf = (instantMs: number, timeZone: string): number =>
  instantMs + offsetAt(instantMs, timeZone);

/**
 * The instant of a local time. A time that a change of the clock skips is the first instant after
 * the change; of a time that occurs twice it is the first.
 */
export function instantOf(localMs: number, timeZone: string): number {
  const periods = periodsAround(localMs, timeZone);
  return instantsIn(periods, localMs)[0] ?? instantAfterGap(periods, localMs);
}

/**
 * The periods of a zone that the local times from `fromLocalMs` to `toLocalMs` may belong to, in
 * order. There is one, unless the clock changes.
 */
export function periodsAround(
  fromLocalMs: number,
  timeZone: string,
  toLocalMs: number = fromLocalMs,
): ZonePeriod[] {
  // No zone is further from UTC than 14 hours, and no clock has been moved by more than a day.
  let fromMs = fromLocalMs - 38 * hourMs;
  const untilMs = toLocalMs + 38 * hourMs;
  const periods = [{ fromMs, offsetMs: offsetAt(fromMs, timeZone) }];
  while (fromMs < untilMs) {
    const nextMs = Math.min(fromMs + probeMs, untilMs);
    const { offsetMs } = periods.at(-1)!;
    if (offsetAt(nextMs, timeZone) === offsetMs) fromMs = nextMs;
    else {
      fromMs = changeBetween(fromMs, nextMs, timeZone, offsetMs);
      periods.push({ fromMs, offsetMs: offsetAt(fromMs, timeZone) });
    }
  }
  return periods;
}

/** The clock changes at most once in this time. */
const probeMs = 19 * hourMs;

/** The instants of a local time within the periods: none, one or two. */
export function instantsIn(periods: readonly ZonePeriod[], localMs: number): number[] {
  return periods.flatMap(({ fromMs, offsetMs }, at) => {
    const instantMs = localMs - offsetMs;
    const endMs = periods[at + 1]?.fromMs ?? Infinity;
    return instantMs >= fromMs && instantMs < endMs ? [instantMs] : [];
  });
}

/** The first instant after the change of the clock that skips a local time. */
export const instantAfterGap = (periods: readonly ZonePeriod[], localMs: number): number =>
  periods.find(({ fromMs, offsetMs }) => fromMs + offsetMs > localMs)!.fromMs;

/** The first instant after `fromMs`, up to `toMs`, whose offset is not `offsetMs`. */
function changeBetween(fromMs: number, toMs: number, timeZone: string, offsetMs: number): number {
  let before = Math.floor(fromMs / 1_000);
  let after = Math.ceil(toMs / 1_000);
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (offsetAt(middle * 1_000, timeZone) === offsetMs) before = middle;
    else after = middle;
  }
  return after * 1_000;
}

/**
 * Creating a format takes 50 µs. The zones in use are few; more than the zones of
 * IANA are never kept.
 */
const formats = new Map<string, Intl.DateTimeFormat>();
const mostFormats = 1_000;

/** Local time minus UTC at an instant, in whole seconds. */
function offsetAt(instantMs: number, timeZone: string): number {
  const name = formatOf(timeZone)
    .formatToParts(instantMs)
    .find(({ type }) => type === 'timeZoneName')!.value;
  const [, sign, hours, minutes, seconds = 0] =
    /GMT([+−-])(\d{2}):(\d{2})(?::(\d{2}))?/.exec(name) ?? [];
  if (sign === undefined) return 0;
  const offsetMs = Number(hours) * hourMs + Number(minutes) * minuteMs + Number(seconds) * 1_000;
  return sign === '+' ? offsetMs : -offsetMs;
}

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known !== undefined) return known;
  const format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
  if (formats.size >= mostFormats) formats.clear();
  formats.set(timeZone, format);
  return format;
}
