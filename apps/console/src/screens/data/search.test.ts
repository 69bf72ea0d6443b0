import { fieldOf } from '../../testing/entities';
import {
  type FilterRow,
  fieldNamed,
  filterableFields,
  operatorsOf,
  pathOf,
  readDataSearch,
  readFilters,
  takesList,
  takesValue,
} from './search';

test('the parameters of an address that the console wrote are read as they are', () => {
  const search = {
    q: 'ñandú',
    filters: [['total', 'gt', '5']],
    sort: 'total',
    direction: 'desc',
    status: 'paid',
    entity: 'ent_1',
    tab: 'json',
    view: 'import',
  };
  expect(readDataSearch(search)).toEqual(search);
});

test('an address that someone has edited loses what is no parameter', () => {
  const nothing = {
    q: undefined,
    filters: undefined,
    sort: undefined,
    direction: undefined,
    status: undefined,
    entity: undefined,
    tab: undefined,
    view: undefined,
  };
  expect(readDataSearch({})).toEqual(nothing);
  expect(
    readDataSearch({
      q: '',
      filters: 'all',
      sort: ['x'],
      direction: 'up',
      status: {},
      entity: null,
      tab: 'none',
      view: true,
    }),
  ).toEqual(nothing);
  expect(
    readDataSearch({
      filters: [
        ['a', 'eq'],
        ['a', 'like', 'x'],
        ['a', 'constructor', 'x'],
        ['a', 'eq', 5],
        'a',
        null,
      ],
    }),
  ).toEqual(nothing);
});

test('a search for digits stays a text, and a status has a length', () => {
  expect(readDataSearch({ q: 42, entity: 7 })).toMatchObject({ q: '42', entity: '7' });
  expect(readDataSearch({ status: 'x'.repeat(1_000) }).status).toHaveLength(64);
});

test('fields that each entity has have paths of their own, also where a type declares the same name', () => {
  expect(['id', 'createdAt', 'updatedAt', 'total', 'address.city'].map(pathOf)).toEqual([
    'id',
    'createdAt',
    'updatedAt',
    'data.total',
    'data.address.city',
  ]);
  const fields = filterableFields([
    fieldOf('id', 'number'),
    fieldOf('a', 'object', { properties: [fieldOf('a.b')] }),
  ]);
  expect(fields.map(({ name, kind }) => `${name} ${kind}`)).toEqual([
    'a object',
    'a.b text',
    'id text',
    'createdAt date',
    'updatedAt date',
  ]);
  expect(fieldNamed('unknown', fields).kind).toBe('any');
});

