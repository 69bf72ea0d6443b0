import fc from 'fast-check';
import type { Entity, JsonObject } from '@parley/contracts';
import { createWriter, guardText, parseCsv, unguardText } from '@parley/rows';
import { readRows } from './rows';

const schema = {
  name: 'string',
  price: 'number',
  inStock: 'boolean',
  tags: 'array',
  size: 'object',
  note: 'any',
};

test.each([
  ['\ufeffname;price;note\r\n"Lamp; small";12.5;a,b\r\n', 'Lamp; small'],
  ['name\tprice\tnote\nLamp, small\t12.5\ta,b\n', 'Lamp, small'],
  ['name,"price",note\nLamp;;;,12.5,"a,b"\n', 'Lamp;;;'],
])('the delimiter is taken from the first line: %j', (text, name) => {
  expect(readRows(text, 'csv', schema)).toEqual({
    problems: [],
    rows: [{ data: { name, price: 12.5, note: 'a,b' } }],
  });
});

test('a delimiter inside quotes is ignored', () => {
  expect(parseCsv('"a;b;c",d\n1,2\n').map(({ cells }) => cells)).toEqual([
    ['a;b;c', 'd'],
    ['1', '2'],
  ]);
});

test('a field whose name holds delimiters is read back', () => {
  const names = { 'a;b;c;d;e;f;g;h;i;j;k': 'string', 'l\tm\tn\to\tp\tq\tr\ts\tt': 'string' };
  const { head, line } = createWriter('csv', names);
  const data = Object.fromEntries(Object.keys(names).map((name) => [name, 'x;y']));
  expect(readRows(head + line(entity(data)), 'csv', names).rows).toEqual([
    { status: 'draft', data },
  ]);
});
const entity = (data: JsonObject): Entity => ({
  id: 'entity_1',
  type: 'product',
  status: 'draft',
  data,
  createdAt: 1,
  updatedAt: 2,
});

test('fields whose names every object inherits are read back, whether the type declares them or not', () => {
  const text = '{"__proto__":"a","constructor":"b","toString":"c","valueOf":5}';
  const data = JSON.parse(text) as JsonObject;
  for (const schemaText of ['{"name":"string"}', '{"__proto__":"string","constructor":"string"}']) {
    const fields = JSON.parse(schemaText) as Record<string, string>;
    const { head, line } = createWriter('csv', fields);
    const [row] = readRows(head + line(entity(data)), 'csv', fields).rows;
    for (const [name, value] of Object.entries(data))
      expect(Object.getOwnPropertyDescriptor(row!.data, name)?.value).toBe(value);
    expect(Object.keys(row!.data)).toHaveLength(4);
  }
});

const formula = fc.string({
  unit: fc.constantFrom("'", '=', '+', '-', '@', '\t', '\r', '1', 'a'),
  maxLength: 4,
});

test('text that a spreadsheet would run gets an apostrophe, and every text is read back', () => {
  const hostile = ['=1+1', '+56911112222', '-2', '@SUM(A1)', '\t=1', '\r=1', "'=1", "''@x"];
  expect(hostile.map((text) => guardText(text))).toEqual(hostile.map((text) => `'${text}`));
  expect(hostile.map((text) => guardText(text, true))).toEqual([
    ...hostile.slice(0, 6),
    "''=1",
    "'''@x",
  ]);
  expect(['plain', '', "it's", "'quoted'", '1-2'].map((text) => guardText(text))).toEqual([
    'plain',
    '',
    "it's",
    "'quoted'",
    '1-2',
  ]);
  fc.assert(
    fc.property(formula, fc.boolean(), (text, keep) =>
      expect(unguardText(guardText(text, keep))).toBe(text),
    ),
  );
  const { head, line } = createWriter('csv', schema);
  const [, written] = (head + line(entity({ name: '=cmd()', price: -5, size: { a: '=1' } }))).split(
    '\n',
  );
  expect(written).toBe(`entity_1,draft,1,2,'=cmd(),-5,,,"{""a"":""=1""}",,`);
});

test.each([
  ['csv', false],
  ['csv', true],
  ['jsonl', false],
] as const)(
  'an import reads what an export writes as %s (formulas kept: %s)',
  (format, keepFormulas) => {
    const { head, line } = createWriter(format, schema, keepFormulas);
    const value = fc.oneof(
      fc.string(),
      formula,
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.boolean(),
      fc.constant(null),
    );
    const field = fc.oneof(
      value,
      fc.array(value, { maxLength: 2 }),
      fc.dictionary(fc.string(), value, { maxKeys: 2 }),
    );
    const names = fc.constantFrom(...Object.keys(schema), 'undeclared', 'data', 'x,"y"');
    fc.assert(
      fc.property(fc.dictionary(names, field, { maxKeys: 6 }), (data) => {
        const { rows, problems } = readRows(
          head + line(entity(data as JsonObject)),
          format,
          schema,
        );
        expect(problems).toEqual([]);
        const expected = JSON.parse(JSON.stringify({ status: 'draft', data })) as unknown;
        expect(JSON.parse(JSON.stringify(rows))).toEqual([expected]);
      }),
    );
  },
);

test('an export of a type without fields is read back', () => {
  const { head, line } = createWriter('csv', {});
  expect(readRows(head + line(entity({ a: '=1', id: 2 })), 'csv', {}).rows).toEqual([
    { status: 'draft', data: { a: '=1', id: 2 } },
  ]);
});

test('each column of a plain table is a field, typed by the schema', () => {
  const text = 'name,price,inStock,tags,status,own\nLamp,12.5,TRUE,"[""a""]",new,7\nVase,,,,,\n';
  expect(readRows(text, 'csv', schema)).toEqual({
    problems: [],
    rows: [
      { data: { name: 'Lamp', price: 12.5, inStock: true, tags: ['a'], status: 'new', own: '7' } },
      { data: { name: 'Vase' } },
    ],
  });
});

test.each([
  [
    'name,price,data.x\n',
    ['header: name, price would not be imported, because other columns are named data.<field>'],
  ],
  ['name,price,name,name\n', ['header: duplicate column name']],
  [
    'data.x,status,data.x,y\n',
    ['header: duplicate column data.x', 'header: y would not be imported'],
  ],
  ['name,\nLamp,\n', []],
  ['name,\nLamp,1\n', ['row 2: column 2 has a value but no name in the header: 1']],
])('a column whose values would be lost is refused: %j', (text, problems) => {
  expect(readRows(text, 'csv', {}).problems).toEqual(
    problems.map((problem) => expect.stringContaining(problem)),
  );
});

test('a line is a whole entity, or only its data', () => {
  const text =
    '{"name":"Lamp"}\n\n{"id":"1","type":"t","status":"draft","data":{"a":1},"createdAt":1,"updatedAt":1}\n{"data":{"b":1},"more":1}';
  expect(readRows(text, 'jsonl', {}).rows).toEqual([
    { data: { name: 'Lamp' } },
    { data: { a: 1 }, status: 'draft' },
    { data: { data: { b: 1 }, more: 1 } },
  ]);
});

test('every row that cannot be read is reported', () => {
  const text = 'name,price\nLamp,cheap\nVase,2\nCup,1,more\n';
  expect(readRows(text, 'csv', schema).problems).toEqual([
    'row 2: price must be a number: cheap',
    'row 4: has 3 fields, but the header has 2',
  ]);
  expect(readRows('{"a":1}\n[1]\n{', 'jsonl', {}).problems).toEqual([
    'line 2: must be a JSON object',
    expect.stringMatching(/^line 3: /),
  ]);
});
