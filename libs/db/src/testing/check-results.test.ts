import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestDatabase, createTestDatabase } from '@parley/testing';
import { type Db, createDb } from '../client';
import { type Statement, column, statement, unprepared } from '../statement';
import { type StatementNote } from './note-statements';
import { observeProcess } from './observe-process';

const tenant = { tenant: 1 };
const folder = mkdtempSync(join(tmpdir(), 'parley-statements-'));
let database: TestDatabase;
let db: Db;

beforeAll(async () => {
  database = await createTestDatabase();
  observeProcess(folder, { isPartitioned: process.env.PARLEY_TEST_PARTITIONS === 'true' });
  db = createDb({ databaseUrl: database.url });
});

afterAll(async () => {
  await db.close();
  await database.drop();
  rmSync(folder, { recursive: true });
});

const everything = `'t' as a, 1 as b, 2::int8 as c, 1.5::float8 as d, true as e, now() as f, '\\x00'::bytea as g,
  array['x'] as h, '{"n":1}'::jsonb as i, 'production'::"Environment" as j, null::text as k`;
const declared = {
  a: column.text,
  b: column.int4,
  c: column.int8,
  d: column.float8,
  e: column.bool,
  f: column.timestamptz,
  g: column.bytea,
  h: column.textArray,
  i: column.jsonb<{ n: number }>(),
  j: column.oneOf<'development' | 'production'>('Environment'),
  k: column.text.nullable,
};

const notes = (): StatementNote[] =>
  readFileSync(join(folder, `${process.pid}.jsonl`), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as StatementNote);

const problemOf = async (run: Statement<unknown>): Promise<string> => {
  const { message } = (await db.query(tenant, run).catch((error: unknown) => error)) as Error;
  return message.replace('The statement wrong does not return what it declares: ', '');
};

it('accepts a result that matches its declaration, even in a transaction', async () => {
  const all = statement('everything', `select ${everything}`, declared);
  const { rows } = await db.query(tenant, all);
  expect(rows[0]).toMatchObject({
    a: 't',
    b: 1,
    c: '2',
    d: 1.5,
    e: true,
    h: ['x'],
    i: { n: 1 },
    j: 'production',
    k: null,
  });
  await db.transaction(async (tx) =>
    expect((await tx.acrossTenants('sweep', all)).rowCount).toBe(1),
  );
  expect(notes()).toEqual([
    { name: 'everything', text: all.text, tenantAt: [] },
    { name: 'everything', text: all.text, reason: 'sweep' },
  ]);
});

it('refuses a column of another type, a missing one, an undeclared one, and an undeclared null', async () => {
  expect(await problemOf(unprepared('wrong', 'select 1::int8 as n', { n: column.int4 }))).toBe(
    'n is int8 and not int4 or int2',
  );
  expect(
    await problemOf(
      unprepared('wrong', `select 'development'::"Environment" as n`, { n: column.text }),
    ),
  ).toMatch(/^n is Environment/);
  expect(
    await problemOf(unprepared('wrong', 'select 1 as n', { n: column.int4, m: column.int4 })),
  ).toBe('n and not m, n');
  expect(await problemOf(unprepared('wrong', 'select 1 as n, 2 as m', { n: column.int4 }))).toBe(
    'm, n and not n',
  );
  expect(await problemOf(unprepared('wrong', 'select 1 as n'))).toBe('n and not ');
  expect(await problemOf(unprepared('wrong', 'select null::int as n', { n: column.int4 }))).toBe(
    'n is null',
  );
  // When the caller ignores the error, `npm test` still lists the statement as not run.
  expect(notes().map(({ name }) => name)).not.toContain('wrong');
});