const filled = ['filled', 'empty', 'present', 'absent'];
test.each([
  ['id', 'string', undefined, ['eq', 'ne', 'in', 'nin']],
  ['state', 'string', ['a'], ['eq', 'ne', 'in', 'nin', ...filled]],
  ['paid', 'boolean', undefined, ['eq', 'ne', ...filled]],
  ['place', 'object', undefined, ['eq', 'ne', ...filled]],
  ['tags', 'array', undefined, ['contains', 'eq', 'ne', ...filled]],
  ['createdAt', 'date', undefined, ['gte', 'gt', 'lte', 'lt', 'eq', 'ne']],
  ['due', 'date', undefined, ['gte', 'gt', 'lte', 'lt', 'eq', 'ne', ...filled]],
  ['total', 'number', undefined, ['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'nin', ...filled]],
  [
    'name',
    'string',
    undefined,
    ['eq', 'ne', 'contains', 'gt', 'gte', 'lt', 'lte', 'in', 'nin', ...filled],
  ],
])('the operators of the field %s, a %s with the values %j', (name, type, options, expected) => {
  expect(operatorsOf(fieldOf(name, type, { options }))).toEqual(expected);
});

test('operators of presence take no value, and two take a list', () => {
  expect(filled.map((one) => takesValue(one as 'filled'))).toEqual([false, false, false, false]);
  expect((['in', 'nin', 'eq'] as const).map(takesList)).toEqual([true, true, false]);
  expect(takesValue('eq')).toBe(true);
});

const fields = filterableFields([
  fieldOf('name'),
  fieldOf('total', 'number'),
  fieldOf('paid', 'boolean'),
  fieldOf('tags', 'array', { items: 'string' }),
  fieldOf('sizes', 'array', { items: 'number' }),
  fieldOf('state', 'string', { options: ['a b', 2, ' c', true] }),
]);
const conditionOf = (...row: FilterRow) => {
  const { filters, problems } = readFilters([row], fields);
  return problems.get(0) ?? Object.values(filters)[0];
};

test.each<[FilterRow, unknown]>([
  [['name', 'eq', ' Ana "x" '], { $eq: 'Ana "x"' }],
  [['name', 'contains', '12'], { $contains: '12' }],
  [['name', 'eq', ''], 'missing'],
  [['name', 'eq', ' \n'], 'missing'],
  [['total', 'gt', '1.5'], { $gt: 1.5 }],
  [['total', 'gt', '1,5'], 'number'],
  [['total', 'in', '1, 2,,3 '], { $in: [1, 2, 3] }],
  [['total', 'in', '1, x'], 'number'],
  [['total', 'in', ' , '], 'missing'],
  [['paid', 'eq', 'TRUE'], { $eq: true }],
  [['paid', 'eq', 'yes'], 'boolean'],
  [['tags', 'contains', '12'], { $contains: '12' }],
  [['sizes', 'contains', '12'], { $contains: 12 }],
  [['sizes', 'eq', '[1, 2]'], { $eq: [1, 2] }],
  [['sizes', 'eq', '{}'], 'array'],
  [['state', 'eq', '2'], { $eq: 2 }],
  [['state', 'in', 'a b, 2, true, other'], { $in: ['a b', 2, true, 'other'] }],
  [['state', 'eq', ' c'], { $eq: ' c' }],
  [['unknown', 'eq', '{"a": 1}'], { $eq: { a: 1 } }],
  [['unknown', 'eq', 'text'], { $eq: 'text' }],
  [['name', 'filled', 'ignored'], { $ne: null }],
  [['name', 'empty', ''], { $eq: null }],
  [['name', 'present', ''], { $exists: true }],
  [['name', 'absent', ''], { $exists: false }],
  [['createdAt', 'gte', '1795374418289'], { $gte: 1_795_374_418_289 }],
  [['createdAt', 'gte', ' 1795374418289 '], { $gte: 1_795_374_418_289 }],
  [['createdAt', 'lt', '2026-01-01T00:00:00Z'], { $lt: Date.UTC(2026, 0, 1) }],
  [['updatedAt', 'lt', '2026-01-15T00:00'], { $lt: Date.UTC(2026, 0, 15, 3) }],
  [['createdAt', 'gte', 'yesterday'], 'number'],
])('the filter %j asks for %j', (row, expected) => {
  expect(conditionOf(...row)).toEqual(expected);
});

test('rows of one field hold together, and each operator once; a wrong row filters nothing', () => {
  const rows: FilterRow[] = [
    ['total', 'gt', '1'],
    ['total', 'lt', '9'],
    ['total', 'gt', '5'],
    ['name', 'empty', ''],
    ['name', 'eq', 'x'],
    ['paid', 'eq', ''],
    ['id', 'in', 'a,b'],
  ];
  const { filters, problems } = readFilters(rows, fields);
  expect(filters).toEqual({
    'data.total': { $gt: 1, $lt: 9 },
    'data.name': { $eq: null },
    id: { $in: ['a', 'b'] },
  });
  expect([...problems]).toEqual([
    [2, 'repeated'],
    [4, 'repeated'],
    [5, 'missing'],
  ]);
});

test.each(['constructor', '__proto__'])('a filter of the field %j is a filter', (name) => {
  expect(readFilters([[name, 'eq', 'x']], fields).filters).toEqual({
    [`data.${name}`]: { $eq: 'x' },
  });
});

test('a list of 100,000 values is read', () => {
  const text = Array.from({ length: 100_000 }, (_, at) => at).join(', ');
  expect((conditionOf('total', 'in', text) as { $in: number[] }).$in).toHaveLength(100_000);
});
