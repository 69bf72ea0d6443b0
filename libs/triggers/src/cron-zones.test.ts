import { rounds } from '@parley/testing';
import { lastTickMs, nextTickMs } from './cron';

/*
 * Schedules in all time zones, on the days around the changes of their clocks, against an oracle
 * that walks through the minutes. The oracle knows the rules only: the hour and minute of `*` and
 * steps run at every real time, a fixed time that is skipped right after the change, a repeated
 * one the first time.
 */

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

interface Change {
  zone: string;
  atMs: number;
}

function offsetLookup(zone: string): (instantMs: number) => number {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  });
  return (instantMs) => {
    const parts = format.formatToParts(instantMs).map(({ type, value }) => [type, Number(value)]);
    const { year, month, day, hour, minute } = Object.fromEntries(parts) as Record<string, number>;
    return Date.UTC(year!, month! - 1, day!, hour!, minute!) - instantMs;
  };
}

/**
 * The changes of all clocks in some years, each rule once: zones that change alike count as one.
 */
function changesOf(firstYear: number, lastYear: number): Change[] {
  const found = new Map<string, Change>();
  for (const zone of Intl.supportedValuesOf('timeZone')) {
    const offsetAt = offsetLookup(zone);
    const endMs = Date.UTC(lastYear + 1, 0);
    let before = offsetAt(Date.UTC(firstYear, 0));
    for (let weekMs = Date.UTC(firstYear, 0); weekMs < endMs; weekMs += 7 * dayMs) {
      if (offsetAt(weekMs + 7 * dayMs) === before) continue;
      for (let atMs = weekMs; atMs <= weekMs + 7 * dayMs; atMs += 12 * hourMs) {
        const after = offsetAt(atMs);
        if (after === before) continue;
        found.set(`${atMs} ${before} ${after}`, { zone, atMs });
        before = after;
      }
    }
  }
  return [...found.values()];
}

interface Minute {
  instantMs: number;
  localMs: number;
}

/**
 * The minutes of three days around a change, with their local time. Clocks change at
 * quarters of an hour.
 */
function minutesAround({ zone, atMs }: Change): Minute[] {
  const offsetAt = offsetLookup(zone);
  const minutes: Minute[] = [];
  let offsetMs = 0;
  for (let instantMs = atMs - 2 * dayMs; instantMs < atMs + 1.5 * dayMs; instantMs += minuteMs) {
    if (instantMs % (15 * minuteMs) === 0) offsetMs = offsetAt(instantMs);
    minutes.push({ instantMs, localMs: instantMs + offsetMs });
  }
  return minutes;
}

/** A time of every day: a number, or null for `*`. */
interface Daily {
  hour: number | null;
  minute: number;
}

function expected(minutes: readonly Minute[], { hour, minute }: Daily): number[] {
  const isDue = (localMs: number) =>
    hour === null
      ? localMs % hourMs === minute * minuteMs
      : localMs % dayMs === hour * hourMs + minute * minuteMs;
  const seen = new Set<number>();
  const due: number[] = [];
  let nextLocalMs = minutes[0]!.localMs;
  for (const { instantMs, localMs } of minutes) {
    let catchesUp = false;
    if (hour !== null)
      for (let skipped = nextLocalMs; skipped < localMs; skipped += minuteMs)
        catchesUp ||= isDue(skipped);
    const isNew = hour === null || !seen.has(localMs);
    if (catchesUp || (isDue(localMs) && isNew)) due.push(instantMs);
    if (isDue(localMs)) seen.add(localMs);
    nextLocalMs = localMs + minuteMs;
  }
  return due;
}

function ticks(expression: string, timezone: string, minutes: readonly Minute[]): number[] {
  const endMs = minutes.at(-1)!.instantMs;
  const found: number[] = [];
  let tick = nextTickMs({ expression, timezone }, minutes[0]!.instantMs - 1);
  while (tick !== null && tick <= endMs) {
    found.push(tick);
    tick = nextTickMs({ expression, timezone }, tick);
  }
  return found;
}

