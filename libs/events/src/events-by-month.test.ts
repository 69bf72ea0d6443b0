import { readFileSync } from 'node:fs';
import type { Scope } from '@parley/contracts';
import {
  type Db,
  type Queryable,
  type Statement,
  type Tenant,
  createDb,
  orderValues,
} from '@parley/db';
import { createTestDatabase, until } from '@parley/testing';
import { heldEvents } from './held-events';
import { followEvents, readEvents } from './read-events';
import { type NewEvent, recordEvent, recordEventOnce } from './record-event';
import { eventsPurge, removeOldEvents } from './retention';
import { readPayloads, takeWaitingEvents } from './waiting-events';

/** The statements of the guide, in their order. */
const steps = [
  ...readFileSync(`${__dirname}/../../../docs/scaling.md`, 'utf8')
    .split('## Old events in partitions')[1]!
    .split('\n## ')[0]!
    .matchAll(/```sql\n([^]*?)```/g),
].map(([, sql]) => sql!);

const [mine, other]: Scope[] = [1, 2].map((tenant) => ({
  organizationId: `org_${tenant}`,
  tenant,
  environment: 'development',
})) as [Scope, Scope];
const event = (n: number): NewEvent => ({
  type: 'order.paid',
  entity: { type: 'order', id: `entity_${n % 10}` },
  payload: { n },
  actor: { type: 'system' },
});
/** Old events of a tenant, one a minute, that wait for nothing. */
const old = 5_000;

let db: Db;
let drop: () => Promise<void>;

beforeAll(async () => {
  // The partitions of this table are not those of tenants.
  delete process.env.PARLEY_TEST_PARTITIONS;
  const database = await createTestDatabase({ isPartitioned: false });
  db = createDb({ databaseUrl: database.url });
  drop = () => database.drop();
  await db.pool.query(
    `insert into organizations (id, no, slug, name, updated_at)
     select 'org_' || n, n, 'o' || n, 'O', now() from generate_series(1, 2) n`,
  );
  await db.pool.query(
    `insert into events (id, tenant, environment, type, entity_type, entity_id, payload, actor, relayed_at, created_at)
     select time_id((extract(epoch from at) * 1000)::bigint), tenant, 'development', 'order.paid', 'order', 'entity_' || n, '{}', '{"type":"system"}', at, at
     from generate_series(1, ${old}) n, generate_series(1, 2) tenant, lateral (select now() - interval '400 days' + n * interval '1 minute' as at) t`,
  );
  await recordEvent(db, mine, event(1));
  for (const step of steps) await db.pool.query(step);
  // The month after this one, so that events are in two partitions besides the first.
  await db.pool.query(
    `insert into events (id, tenant, environment, type, entity_type, entity_id, payload, actor)
     values (event_bound(event_month(1)) + 5, 1, 'development', 'order.later', 'order', 'entity_1', '{}', '{"type":"system"}')`,
  );
  await db.pool.query('vacuum analyze events');
});
afterAll(async () => {
  await db.close();
  await drop();
});

const count = async (where = 'true') =>
  (await db.pool.query(`select count(*)::int as n from events where ${where}`)).rows[0].n as number;

test('the guide makes a table with the same keys and indexes, whose first partition is the former table', async () => {
  expect(steps).toHaveLength(2);
  const partitions = await db.pool.query(
    `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'events'::regclass order by inhrelid`,
  );
  expect(partitions.rows).toHaveLength(14);
  expect(partitions.rows[0].name).toBe('events_before');
  // An index of the former table that did not fit would have been built again.
  const { rows } = await db.pool.query(
    `select p.relname, i.inhrelid::regclass::text as before from pg_inherits i join pg_class p on p.oid = inhparent
     join pg_index x on x.indexrelid = i.inhrelid where x.indrelid = 'events_before'::regclass order by 1`,
  );
  expect(rows.length).toBeGreaterThan(4);
  for (const { relname, before } of rows) expect(before).toBe(`${relname}_before`);
  expect(await count(`tableoid = 'events_before'::regclass`)).toBe(2 * old + 1);
});

