import { parseInstantMs } from './parse-instant';

const at = (value: string, timezone: string) => {
  const instant = parseInstantMs(value, timezone);
  return instant === null ? null : new Date(instant).toISOString();
};

test.each([
  ['2027-01-15T10:00', 'America/Santiago', '2027-01-15T13:00:00.000Z'],
  ['2027-07-15T10:00', 'America/Santiago', '2027-07-15T14:00:00.000Z'],
  // Skipped: the clock goes from 00:00 to 01:00, from 02:00 to 03:00 or from 02:00 to 02:30.
  ['2027-09-05', 'America/Santiago', '2027-09-05T04:00:00.000Z'],
  ['2027-09-05T00:30', 'America/Santiago', '2027-09-05T04:00:00.000Z'],
  ['2027-09-04T23:59', 'America/Santiago', '2027-09-05T03:59:00.000Z'],
  ['2027-03-14T02:30', 'America/New_York', '2027-03-14T07:00:00.000Z'],
  ['2027-03-28T02:15', 'Europe/Berlin', '2027-03-28T01:00:00.000Z'],
  ['2027-10-03T02:10', 'Australia/Lord_Howe', '2027-10-02T15:30:00.000Z'],
  ['2011-12-30T12:00', 'Pacific/Apia', '2011-12-30T10:00:00.000Z'],
  // Twice: the first.
  ['2027-11-07T01:30', 'America/New_York', '2027-11-07T05:30:00.000Z'],
  ['2027-10-31T02:30', 'Europe/Berlin', '2027-10-31T00:30:00.000Z'],
  ['2027-04-04T02:30', 'Australia/Sydney', '2027-04-03T15:30:00.000Z'],
  ['2027-04-03T23:30', 'America/Santiago', '2027-04-04T02:30:00.000Z'],
  // The zone does not matter.
  ['2027-09-05T00:30Z', 'America/Santiago', '2027-09-05T00:30:00.000Z'],
  ['2027-09-05T00:30+02:00', 'America/Santiago', '2027-09-04T22:30:00.000Z'],
])('%s in %s is %s', (value, timezone, expected) => expect(at(value, timezone)).toBe(expected));

test.each(['2027-02-29', '2027-13-01', 'tomorrow', '05/09/2027', ''])('%p is no time', (value) =>
  expect(at(value, 'America/Santiago')).toBeNull(),
);
