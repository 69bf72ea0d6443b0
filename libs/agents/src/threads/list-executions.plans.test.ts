import type { Scope } from '@parley/contracts';
import { type Db, type Queryable, type Statement, type Values, createDb } from '@parley/db';
import { type SeededOrganization, createTestDatabase, seedOrganization } from '@parley/testing';
import { type ExecutionFilters, firstIdAt, listExecutions } from './read-executions';

const count = 20_000;
const started = Date.UTC(2026, 0, 1);
const firstPage = { limit: 50, before: null };

let db: Db;
let org: SeededOrganization;
let drop: () => Promise<void>;

/**
 * One execution a second. Every 1,000th failed, every 997th has a tool error, 9 of 10 are of
 * the agent `main`.
 */
beforeAll(async () => {
  const database = await createTestDatabase();
  db = createDb({ databaseUrl: database.url });
  drop = () => database.drop();
  org = await seedOrganization(db.pool, {});
  const { tenant } = org.scope;
  await db.pool.query(
    `insert into threads (id, tenant, environment, updated_at) select 't' || n, $1, 'development', now() from generate_series(0, 99) n`,
    [tenant],
  );
  await db.pool.query(
    `insert into executions (id, tenant, environment, thread_id, agent_slug, status, input, output, steps, tool_error_count, lease_until, created_at)
     select time_id($2::bigint + n * 1000), $1, 'development', 't' || n % 100, case when n % 10 = 3 then 'rare' else 'main' end,
       (case when n % 1000 = 0 then 'failed' when n = 77 or n = 78 then 'running' else 'succeeded' end)::"ExecutionStatus",
       'Message ' || n, case when n % 5000 = 1 then null else 'Answer' end, '[]', (n % 997 = 0)::int,
       case n when 77 then now() + interval '1 hour' when 78 then now() - interval '1 hour' end,
       to_timestamp(($2::bigint + n * 1000) / 1000.0)
     from generate_series(0, ${count - 1}) n`,
    [tenant, started],
  );
  await db.pool.query('vacuum analyze executions');
});
afterAll(async () => {
  await db.close();
  await drop();
});

const numbersOf = (items: { input: string }[]) =>
  items.map(({ input }) => Number(input.slice('Message '.length)));

const descending = (matches: (n: number) => boolean) =>
  Array.from({ length: count }, (_, i) => count - 1 - i).filter(matches);
const isFailed = (n: number) => n % 1000 === 0;
const isStored = (n: number) => n % 5000 === 1;
const isOpen = (n: number) => n === 77 || n === 78;

test.each<[string, ExecutionFilters, (n: number) => boolean]>([
  ['all', {}, () => true],
  ['an agent', { agentSlug: 'rare' }, (n) => n % 10 === 3],
  ['an agent without executions', { agentSlug: 'none' }, () => false],
  ['failed', { status: 'failed' }, isFailed],
  ['stored', { status: 'stored' }, isStored],
  ['running', { status: 'running' }, (n) => n === 77],
  ['stalled', { status: 'stalled' }, (n) => n === 78],
  ['succeeded', { status: 'succeeded' }, (n) => !isFailed(n) && !isStored(n) && !isOpen(n)],
  ['tool errors', { toolErrors: true }, (n) => n % 997 === 0],
  [
    'tool errors of an agent',
    { toolErrors: true, agentSlug: 'rare' },
    (n) => n % 997 === 0 && n % 10 === 3,
  ],
  ['a thread', { threadId: 't7' }, (n) => n % 100 === 7],
  ['failed in a thread', { threadId: 't0', status: 'failed', agentSlug: 'main' }, isFailed],
  ['since', { since: new Date(started + 19_990_000) }, (n) => n >= 19_990],
])('filters: %s', async (_name, filters, matches) => {
  const expected = descending(matches);
  const first = await listExecutions(db, org.scope, { ...firstPage, ...filters });
  expect(numbersOf(first.items)).toEqual(expected.slice(0, 50));
  expect(first.next !== null).toBe(expected.length > 50);
  if (first.last === null) return;
  const second = await listExecutions(db, org.scope, { limit: 50, before: first.last, ...filters });
  expect(numbersOf(second.items)).toEqual(expected.slice(50, 100));
});

test('the first id of a time is that of PostgreSQL, and a time without bounds is accepted', async () => {
  const { rows } = await db.pool.query<{ id: string }>(
    'select (time_id($1) >> 21 << 21)::text as id',
    [started],
  );
  expect(String(firstIdAt(new Date(started)))).toBe(rows[0]!.id);
  const page = { ...firstPage, since: new Date(8.64e15) };
  expect((await listExecutions(db, org.scope, page)).items).toEqual([]);
});

/** Generic plans, which production uses, of the statements that a list executes. */
async function plansOf(filters: ExecutionFilters): Promise<string[]> {
  const statements: Statement[] = [];
  const recorder = {
    query(tenant: Scope, statement: Statement, values: Values) {
      statements.push(statement);
      return db.query(tenant, statement, values);
    },
  };
  await listExecutions(recorder as unknown as Queryable, org.scope, { ...firstPage, ...filters });
  const explained = statements.map(({ text }) =>
    db.pool.query<{ 'QUERY PLAN': string }>(`explain (generic_plan, costs off) ${text}`),
  );
  return (await Promise.all(explained)).map(({ rows }) =>
    rows.map((row) => row['QUERY PLAN']).join('\n'),
  );
}

test.each<[ExecutionFilters, string]>([
  [{ status: 'failed', toolErrors: true }, 'executions_outcome_idx'],
  [{ agentSlug: 'rare', status: 'failed' }, 'executions_agent_outcome_idx'],
  [{ threadId: 't7' }, 'executions_tenant_thread_id_id_idx'],
])('the list with %j reads the rows of its page in index order', async (filters, index) => {
  const [plan] = await plansOf(filters);
  expect(plan).toContain(`Index Scan Backward using ${index} on executions`);
  expect(plan).not.toMatch(/Seq Scan|Bitmap|Hash Join|Merge Join/);
  // The filters of other columns than the index has are those of open turns, of
  // which there are few.
  expect(plan).not.toMatch(/Sort[^]*Sort[^]*Sort/);
});
