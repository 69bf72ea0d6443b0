import type { JsonObject } from '@parley/client';
import { type DecimalSign, parseCsv } from '@parley/rows';
import { entityOf, fieldOf } from '../../testing/entities';
import { copyCells, isOneCell, planPaste } from './clipboard';
import type { GridColumn } from './grid-column';
import type { Range } from './grid-keys';

const columns: GridColumn[] = [
  { is: 'row' },
  { is: 'field', field: fieldOf('name') },
  { is: 'field', field: fieldOf('total', 'number') },
  { is: 'field', field: fieldOf('state', 'string', { options: ['a', 2] }) },
  { is: 'updated' },
];
const entities = [
  { name: 'Ana', total: 1, state: 'a' },
  { name: 'Bea', total: 2.5, state: 2 },
  { name: 'Eva', total: null },
].map((data, at) => entityOf(`e${at}`, data as JsonObject));
const entityAt = (row: number) => entities[row];
const range = (top: number, left: number, bottom = top, right = left): Range => ({
  rows: [top, bottom],
  columns: [left, right],
});

const hostile = [
  '=1+1',
  "'=1+1",
  '+56 9',
  '-5',
  '@x',
  '\t=x',
  '＝1',
  "'",
  "it's",
  'a\tb',
  'a\nb',
  'a\r\nb',
  '"',
  '""',
  'a"b',
  ' x ',
  '',
  'ñ 👋',
  '\u200b=1',
];

describe('copy', () => {
  test('cells are as spreadsheets read them: with tabs, plain numbers, ids and times', () => {
    expect(copyCells(range(0, 0, 1, 4), columns, entityAt)).toBe(
      'e0\tAna\t1\ta\t2026-01-02T03:04:05.000Z\ne1\tBea\t2.5\t2\t2026-01-02T03:04:05.000Z',
    );
  });

  test('an absent value, null and a row that is not loaded', () => {
    expect(copyCells(range(1, 2, 9, 3), columns, entityAt)).toBe('2.5\t2\n\t');
  });

  test('a text that would run as a formula gets an apostrophe, a number does not', () => {
    const copied = (data: JsonObject) =>
      copyCells(range(0, 1, 0, 2), columns, () => entityOf('e', data));
    expect(copied({ name: '=HYPERLINK("https://evil.example")', total: -5 })).toBe(
      '"\'=HYPERLINK(""https://evil.example"")"\t-5',
    );
  });

  test.each(hostile)('the text %j is pasted as it was copied', (name) => {
    const text = copyCells(range(0, 1), columns, () => entityOf('e', { name }));
    const table = parseCsv(text, { delimiter: '\t', keepEmptyLines: true }).map(
      ({ cells }) => cells,
    );
    const { cells } = planPaste(text === '' ? [['']] : table, range(0, 1), columns, entityAt, '.');
    expect(cells.map(({ read }) => read)).toEqual([{ ok: true, value: name === '' ? null : name }]);
  });
});

describe('paste', () => {
  const plan = (table: string[][], at: Range, decimal: DecimalSign = '.') =>
    planPaste(table, at, columns, entityAt, decimal);
  const shown = (...given: Parameters<typeof plan>) =>
    plan(...given).cells.map(
      ({ entity, field, text, isChanged }) =>
        `${entity.id} ${field.name} ${text}${isChanged ? '' : ' same'}`,
    );

  test.each<[string, boolean]>([
    ['a', true],
    ['a b', true],
    ['', true],
    ['a\n', true],
    ['a\r\n', true],
    ['\n', true],
    ['a\n\n', false],
    ['a\tb', false],
    ['a\r', false],
    ['"a"', false],
  ])('whether %j is one cell', (text, isOne) => {
    expect(isOneCell(text)).toBe(isOne);
  });

  test('a table begins at the cell of the cursor', () => {
    expect(
      shown(
        [
          ['x', '7'],
          ['y', '8'],
        ],
        range(1, 1),
      ),
    ).toEqual(['e1 name x', 'e1 total 7', 'e2 name y', 'e2 total 8']);
  });

  test('one value fills all marked cells, and only marked ones', () => {
    expect(shown([['1']], range(0, 2, 2, 2))).toEqual([
      'e0 total 1 same',
      'e1 total 1',
      'e2 total 1',
    ]);
    expect(shown([['1']], range(0, 2, 1, 2))).toHaveLength(2);
  });

  test('one row or one column is repeated, when the marked cells are a multiple of it', () => {
    expect(shown([['x', '1']], range(0, 1, 1, 2))).toHaveLength(4);
    expect(shown([['x'], ['y']], range(0, 1, 2, 1))).toEqual(['e0 name x', 'e1 name y']);
  });

  test('what has no place in the grid is counted', () => {
    const table = Array.from({ length: 5 }, () => ['x', '1', 'a', 'b', 'c', 'd']);
    const { cells, outside } = plan(table, range(1, 1));
    expect(outside).toEqual({ rows: 3, columns: 2 });
    expect(new Set(cells.map(({ field }) => field.name))).toEqual(
      new Set(['name', 'total', 'state']),
    );
  });

  test('a table that begins in the column of ids fills the fields after it', () => {
    expect(shown([['id', 'x', '7']], range(0, 0))).toEqual(['e0 name x', 'e0 total 7']);
  });

  test('a row of the table that is shorter than others leaves cells alone', () => {
    expect(shown([['x', '7'], ['y']], range(0, 1))).toEqual([
      'e0 name x',
      'e0 total 7',
      'e1 name y',
    ]);
  });

  test('an empty cell is null, which an absent value is already', () => {
    expect(shown([['']], range(2, 1))).toEqual(['e2 name ']);
    expect(shown([['']], range(2, 2))).toEqual(['e2 total  same']);
    expect(shown([['']], range(2, 3))).toEqual(['e2 state  same']);
  });

  test.each<[string, DecimalSign, unknown]>([
    ['1,234.5', '.', 1234.5],
    ['1.234,5', ',', 1234.5],
    ['$ 1.234', ',', 1234],
    ['1.5', '.', 1.5],
    ['-1\u00a0234,5', ',', -1234.5],
    ['1.234,5', '.', 'number'],
    ['1,234.5', ',', 'number'],
    ['n/a', '.', 'number'],
  ])('the number %j where %j comes before the decimals', (text, decimal, expected) => {
    const [cell] = plan([[text]], range(0, 2), decimal).cells;
    expect(cell!.read.ok ? cell!.read.value : cell!.read.expected).toBe(expected);
  });

  test('a text that is no value of its field changes nothing', () => {
    const [cell] = plan([['n/a']], range(0, 2)).cells;
    expect(cell).toMatchObject({ isChanged: false, before: 1 });
  });

  test('an allowed value has its own type', () => {
    const [cell] = plan([['2']], range(0, 3)).cells;
    expect(cell!.read).toEqual({ ok: true, value: 2 });
  });

  test('no table, and one without cells, changes nothing', () => {
    expect(plan([], range(0, 1)).cells).toEqual([]);
    expect(plan([[]], range(0, 1)).cells).toEqual([]);
  });

  test('a whole sheet of 500,000 rows is counted, not refused as too large for a call', () => {
    const table = Array.from({ length: 500_000 }, () => ['x']);
    expect(plan(table, range(0, 1)).outside.rows).toBe(500_000 - entities.length);
  });
});
