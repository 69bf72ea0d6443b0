import { type TestDatabase, createTestDatabase } from '@parley/testing';
import { type Db, createDb } from '../client';
import { explainPartitions } from './explain-partitions';
import { type StatementNote, shapeOf } from './note-statements';

let database: TestDatabase;
let db: Db;

beforeAll(async () => {
  database = await createTestDatabase({ isPartitioned: true });
  db = createDb({ databaseUrl: database.url });
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

const problemsOf = async (...notes: Omit<StatementNote, 'name'>[]): Promise<string[]> => {
  const client = await db.pool.connect();
  try {
    return await explainPartitions(
      client,
      notes.map((note) => ({ name: 'explained', ...note })),
    );
  } finally {
    client.release();
  }
};
const outside =
  /^The statement explained does not stay in the partition of its tenant: it reads threads_part\d: /;

test.each([
  ['its own rows', 'select from threads where tenant = $1 and id = $2', [1]],
  [
    'two tables',
    'select from threads t join messages m using (tenant) where t.tenant = $2 and m.thread_id = $1',
    [2],
  ],
  ['a change', 'update threads set params = $2 where tenant = $1', [1]],
  [
    'a new row',
    'insert into threads (id, tenant, environment, updated_at) values ($1, $2, $3, now())',
    [2],
  ],
  ['no rows of a tenant', 'select from organizations where id = $1', []],
  ['no plan', 'create index on threads (id)', []],
])('a statement on %s stays with its tenant', async (_name, text, tenantAt) => {
  expect(await problemsOf({ text, tenantAt })).toEqual([]);
});

test.each([
  ['without the tenant', 'select from threads where id = $2 and $1 > 0', [1]],
  ['that compares another parameter', 'select from threads where tenant = $2 and $1 > 0', [1]],
  ['on rows of a tenant that is not named', 'select from threads where tenant = $1', []],
  [
    'that changes rows',
    'with deleted as (delete from threads where id = $2) select from events where tenant = $1',
    [1],
  ],
  [
    'that joins without it',
    'select from messages m join threads t on t.id = m.thread_id where m.tenant = $1',
    [1],
  ],
])('a statement %s is refused', async (_name, text, tenantAt) => {
  expect(await problemsOf({ text, tenantAt })).toEqual([expect.stringMatching(outside)]);
});

test('a statement across tenants may read every partition', async () => {
  expect(await problemsOf({ text: 'select from threads where id = $1', reason: 'sweep' })).toEqual(
    [],
  );
});

test('a text that the tables do not have is a problem, and the next one is explained', async () => {
  const problems = await problemsOf(
    { text: 'select from threads where tenant = $1 and removed', tenantAt: [1] },
    { text: 'select from threads where id = $1', tenantAt: [] },
  );
  expect(problems).toEqual([
    expect.stringContaining('cannot be explained: column "removed" does not exist'),
    expect.stringMatching(outside),
  ]);
});

test('texts that differ in the numbers of their parameters and the lengths of lists have one shape', () => {
  expect(shapeOf('where a in ($2, $3, $4) and b = $5')).toBe(shapeOf('where a in ($7) and b = $1'));
  expect(shapeOf('values ($1::int, $2), ($3::int, $4)')).toBe(shapeOf('values ($1::int, $2)'));
  expect(shapeOf('where a = $1')).not.toBe(shapeOf('where b = $1'));
});
