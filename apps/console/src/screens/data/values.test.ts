import type { Json } from '@parley/client';
import { setLanguage } from '../../language';
import { fieldOf } from '../../testing/entities';
import { isSame, localText, showValue, typedValue } from './values';

const shown = (value: Json | undefined, type: string) =>
  (['en', 'es'] as const).map((language) => {
    setLanguage(language);
    return showValue(value, fieldOf('a', type)).replace(/\s/g, ' ');
  });

test.each<[string, Json | undefined, string, string]>([
  ['string', undefined, '', ''],
  ['string', null, '', ''],
  ['string', '2026-01-01', '2026-01-01', '2026-01-01'],
  ['number', 1234567.125, '1,234,567.125', '1.234.567,125'],
  ['integer', 0, '0', '0'],
  ['boolean', false, 'false', 'false'],
  ['object', { a: '"ñ"' }, '{"a":"\\"ñ\\""}', '{"a":"\\"ñ\\""}'],
  ['array', [], '[]', '[]'],
  ['date', Date.UTC(2026, 0, 15, 2, 30), 'Jan 14, 2026, 11:30 PM', '14 ene 2026, 23:30'],
  ['date', '2026-01-15T02:30:00Z', 'Jan 14, 2026, 11:30 PM', '14 ene 2026, 23:30'],
  ['date', '2026-01-15T02:30', 'Jan 15, 2026, 2:30 AM', '15 ene 2026, 2:30'],
  ['date', '2026-01-15 02:30', 'Jan 15, 2026, 2:30 AM', '15 ene 2026, 2:30'],
  ['date', '2026-01-15T02:30:00+05:30', 'Jan 14, 2026, 6:00 PM', '14 ene 2026, 18:00'],
])('a %s with the value %j', (type, value, en, es) => {
  expect(shown(value, type)).toEqual([en, es]);
});

// On 2026-09-06 Santiago has no time between 00:00 and 01:00.
test.each([
  ['2026-09-06', 'Sep 6, 2026'],
  ['2026-04-04', 'Apr 4, 2026'],
  ['2024-02-29', 'Feb 29, 2024'],
  ['0001-01-01', 'Jan 1, 1'],
])('the day %s is the same day in each zone', (day, en) => {
  expect(shown(day, 'date')[0]).toBe(en);
});

test.each([
  'Order 5',
  'next May 3',
  '12',
  '1/2/2026',
  '2026-02-30',
  '2023-02-29',
  '2026-13-01',
  '2026-01-01x',
  ' ',
  '2026-02-30T10:00Z',
  '2026-01-01T99:99',
])('the text %j is no date, and is shown as it is', (text) => {
  expect(shown(text, 'date')).toEqual([text, text]);
});

test('a number that is no time is a number', () => {
  expect(shown(8.64e15 + 1, 'date')[0]).toBe('8,640,000,000,000,001');
});

test.each([
  ['string', '', null],
  ['number', '', null],
  ['string', ' ', ' '],
  ['number', '-1.5', -1.5],
  ['boolean', 'TRUE', true],
  ['date', '1795374418289', 1_795_374_418_289],
  ['array', '[1,"a"]', [1, 'a']],
  ['any', 'a', 'a'],
])('a %s that was typed as %j', (type, text, value) => {
  expect(typedValue(text, fieldOf('a', type))).toEqual({ ok: true, value });
});

test('a text that is no value of its field says what is expected', () => {
  expect(typedValue('1,5', fieldOf('a', 'number'))).toEqual({ ok: false, expected: 'number' });
  expect(typedValue('1.5', fieldOf('a', 'integer'))).toEqual({ ok: false, expected: 'integer' });
});

test('an allowed value has its own type', () => {
  const field = fieldOf('a', 'string', { options: ['1', 2, true, null] });
  expect(['1', '2', 'true', 'null', '3'].map((text) => typedValue(text, field))).toEqual(
    ['1', 2, true, null, '3'].map((value) => ({ ok: true, value })),
  );
});

test('an absent value is the same as null, and no other', () => {
  expect(isSame(undefined, null)).toBe(true);
  expect(isSame({ a: [1] }, { a: [1] })).toBe(true);
  expect([isSame('', null), isSame(0, false), isSame('1', 1), isSame([1, 2], [2, 1])]).toEqual([
    false,
    false,
    false,
    false,
  ]);
});

test('the local time of a moment is that of the zone and of its season', () => {
  expect(localText(Date.UTC(2026, 0, 15, 2, 30, 5))).toBe('2026-01-14T23:30:05');
  expect(localText(Date.UTC(2026, 6, 15, 2, 30, 5, 999))).toBe('2026-07-14T22:30:05');
});
