import type { DecimalSign, Format } from '@parley/rows';
import { openFile, readRows } from './parse-file';

type Bytes = string | number[] | Uint8Array<ArrayBuffer>;
const fileOf = (bytes: Bytes): File =>
  new File([typeof bytes === 'string' ? bytes : new Uint8Array(bytes)], 'orders.csv');
const open = (bytes: Bytes, format: Format = 'csv') =>
  openFile({ kind: 'open', file: fileOf(bytes), format });
/** A text in UTF-16, with its mark. */
const utf16 = (text: string, isLittle: boolean): number[] =>
  [...Array(text.length + 1).keys()].flatMap((at) => {
    const code = at === 0 ? 0xfeff : text.charCodeAt(at - 1);
    return isLittle ? [code & 255, code >> 8] : [code >> 8, code & 255];
  });

const columns = [
  { is: 'id' as const },
  { is: 'field' as const, name: 'name' },
  { is: 'field' as const, name: 'total' },
];
const readAll = (count = 10, isGuarded = false, decimal: DecimalSign = '.') =>
  readRows({
    kind: 'read',
    from: 0,
    count,
    columns,
    schema: { total: 'number' },
    isGuarded,
    decimal,
  });

test('a file has a header, a sample and its number of rows', async () => {
  const rows = Array.from({ length: 20 }, (_, at) => `e${at},Ana,${at}`);
  const opened = await open([' id ,name,total', ...rows].join('\n'));
  expect(opened).toMatchObject({
    header: ['id', 'name', 'total'],
    rowCount: 20,
    encoding: 'utf-8',
  });
  expect(opened.sample).toHaveLength(5);
  expect(opened.sample[4]).toEqual(['e4', 'Ana', '4']);
});

test.each<[string, Bytes, string | null]>([
  ['UTF-8 with its mark', '\uFEFFid,name\n1,Muñoz 👋', 'utf-8'],
  ['UTF-16 of Windows', utf16('id,name\n1,Muñoz 👋', true), 'utf-16le'],
  ['UTF-16 in the other order', utf16('id,name\n1,Muñoz 👋', false), 'utf-16be'],
  [
    'the encoding of Windows',
    [...Buffer.from('id,name\n1,Mu\xf1oz \x80', 'latin1')],
    'windows-1252',
  ],
])('the letters of a file in %s are read', async (_name, bytes, encoding) => {
  const opened = await open(bytes);
  expect(opened.encoding).toBe(encoding);
  expect(opened.header).toEqual(['id', 'name']);
  expect(opened.sample[0]![1]).toMatch(/^Muñoz (👋|€)$/);
});

test('a file that is no text is none', async () => {
  expect(await open([0x50, 0x4b, 3, 4, 0, 0, 8])).toMatchObject({
    encoding: null,
    rowCount: 0,
    header: null,
  });
});

test.each<[string, string[] | null, number]>([
  ['', [], 0],
  ['\n\n', [], 0],
  ['id,name', ['id', 'name'], 0],
  ['id,name\n', ['id', 'name'], 0],
  ['id;name\r\n1;a\r\n\r\n2;b\r\n', ['id', 'name'], 2],
  ['id\tname\n1\t"a\tb"', ['id', 'name'], 1],
])('the file %j has the header %j and %i rows', async (text, header, rowCount) => {
  expect(await open(text)).toMatchObject({ header, rowCount });
});

test('a quote that is never closed is an error with its row', async () => {
  await expect(open('id,name\n1,a\n2,"b\n3,c')).rejects.toThrow('row 3: a quote is never closed');
});

test('two files have the same fingerprint only if their texts are the same', async () => {
  const prints = await Promise.all(
    ['a,b', 'a,b ', 'b,a', '', 'ñ', 'n'].map(async (text) => (await open(text)).fingerprint),
  );
  expect(new Set(prints).size).toBe(prints.length);
  expect((await open('a,b')).fingerprint).toBe(prints[0]);
  expect((await open('\uFEFFa,b')).fingerprint).toBe(prints[0]);
});

test('rows become entities, and empty cells set nothing', async () => {
  await open('id,name,total\nent_1,"Ana ""x""",1.5\n,,\n');
  expect(readAll()).toEqual([
    { line: 2, ok: true, entity: { id: 'ent_1', data: { name: 'Ana "x"', total: 1.5 } } },
    { line: 3, ok: true, entity: { data: {} } },
  ]);
});

test('a row names its line of the file, also after cells with several lines', async () => {
  await open('id,name,total\n1,"a\r\nb\r\nc",1\n\n2,d,x');
  expect(readAll()).toMatchObject([
    { line: 2, ok: true },
    { line: 6, ok: false, problem: { name: 'total', expected: 'number', text: 'x' } },
  ]);
});

test('a row with more cells than the header is refused, unless they are empty', async () => {
  await open('id,name,total\n1,a,1,b\n2,a,1,,\n3,a');
  expect(readAll()).toMatchObject([
    { ok: false, problem: { expected: 'fewerCells' } },
    { ok: true },
    { ok: true },
  ]);
});

test('an apostrophe before a formula is removed from an export only', async () => {
  await open("id,name,total\n1,'=1+1,2");
  const nameIn = (isGuarded: boolean) =>
    readAll(1, isGuarded).map((row) => row.ok && row.entity.data.name);
  expect(nameIn(true)).toEqual(['=1+1']);
  expect(nameIn(false)).toEqual(["'=1+1"]);
});

test('numbers have the decimal sign that was chosen', async () => {
  await open('id;name;total\n1;a;1.234,5');
  expect(readAll(1, false, ',')).toMatchObject([{ ok: true, entity: { data: { total: 1234.5 } } }]);
  expect(readAll(1, false, '.')).toMatchObject([{ ok: false, problem: { expected: 'number' } }]);
});

test('a part of the rows is read, and nothing after the last', async () => {
  await open('id,name,total\n1,a,1\n2,b,2\n3,c,3');
  const read = (from: number, count: number) =>
    readRows({
      kind: 'read',
      from,
      count,
      columns,
      schema: {},
      isGuarded: false,
      decimal: '.',
    }).map(({ line }) => line);
  expect([read(1, 1), read(2, 500), read(3, 500)]).toEqual([[3], [4], []]);
});

test('JSON lines have no header, and each line is an entity, or says why it is none', async () => {
  const lines = [
    '{"name": "Ana"}',
    '',
    '{"id": "ent_1", "status": "paid", "data": {"total": 1}}',
    '{"name": }',
    '[1]',
    'null',
    '{"__proto__": {"a": 1}}',
  ];
  const opened = await open(`\uFEFF${lines.join('\r\n')}`, 'jsonl');
  expect(opened).toMatchObject({ header: null, rowCount: 6, encoding: 'utf-8' });
  const rows = readAll();
  expect(rows.slice(0, 5)).toEqual([
    { line: 1, ok: true, entity: { data: { name: 'Ana' } } },
    { line: 3, ok: true, entity: { id: 'ent_1', status: 'paid', data: { total: 1 } } },
    { line: 4, ok: false, problem: { expected: 'json' } },
    { line: 5, ok: false, problem: { expected: 'object' } },
    { line: 6, ok: false, problem: { expected: 'object' } },
  ]);
  const [last] = rows.slice(5);
  expect(last!.ok && Object.keys(last!.entity.data)).toEqual(['__proto__']);
});

test('a file of 20,000 rows is read', async () => {
  const opened = await open(`id,name,total\n${'1,"a, b",2\n'.repeat(20_000)}`);
  expect(opened.rowCount).toBe(20_000);
});