test('events are recorded, read, followed, relayed and held as in one table', async () => {
  const { cursor } = (await followEvents(db, mine, {}, null, 10)) as { cursor: string };
  const id = await recordEvent(db, mine, event(2));
  await recordEventOnce(db, mine, event(3), 'n');
  await recordEventOnce(db, mine, event(3), 'n');
  const { events } = await readEvents(db, mine, { entityId: 'entity_2' }, 1);
  expect(events).toMatchObject([{ id, payload: { n: 2 } }]);
  expect((await readEvents(db, mine, {}, 2)).events.map(({ type }) => type)).toEqual([
    'order.later',
    'order.paid',
  ]);
  // Transactions of other test files are in the same PostgreSQL. Followers wait for those
  // that began earlier.
  const followed = await until(() => followEvents(db, mine, {}, cursor, 10), {
    isThere: (read) => read.ok && read.events.length >= 2,
  });
  expect(followed).toMatchObject({
    ok: true,
    events: [{ payload: { n: 2 } }, { payload: { n: 3 } }],
  });

  await db.pool.query(`update events set relayed_at = null where id = $1 or type = 'order.later'`, [
    id,
  ]);
  await db.transaction(async (tx) => {
    const { events: waiting } = await takeWaitingEvents(tx);
    expect(waiting.map(({ type }) => type)).toEqual(['order.paid', 'order.later']);
    expect([...(await readPayloads(tx, waiting)).values()]).toEqual([{ n: 2 }, {}]);
  });
  await db.pool.query(`update events set relayed_at = null where id = $1`, [id]);
  expect(await heldEvents.hold(db)).toBe(1);
});

/** The plan of the first batch that retention deletes of a tenant, with what was executed. */
async function planOfBatch(): Promise<string> {
  const client = await db.pool.connect();
  try {
    let plan = '';
    const explain: Queryable = {
      ...db,
      async query(subject, statement, given = {}) {
        const { text } = statement;
        await client.query(
          `begin; set local plan_cache_mode = force_generic_plan; prepare batch as ${text}`,
        );
        const options = 'analyze, costs off, timing off, buffers off';
        const values = orderValues(statement as Statement, given, (subject as Tenant).tenant);
        const list = values.map((value) => client.escapeLiteral(String(value))).join();
        const { rows } = await client.query(`explain (${options}) execute batch (${list})`);
        await client.query('rollback; deallocate batch');
        plan ||= rows.map((row: Record<string, string>) => row['QUERY PLAN']).join('\n');
        return { rows: [{ last: null, old: 0, removed: 0 }], rowCount: 1 } as never;
      },
    };
    await removeOldEvents(explain, 'true', 365, new AbortController().signal);
    return plan;
  } finally {
    client.release(true);
  }
}

test('a batch of retention finds its rows by the primary key, in the partition that has them', async () => {
  const plan = await planOfBatch();
  const scans = plan.split('\n').filter((line) => / Scan .* t(_\d+)? \(actual /.test(line));
  expect(scans).toEqual([
    expect.stringMatching(/Index Scan using events_pkey_before on events_before t_1 .*rows=1000/),
  ]);
  expect(plan).not.toMatch(/Hash Join|Merge Join/);
});

test('retention deletes old events of all tenants in turns', async () => {
  const turns: number[] = [];
  const recorder: Queryable = {
    ...db,
    query: (subject, statement, values) => {
      turns.push((subject as Tenant).tenant);
      return db.query(subject, statement, values);
    },
  };
  const before = await count();
  expect(await removeOldEvents(recorder, 'true', 365, new AbortController().signal)).toBe(2 * old);
  expect(await count()).toBe(before - 2 * old);
  expect(turns.slice(0, 6)).toEqual([1, 2, 1, 2, 1, 2]);
});

test('the purge of an organization deletes its events from all partitions', async () => {
  const remove = eventsPurge[0]!;
  await recordEvent(db, other, event(1));
  const ofMine = await count('tenant = 1');
  expect(ofMine).toBeGreaterThan(3);
  expect(await remove(db, mine)).toEqual({ events: ofMine });
  expect(await count('tenant = 1')).toBe(0);
  expect(await count('tenant = 2')).toBe(1);
});
