import { type Db, type Queryable, type Statement, type Values, createDb } from '@parley/db';
import { type SeededOrganization, createTestDatabase, seedOrganization } from '@parley/testing';
import { type ThreadFilters, listThreads } from './read-threads';

const count = 20_000;
const visitorId = 'user_1';

let db: Db;
let org: SeededOrganization;
let drop: () => Promise<void>;

/**
 * One thread a minute, the first one is the newest. Every 1,000th is a person's, every 997th
 * unread, every 991st assigned, half are closed.
 */
beforeAll(async () => {
  const database = await createTestDatabase();
  db = createDb({ databaseUrl: database.url });
  drop = () => database.drop();
  org = await seedOrganization(db.pool, {});
  const { tenant } = org.scope;
  await db.pool.query(
    `insert into threads (id, tenant, environment, external_id, channel, state, status, assignee_id, last_message_at, updated_at)
     select 't' || n, $1, 'development', 'contact ' || n, 'api', (case when n % 1000 = 0 then 'human' else 'agent' end)::"ThreadState",
       (case when n % 2 = 0 then 'open' else 'closed' end)::"ThreadStatus", case when n % 991 = 0 then 'user_2' end, now() - n * interval '1 minute', now()
     from generate_series(0, ${count - 1}) n`,
    [tenant],
  );
  await db.pool.query(
    `insert into thread_visits (tenant, thread_id, visitor_id, visitor, read_at)
     select $1, 't' || n, $2, '{}', now() from generate_series(0, ${count - 1}) n where n % 997 <> 0`,
    [tenant, visitorId],
  );
  await db.pool.query('vacuum analyze threads, thread_visits');
});
afterAll(async () => {
  await db.close();
  await drop();
});

const indexes: Record<string, string> = {
  'of a person': 'threads_of_people_idx',
  assigned: 'threads_assigned_idx',
};

test.each<[string, ThreadFilters & { isUnread?: boolean }, (n: number) => boolean]>([
  ['all', {}, () => true],
  ['open', { status: 'open', state: 'agent' }, (n) => n % 2 === 0 && n % 1000 !== 0],
  ['of a person', { state: 'human' }, (n) => n % 1000 === 0],
  ['unread', { isUnread: true }, (n) => n % 997 === 0],
  ['assigned', { assigneeId: 'user_2' }, (n) => n % 991 === 0],
  ['text', { text: 'CONTACT 1999' }, (n) => String(n).startsWith('1999')],
])('%s: each thread once, in order of an index', async (name, filters, matches) => {
  const plans: string[] = [];
  const explained = {
    query: async (scope: object, statement: Statement, values: Values) => {
      const { rows } = await db.pool.query(`explain (generic_plan, costs off) ${statement.text}`);
      plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'));
      return db.query(scope as never, statement, values);
    },
  } as unknown as Queryable;
  const found: number[] = [];
  for (
    let before: Parameters<typeof listThreads>[2]['before'] = null, pages = 0;
    pages < 3;
    pages += 1
  ) {
    const page = await listThreads(explained, org.scope, {
      limit: 7,
      before,
      visitorId,
      ...filters,
    });
    found.push(...page.items.map(({ id }) => Number(id.slice(1))));
    if (page.next === null) break;
    before = page.last;
  }
  const expected = Array.from({ length: count }, (_, n) => n).filter(matches);
  expect(found).toEqual(expected.slice(0, 21));
  // A text is searched in all threads. All marks of the visitor are read at once.
  const index = indexes[name] ?? 'threads_tenant_environment_last_message';
  for (const plan of name === 'text' ? [] : plans)
    if (name === 'unread') expect(plan).toMatch(/Hash.*\n(.*\n)*.*CTE Scan on marks/);
    else {
      expect(plan).toContain(index);
      expect(plan).not.toMatch(/Sort|Seq Scan on threads/);
    }
});