const dailyTimes: Daily[] = Array.from({ length: 48 }, (_, half) => ({
  hour: Math.floor(half / 2),
  minute: (half % 2) * 30,
}));
const hourly: Daily[] = [0, 15, 30, 45].map((minute) => ({ hour: null, minute }));

test('every half hour and every hour is due around each change of a clock, in all zones', () => {
  const changes = changesOf(rounds(2027, 2020), rounds(2027, 2040));
  expect(changes.length).toBeGreaterThan(30);
  const wrong: string[] = [];
  for (const change of changes) {
    const minutes = minutesAround(change);
    for (const daily of [...dailyTimes, ...hourly]) {
      const expression = `${daily.minute} ${daily.hour ?? '*'} * * *`;
      const due = expected(minutes, daily);
      const found = ticks(expression, change.zone, minutes);
      const last = due.map((tick) => lastTickMs({ expression, timezone: change.zone }, tick));
      if (String(due) !== String(found) || String(due) !== String(last))
        wrong.push(`${expression} ${change.zone}: ${due.map(iso)}, not ${found.map(iso)}`);
    }
  }
  expect(wrong).toEqual([]);
}, 600_000);

const iso = (instantMs: number) => new Date(instantMs).toISOString().slice(0, 16);

test.each([
  // The clock of Santiago goes from 00:00 to 01:00 on Sunday, 5 September 2027.
  ['0 0 5 9 *', 'America/Santiago', '2027-01-01T00:00', '2027-09-05T04:00'],
  ['0 0 * * *', 'America/Santiago', '2027-09-04T04:00', '2027-09-05T04:00'],
  ['30 0 * * *', 'America/Santiago', '2027-09-04T04:30', '2027-09-05T04:00'],
  ['0 0 * * 0', 'America/Santiago', '2027-08-29T04:00', '2027-09-05T04:00'],
  ['0 */6 * * *', 'America/Santiago', '2027-09-04T22:00', '2027-09-05T04:00'],
  ['0 0,12 * * *', 'America/Santiago', '2027-09-04T16:00', '2027-09-05T04:00'],
  ['0 0 30 4 *', 'Africa/Cairo', '2027-01-01T00:00', '2027-04-29T22:00'],
  ['0 22 * * *', 'America/Nuuk', '2027-03-27T00:00', '2027-03-28T00:00'],
  ['0 9 4 4 *', 'Australia/Lord_Howe', '2027-01-01T00:00', '2027-04-03T22:30'],
  ['0 * * * *', 'Australia/Lord_Howe', '2027-04-03T14:30', '2027-04-03T15:30'],
  // A skipped time that meets the next one runs once with it.
  ['0,30 2,3 * * *', 'America/New_York', '2027-03-14T06:59', '2027-03-14T07:00'],
  ['0,30 2,3 * * *', 'America/New_York', '2027-03-14T07:00', '2027-03-14T07:30'],
  // Nothing is due in an hour that does not exist when every hour is due.
  ['15 * * * *', 'America/New_York', '2027-03-14T06:15', '2027-03-14T07:15'],
  // A fixed time that is repeated runs once, steps in both hours.
  ['30 1 * * *', 'America/New_York', '2027-11-07T05:30', '2027-11-08T06:30'],
  ['*/30 1 * * *', 'America/New_York', '2027-11-07T05:30', '2027-11-07T06:00'],
  ['0 * * * *', 'America/New_York', '2027-11-07T05:00', '2027-11-07T06:00'],
  // A day that does not exist.
  ['0 9 30 12 *', 'Pacific/Apia', '2011-12-30T00:00', '2011-12-30T10:00'],
])('%s in %s is due after %s at %s', (expression, timezone, after, due) => {
  const tick = nextTickMs({ expression, timezone }, Date.parse(`${after}Z`));
  expect(iso(tick!)).toBe(due);
  expect(lastTickMs({ expression, timezone }, tick!)).toBe(tick);
});
