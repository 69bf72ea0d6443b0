import { type OpeningHours, type Week, days, fromWeek, toWeek } from './hours';

const closed = (): Week => Object.fromEntries(days.map((day) => [day, []])) as unknown as Week;
const morning = { from: '09:00', to: '13:00' };
const afternoon = { from: '14:00', to: '18:30' };

test('a week without hours is closed on each day', () => {
  expect(toWeek([])).toEqual(closed());
  expect(fromWeek(closed())).toEqual([]);
});

test('an entry is shown on each of its days, and a day has its ranges from morning to evening', () => {
  const hours: OpeningHours = [
    { days: ['fri', 'mon'], ...afternoon },
    { days: ['mon'], ...morning },
  ];
  expect(toWeek(hours)).toEqual({ ...closed(), mon: [morning, afternoon], fri: [afternoon] });
});

test('days with the same range are one entry, in the order of the week', () => {
  const week = { ...closed(), sun: [morning], mon: [morning, afternoon], wed: [afternoon] };
  expect(fromWeek(week)).toEqual([
    { days: ['mon', 'sun'], ...morning },
    { days: ['mon', 'wed'], ...afternoon },
  ]);
});

test('a range that a day has twice is stored once', () => {
  expect(fromWeek({ ...closed(), tue: [morning, morning] })).toEqual([
    { days: ['tue'], ...morning },
  ]);
});

test('a range over midnight, and one of a whole day, stay as they are', () => {
  const hours: OpeningHours = [
    { days: ['sat'], from: '22:00', to: '02:00' },
    { days: ['sat'], from: '00:00', to: '24:00' },
  ];
  expect(toWeek(fromWeek(toWeek(hours)))).toEqual(toWeek(hours));
});

test('hours that were read and not changed are the same hours', () => {
  const hours: OpeningHours = [
    { days: ['mon', 'tue', 'wed', 'thu', 'fri'], ...morning },
    { days: ['mon', 'tue', 'wed', 'thu', 'fri'], ...afternoon },
    { days: ['sat'], from: '10:00', to: '14:00' },
  ];
  expect(fromWeek(toWeek(hours))).toEqual(hours);
});
