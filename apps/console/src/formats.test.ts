import * as formats from './formats';
import { type Language, setLanguage } from './language';
import { commonCatalog } from './texts/common';

/** Intl writes blanks that do not break; they are not the subject here. */
const plain = (text: string): string => text.replace(/\s/g, ' ');
const inBoth = (write: () => string): [en: string, es: string] => [
  inLanguage('en', write),
  inLanguage('es', write),
];
function inLanguage(language: Language, write: () => string): string {
  setLanguage(language);
  return plain(write());
}
const texts = commonCatalog.en;

test.each<[string, () => string, string, string]>([
  ['thousands', () => formats.formatNumber(1_234_567.891), '1,234,567.891', '1.234.567,891'],
  ['a negative zero', () => formats.formatNumber(-0), '-0', '-0'],
  ['cents', () => formats.formatCents(-123_456), '-1,234.56', '-1234,56'],
  ['no cents', () => formats.formatCents(0), '0.00', '0,00'],
  [
    'a value with all its decimals',
    () => formats.formatDecimal(0.1 + 0.2),
    '0.30000000000000004',
    '0,30000000000000004',
  ],
  [
    'a huge value',
    () => formats.formatDecimal(1e21),
    '1,000,000,000,000,000,000,000',
    '1.000.000.000.000.000.000.000',
  ],
  ['a short value', () => formats.formatCompact(12_345), '12.3K', '12,3 mil'],
  ['a list', () => formats.formatList(['a', 'b', 'c']), 'a, b, and c', 'a, b y c'],
  [
    'a list before the sound of i',
    () => formats.formatList(['a', 'iglesia']),
    'a and iglesia',
    'a e iglesia',
  ],
  ['an empty list', () => formats.formatList([]), '', ''],
  ['pesos without cents', () => formats.formatMoney(12_345, 'CLP'), 'CLP 12,345', '12.345 CLP'],
  ['dollars', () => formats.formatMoney(-1.5, 'USD'), '-$1.50', '-1,50 US$'],
  ['bytes', () => formats.formatBytes(340_000), '340 kB', '340 kB'],
  ['megabytes', () => formats.formatBytes(9_840_000), '9.8 MB', '9,8 MB'],
  ['no bytes', () => formats.formatBytes(0), '0 kB', '0 kB'],
])('%s in both languages', (_name, write, en, es) => {
  expect(inBoth(write)).toEqual([en, es]);
});

test.each([
  [12, 'clp', '12 clp'],
  [12, 'EURO', '12 EURO'],
  [12, null, '12'],
  [12, { code: 'USD' }, '12 [object Object]'],
  ['12', 'USD', '–'],
  [null, 'USD', '–'],
  [undefined, undefined, '–'],
])(
  'an amount %j of the currency %j, which is not validated, is shown as it is',
  (amount, currency, shown) => {
    expect(inLanguage('en', () => formats.formatMoney(amount, currency))).toBe(shown);
  },
);

// Santiago: three hours behind UTC in summer, four in winter. On 2026-04-05 the clock goes back
// from 00:00 to 23:00.
const summer = Date.UTC(2026, 0, 15, 2, 30, 5);
const twice = [Date.UTC(2026, 3, 5, 2, 30), Date.UTC(2026, 3, 5, 3, 30)] as const;

test('times are those of the zone of the device', () => {
  expect(inBoth(() => formats.formatDateTime(summer))).toEqual([
    'Jan 14, 2026, 11:30 PM',
    '14 ene 2026, 23:30',
  ]);
  expect(inBoth(() => formats.formatDate(summer))).toEqual(['Jan 14, 2026', '14 ene 2026']);
  expect(inBoth(() => formats.formatTime(summer))).toEqual(['11:30 PM', '23:30']);
  expect(inBoth(() => formats.formatDay(summer))).toEqual(['Wed, Jan 14', 'mié, 14 ene']);
});

test('an exact time has its zone, so that the hour that exists twice is not ambiguous', () => {
  const shown = twice.map((at) => inLanguage('en', () => formats.formatExact(at)));
  expect(shown).toEqual(['Apr 4, 2026, 11:30:00 PM GMT-3', 'Apr 4, 2026, 11:30:00 PM GMT-4']);
});

test('a part of a day has no zone', () => {
  expect(formats.formatOfDay('en', { weekday: 'long' }, Date.UTC(1970, 0, 4))).toBe('Sunday');
  expect(formats.formatOfDay('es', { day: 'numeric', month: 'long' }, Date.UTC(1972, 1, 29))).toBe(
    '29 de febrero',
  );
});

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
test.each([
  [0, 'now', 'ahora'],
  [999, 'now', 'ahora'],
  [59_999, '59s ago', 'hace 59 s'],
  [minuteMs, '1m ago', 'hace 1 min'],
  [hourMs - 1, '59m ago', 'hace 59 min'],
  [dayMs - 1, '23h ago', 'hace 23 h'],
  [dayMs, 'yesterday', 'ayer'],
  [30 * dayMs - 1, '29d ago', 'hace 29 d'],
  [30 * dayMs, 'Dec 16, 2025', '16 dic 2025'],
  [-30_000, 'in 30s', 'dentro de 30 s'],
  [-3 * hourMs, 'in 3h', 'dentro de 3 h'],
  [-400 * dayMs, 'Feb 19, 2027', '19 feb 2027'],
])('%i ms before now, also of a clock that is wrong', (agoMs, en, es) => {
  const nowMs = Date.UTC(2026, 0, 15, 12);
  expect(inBoth(() => formats.formatAgo(nowMs - agoMs, nowMs))).toEqual([en, es]);
});

test.each([
  [-5, '1 min', '1 min'],
  [0, '1 min', '1 min'],
  [hourMs - 1, '59 min', '59 min'],
  [dayMs - 1, '23 hr', '23 h'],
  [3 * dayMs, '3 days', '3 d'],
])('a wait of %i ms', (ms, en, es) => {
  expect(inBoth(() => formats.formatSpan(ms))).toEqual([en, es]);
});

test.each([
  [null, '–', '–'],
  [0, '0 ms', '0 ms'],
  [999.9, '999 ms', '999 ms'],
  [1_000, '1 s', '1 s'],
  [59_999, '59.9 s', '59,9 s'],
  [minuteMs, '1 min 0 s', '1 min 0 s'],
  [2 * hourMs - 1, '119 min 59 s', '119 min 59 s'],
  [2 * hourMs, '2 h 0 min', '2 h 0 min'],
])('a duration of %j ms', (ms, en, es) => {
  expect(inBoth(() => formats.formatDuration(ms, texts))).toEqual([en, es]);
});
