import { type Db, createDb } from '@parley/db';
import { heldEvents } from '@parley/events';
import { silentLogger } from '@parley/service';
import { openTestDatabase } from '@parley/testing';
import { createSweepRetention } from './sweep-retention';

/** Rows that one statement of the sweep deletes (libs/db). */
const batchRows = 1_000;

let db: Db;
beforeAll(async () => {
  db = await openTestDatabase(createDb);
  await db.pool.query(
    "insert into organizations (id, no, slug, name, updated_at) values ('org', 1, 'o', 'O', now())",
  );
});
beforeEach(() => db.pool.query('truncate events, trigger_runs'));
afterAll(async () => {
  await db?.close();
});

const retention = { doneDays: 30, openDays: 180 };
const sweep = (
  history: { eventDays: number; runDays: number },
  signal = new AbortController().signal,
) =>
  createSweepRetention({
    db,
    history,
    retention,
    log: silentLogger(),
  })({}, { signal });

/** Adds an event with the given age, about a new entity. Returns its id. */
async function addEvent(daysAgo: number, { isRelayed = true } = {}): Promise<string> {
  const { rows } = await db.pool.query<{ id: string }>(
    `insert into events (tenant, environment, type, entity_type, entity_id, payload, actor, created_at, relayed_at)
     values (1, 'development', 'entity.created', 'order', gen_random_uuid(), '{}', '{}', now() - $1 * interval '1 day',
       case when $2 then now() end)
     returning id::text`,
    [daysAgo, isRelayed],
  );
  return rows[0]!.id;
}

let runs = 0;
/** Adds a run of an event, or of a schedule if there is none. Returns its id. */
async function addRun(
  status: string,
  { daysAgo, endedDaysAgo = null }: { daysAgo: number; endedDaysAgo?: number | null },
  eventId: string | null = null,
): Promise<string> {
  const id = `run_${String((runs += 1)).padStart(6, '0')}`;
  await db.pool.query(
    `insert into trigger_runs (id, tenant, environment, trigger_slug, cause, entity_id, event_id, status, run_at,
       context, created_at, finished_at)
     values ($1, 1, 'development', 'trigger', $1, (select entity_id from events where id = $2::bigint), $2::bigint,
       $3::"TriggerRunStatus", now(), '{}', now() - $4 * interval '1 day', now() - $5 * interval '1 day')`,
    [id, eventId, status, daysAgo, endedDaysAgo],
  );
  return id;
}

const idsOf = async (table: string): Promise<string[]> =>
  (
    await db.pool.query<{ id: string }>(`select id::text from ${table} order by ${table}.id`)
  ).rows.map(({ id }) => id);

it('deletes old events, except those that are not relayed or that a run still needs', async () => {
  await addEvent(400);
  const unrelayed = await addEvent(400, { isRelayed: false });
  const ofWaiting = await addEvent(400);
  const ofRunning = await addEvent(400);
  const ofDead = await addEvent(400);
  const ofEnded = await addEvent(400);
  const young = await addEvent(300);
  await addRun('scheduled', { daysAgo: 400 }, ofWaiting);
  await addRun('running', { daysAgo: 400 }, ofRunning);
  await addRun('dead', { daysAgo: 400, endedDaysAgo: 10 }, ofDead);
  await addRun('succeeded', { daysAgo: 400, endedDaysAgo: 10 }, ofEnded);
  await sweep({ eventDays: 365, runDays: 90 });
  expect(await idsOf('events')).toEqual([unrelayed, ofWaiting, ofRunning, ofDead, young]);
  expect(await idsOf('trigger_runs')).toHaveLength(4);
});

it('keeps held events, which are relayed when they are released', async () => {
  const held = await addEvent(400, { isRelayed: false });
  await heldEvents.hold(db);
  await addEvent(400);
  await sweep({ eventDays: 365, runDays: 90 });
  expect(await idsOf('events')).toEqual([held]);
});

it('deletes runs some days after their end, whatever their status, and never one that has not ended', async () => {
  for (const status of ['succeeded', 'dead', 'cancelled'])
    await addRun(status, { daysAgo: 100, endedDaysAgo: 95 });
  const kept = [
    await addRun('scheduled', { daysAgo: 100 }),
    await addRun('running', { daysAgo: 100 }),
    await addRun('succeeded', { daysAgo: 100, endedDaysAgo: 80 }),
    await addRun('dead', { daysAgo: 80, endedDaysAgo: 80 }),
  ];
  await sweep({ eventDays: 365, runDays: 90 });
  expect(await idsOf('trigger_runs')).toEqual(kept);
});

it('deletes in batches, skips rows that must be kept, and stops between two batches when the worker is stopped', async () => {
  const add = (count: number, days: number) =>
    db.pool.query(
      `insert into events (tenant, environment, type, payload, actor, created_at, relayed_at)
       select 1, 'development', 'note', '{}', '{}', now() - $2 * interval '1 day', now() from generate_series(1, $1)`,
      [count, days],
    );
  await addEvent(400, { isRelayed: false });
  await add(2 * batchRows + 10, 400);
  await add(5, 1);
  const stopped = new AbortController();
  stopped.abort(new Error('stopping'));
  await expect(sweep({ eventDays: 365, runDays: 90 }, stopped.signal)).rejects.toThrow('stopping');
  expect(await idsOf('events')).toHaveLength(2 * batchRows + 16);
  await sweep({ eventDays: 365, runDays: 90 });
  expect(await idsOf('events')).toHaveLength(6);
});

it('deletes statuses without a message after the retention of open deliveries', async () => {
  await db.pool.query(
    `insert into provider_statuses (provider, external_id, status, rank, updated_at)
     values ('kapso', 'old', 'read', 3, now() - interval '181 days'), ('kapso', 'new', 'read', 3, now() - interval '179 days')`,
  );
  await sweep({ eventDays: 0, runDays: 0 });
  const { rows } = await db.pool.query('select external_id from provider_statuses');
  expect(rows).toEqual([{ external_id: 'new' }]);
});

it('keeps all rows with a retention of 0 days', async () => {
  await addEvent(4_000);
  await addRun('succeeded', { daysAgo: 4_000, endedDaysAgo: 4_000 });
  await sweep({ eventDays: 0, runDays: 0 });
  expect([await idsOf('events'), await idsOf('trigger_runs')]).toMatchObject([
    { length: 1 },
    { length: 1 },
  ]);
});
