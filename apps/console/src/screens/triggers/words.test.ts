import { type TriggerStart, startInWords } from './words';
import { triggersCatalog } from './texts';

const inBoth = (on: TriggerStart): string[] => [
  startInWords(on, triggersCatalog.en, 'en'),
  startInWords(on, triggersCatalog.es, 'es'),
];

test.each<[string, string, string]>([
  ['* * * * *', 'Every minute', 'Cada minuto'],
  ['*/15 * * * *', 'Every 15 minutes', 'Cada 15 minutos'],
  ['*/10 9-17 * * *', 'Every 10 minutes from 09:00 to 17:59', 'Cada 10 minutos de 09:00 a 17:59'],
  ['0 9 * * *', 'Every day at 09:00', 'Cada día a las 09:00'],
  ['30 7,19 * * *', 'Every day at 07:30, 19:30', 'Cada día a las 07:30, 19:30'],
  ['0 9 * * 1', 'On Monday at 09:00', 'Los días lunes a las 09:00'],
  ['0 9 * * mon,WED', 'On Monday, Wednesday at 09:00', 'Los días lunes, miércoles a las 09:00'],
  ['0 9 * * 1-5', 'Monday to Friday at 09:00', 'De lunes a viernes a las 09:00'],
  ['0 9 * * 0', 'On Sunday at 09:00', 'Los días domingo a las 09:00'],
  ['0 9 * * 7', 'On Sunday at 09:00', 'Los días domingo a las 09:00'],
  ['0 9 1,15 * *', 'On day 1, 15 of the month at 09:00', 'El día 1, 15 del mes a las 09:00'],
  ['0 9 24 dec *', 'On December 24 at 09:00', 'El 24 de diciembre a las 09:00'],
  ['0 9 29 2 *', 'On February 29 at 09:00', 'El 29 de febrero a las 09:00'],
  ['*/15 * * * 6', 'On Saturday, every 15 minutes', 'Los días sábado, cada 15 minutos'],
  [
    '*/15 8-20 * * 1-5',
    'Monday to Friday, every 15 minutes from 08:00 to 20:59',
    'De lunes a viernes, cada 15 minutos de 08:00 a 20:59',
  ],
  ['5 * * * *', 'Every hour at :05', 'Cada hora, en el minuto 5'],
  ['0 */6 * * *', 'Every 6 hours at :00', 'Cada 6 horas, en el minuto 0'],
  ['0 0 31 dec *', 'On December 31 at 00:00', 'El 31 de diciembre a las 00:00'],
  ['0 9 * * sun', 'On Sunday at 09:00', 'Los días domingo a las 09:00'],
  ['  0   9  * * *  ', 'Every day at 09:00', 'Cada día a las 09:00'],
])('the schedule %j in words', (schedule, en, es) => {
  expect(inBoth({ schedule })).toEqual([en, es]);
});

test.each([
  ['a step that does not divide the hour', '*/45 * * * *'],
  ['a step that does not divide the day', '0 */5 * * *'],
  ['a step of nothing', '*/0 * * * *'],
  ['a range of minutes', '1-5 9 13 * 5'],
  ['a range of hours', '0 9-17 * * *'],
  ['a list of minutes', '0,30 9 * * *'],
  ['a range with a step', '0 9-17/2 * * *'],
  ['minutes at one hour', '*/5 9 * * *'],
  ['a day of the month and a weekday', '0 9 1 * 1'],
  ['a month alone', '0 9 * 1 *'],
  ['several days of one month', '0 9 1,2 1 *'],
  ['several months', '0 9 1 1,7 *'],
  ['the third Monday', '0 9 * * 1#3'],
  ['a weekday that does not exist', '0 9 * * 8'],
  ['lists and ranges of weekdays', '0 9 * * 1,3-5'],
  ['a chain of weekdays', '0 9 * * 1-3-5'],
  ['the last day', '0 9 L * *'],
  ['a name', '@daily'],
  ['nothing', ''],
  ['a text', 'every morning, please'],
])('%s is shown as it was written', (_name, schedule) => {
  expect(inBoth({ schedule })).toEqual([
    `On the schedule ${schedule}`,
    `Según el horario ${schedule}`,
  ]);
});

test('a schedule with a zone names it', () => {
  expect(inBoth({ schedule: '0 9 * * *', timezone: 'America/Santiago' })[0]).toBe(
    'Every day at 09:00 (America/Santiago)',
  );
});

const conditionsOf = (condition: Record<string, unknown>): string =>
  startInWords(
    { entityType: 'order', action: 'updated', condition },
    triggersCatalog.en,
    'en',
  ).split(', if ')[1] ?? '';

test('a change of a type, with and without a condition', () => {
  const [en, es] = inBoth({ entityType: 'order', action: 'created' });
  expect(en).toBe(triggersCatalog.en.on.created('order'));
  expect(es).toBe(triggersCatalog.es.on.created('order'));
  expect(inBoth({ entityType: 'order', action: 'created', condition: {} })).toEqual([en, es]);
  expect(inBoth({})[0]).toBe(triggersCatalog.en.on.updated(''));
});

test('a condition is said in both languages', () => {
  const condition = { 'data.total': { $gte: 5 }, 'previousData.item': { $exists: false } };
  expect(inBoth({ entityType: 'order', action: 'updated', condition })).toEqual([
    'When order is updated, if total ≥ 5 and item before is absent',
    'Cuando cambia order, si total ≥ 5 y item antes no existe',
  ]);
  const one = { 'data.number': { $in: ['A', 'B'] } };
  expect(inBoth({ entityType: 'order', action: 'deleted', condition: one })).toEqual([
    'When order is deleted, if number is one of A, B',
    'Cuando se elimina order, si number es uno de A, B',
  ]);
});

test.each<[Record<string, unknown>, string]>([
  [{ status: 'paid' }, 'status = paid'],
  [{ 'data.total': 0, 'data.note': null }, 'total = 0 and note = null'],
  [{ 'data.total': { $gte: 10, $lt: 20 } }, 'total ≥ 10 and total < 20'],
  [{ 'data.a': { $eq: '' } }, 'a = '],
  [{ 'data.a': { $neq: false } }, 'a ≠ false'],
  [{ 'data.a': { $in: ['x', 1, null] } }, 'a is one of x, 1, null'],
  [{ 'data.a': { $exists: true }, 'data.b': { $exists: false } }, 'a exists and b is absent'],
  [{ previousStatus: 'open' }, 'status before = open'],
  [{ 'previousData.total': { $gt: 1 } }, 'total before > 1'],
  [{ previousDatabase: 1 }, 'previousDatabase = 1'],
  [{ 'data.previousData.x': 1 }, 'previousData.x = 1'],
  [{ 'data.a': {} }, 'a = {}'],
  [{ 'data.a': { b: 1 } }, 'a = {"b":1}'],
  [{ 'data.a': { $gt: 1, b: 2 } }, 'a = {"$gt":1,"b":2}'],
  [{ 'data.a': { $near: 1 } }, 'a $near 1'],
  [{ 'data.a': ['x', 'y'] }, 'a = ["x","y"]'],
])('the condition %j', (condition, words) => {
  expect(conditionsOf(condition)).toBe(words);
});
