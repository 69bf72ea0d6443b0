import { type Db, type Queryable, type Statement, createDb } from '@parley/db';
import { type SeededOrganization, createTestDatabase, seedOrganization } from '@parley/testing';
import { type ThreadFilters, listThreads } from './read-threads';

const count = 20_000;
const visitorId = 'user_1';

let db: Db;
let org: SeededOrganization;
let drop: () => Promise<void>;

/** One thread a minute, the first one is the newest. Every 1,000th is a person's, every 997th unread, half are closed. */
beforeAll(async () => {
  const database = await createTestDatabase();
  db = createDb({ databaseUrl: database.url });
  drop = () => database.drop();
  org = await seedOrganization(db.pool, {});
  const { tenant } = org.scope;
  await db.pool.query(
    `insert into threads (id, tenant, environment, external_id, channel, state, status, last_message_at, updated_at)
     select 't' || n, $1, 'development', 'contact ' || n, 'api', (case when n % 1000 = 0 then 'human' else 'agent' end)::"ThreadState",
       (case when n % 2 = 0 then 'open' else 'closed' end)::"ThreadStatus", now() - n * interval '1 minute', now()
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

test.each<[string, ThreadFilters, (n: number) => boolean]>([
  ['all', {}, () => true],
  ['open', { status: 'open', state: 'agent' }, (n) => n % 2 === 0 && n % 1000 !== 0],
  ['of a person', { state: 'human' }, (n) => n % 1000 === 0],
  ['unread', { isUnread: true }, (n) => n % 997 === 0],
  ['text', { text: 'CONTACT 1999' }, (n) => String(n).startsWith('1999')],
])('%s: each thread once, in order of an index', async (_name, filters, matches) => {
  const plans: string[] = [];
  const explained = {
    query: async (scope: object, statement: Statement, values: unknown[]) => {
      const { rows } = await db.pool.query(`explain (generic_plan, costs off) ${statement.text}`);
      plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'));
      return db.query(scope as never, statement, values);
    },
  } as Queryable;
  const found: number[] = [];
  for (let before: Parameters<typeof listThreads>[2]['before'] = null, pages = 0; pages < 3; pages += 1) {
    const page = await listThreads(explained, org.scope, { limit: 7, before, visitorId, ...filters });
    found.push(...page.items.map(({ id }) => Number(id.slice(1))));
    if (page.next === null) break;
    before = page.last;
  }
  const expected = Array.from({ length: count }, (_, n) => n).filter(matches);
  expect(found).toEqual(expected.slice(0, 21));
  // A text is searched in all threads.
  for (const plan of filters.text === undefined ? plans : []) {
    expect(plan).toContain(
      filters.state === 'human' ? 'threads_of_people_idx' : 'threads_tenant_environment_last_message',
    );
    expect(plan).not.toMatch(/Sort|Seq Scan on threads/);
  }
});
