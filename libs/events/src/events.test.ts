import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Scope } from '@parley/contracts';
import { type Db, type Queryable, column, createDb, statement } from '@parley/db';
import { openTestDatabase, until } from '@parley/testing';
import { type EventFilter, followEvents, readEvents as readPage } from './read-events';
import { type NewEvent, insertEventSql, recordEvent, recordEventOnce } from './record-event';
import { readPayloads, takeWaitingEvents } from './waiting-events';

const scope: Scope = { organizationId: 'org_9', tenant: 9, environment: 'development' };
const event: NewEvent = {
  type: 'payment.paid',
  entity: { type: 'payment', id: 'entity_1' },
  payload: { amount: 12 },
  actor: { type: 'webhook', provider: 'flow' },
};

const readEvents = async (...args: Parameters<typeof readPage>) => (await readPage(...args)).events;

/** The statement that docs/operations.md requires after a restore. */
const afterRestore = 'update events set xid = default';

let db: Db;
beforeAll(async () => {
  db = await openTestDatabase(createDb);
  await db.pool.query(
    `insert into organizations (id, no, slug, name, updated_at)
     select 'org_' || n, n, 'o' || n, 'O', now() from generate_series(1, 100) n`,
  );
});
afterAll(() => db.close());
beforeEach(() => db.pool.query('truncate events'));

test('an event is stored unchanged and can be read only in its environment', async () => {
  const id = await recordEvent(db, scope, { ...event, hops: 2, root: '17', requestId: 'req-1' });
  await recordEvent(db, { ...scope, environment: 'production' }, event);
  await recordEvent(db, { ...scope, tenant: 10 }, event);
  expect(await readEvents(db, scope, {}, 10)).toEqual([
    {
      id,
      type: 'payment.paid',
      entityType: 'payment',
      entityId: 'entity_1',
      payload: { amount: 12 },
      actor: { type: 'webhook', provider: 'flow' },
      hops: 2,
      root: '17',
      requestId: 'req-1',
      createdAt: expect.any(Number),
    },
  ]);
});

test('an event is part of the given transaction', async () => {
  const failing = db.transaction(async (tx) => {
    await recordEvent(tx, scope, event);
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  expect(await readEvents(db, scope, {}, 10)).toEqual([]);
});

test('recordEventOnce skips an event with the same value, but not one with another value or entity', async () => {
  const mismatch = (problem: string, id = 'entity_1') =>
    recordEventOnce(
      db,
      scope,
      {
        ...event,
        type: 'payment.mismatch',
        entity: { type: 'payment', id },
        payload: { problem, at: Math.random() },
      },
      'problem',
    );
  for (const problem of ['amount', 'amount', 'currency']) await mismatch(problem);
  await mismatch('amount', 'entity_2');
  const recorded = await readEvents(db, scope, {}, 10);
  expect(recorded.map(({ entityId, payload }) => [entityId, payload.problem])).toEqual([
    ['entity_2', 'amount'],
    ['entity_1', 'currency'],
    ['entity_1', 'amount'],
  ]);
});

test('events must match all conditions of a filter and are returned newest first', async () => {
  const ids: string[] = [];
  for (const type of ['order.made', 'orders.made', 'order.paid', 'note'])
    ids.push(
      await recordEvent(db, scope, {
        ...event,
        type,
        ...(type === 'note' && { entity: undefined }),
      }),
    );
  const types = async (filter: EventFilter, limit = 10) =>
    (await readEvents(db, scope, filter, limit)).map(({ type }) => type);
  expect(await types({})).toEqual(['note', 'order.paid', 'orders.made', 'order.made']);
  expect(await types({}, 2)).toEqual(['note', 'order.paid']);
  expect(await types({ type: 'order.*' })).toEqual(['order.paid', 'order.made']);
  expect(await types({ type: 'order.paid' })).toEqual(['order.paid']);
  expect(await types({ type: 'order' })).toEqual([]);
  expect(await types({ entityId: 'entity_1', entityType: 'payment' })).toHaveLength(3);
  expect(await types({ entityType: 'order' })).toEqual([]);
  expect(await types({ visibleTypes: [] })).toEqual(['note']);
  expect(await types({ before: ids[2] })).toEqual(['orders.made', 'order.made']);
  expect(await types({ since: Date.now() + 60_000 })).toEqual([]);
});

test('an event follows the earlier ones of its entity, even when their time is ahead of the clock', async () => {
  await recordEvent(db, scope, event);
  await db.pool.query(`update events set id = id + (3600000::bigint << 21)`);
  const ids = [await recordEvent(db, scope, event), await recordEvent(db, scope, event)];
  const newest = (await readEvents(db, scope, {}, 10)).map(({ id }) => id);
  expect(newest.slice(0, 2)).toEqual(ids.toReversed());
  const other = await recordEvent(db, scope, {
    ...event,
    entity: { type: 'payment', id: 'entity_2' },
  });
  expect((await readEvents(db, scope, {}, 10)).at(-1)!.id).toBe(other);
});

test('pages of large payloads end at 1 MiB, say that there are more, and have at least one event', async () => {
  const sizes = [450_000, 1_250_000, 500_000, 450_000, 450_000];
  for (const [n, size] of sizes.entries())
    await recordEvent(db, scope, {
      ...event,
      type: `large.${n}`,
      payload: { text: 'x'.repeat(size) },
    });
  await recordEvent(db, scope, { ...event, type: 'small.0' });
  const pages: string[][] = [];
  for (let before: string | undefined, hasMore = true; hasMore;) {
    const page = await readPage(db, scope, { ...(before && { before }) }, 10);
    pages.push(page.events.map(({ type }) => type));
    ({ hasMore } = page);
    before = page.events.at(-1)!.id;
  }
  expect(pages).toEqual([['small.0', 'large.4', 'large.3'], ['large.2'], ['large.1'], ['large.0']]);
  expect(await readPage(db, scope, {}, 1)).toMatchObject({
    events: [{ type: 'small.0' }],
    hasMore: true,
  });

  await until(() => followEvents(db, scope, {}, '0.0', 1), {
    isThere: (read) => read.ok && read.events.length === 1,
  });
  const followed: string[][] = [];
  for (let cursor = '0.0'; followed.flat().length < 6;) {
    const read = await followEvents(db, scope, {}, cursor, 10);
    if (!read.ok) throw new Error(read.reason);
    followed.push(read.events.map(({ type }) => type));
    ({ cursor } = read);
  }
  expect(followed).toEqual([
    ['large.0'],
    ['large.1'],
    ['large.2', 'large.3'],
    ['large.4', 'small.0'],
  ]);
});

describe('events that are followed', () => {
  /** A reader of the events of `scope` that reads all new events at each call. */
  async function startReader({ filter = {} as EventFilter, limit = 10 } = {}) {
    const page = async (from: string | null) => {
      const read = await followEvents(db, scope, filter, from, limit);
      if (!read.ok) throw new Error(read.reason);
      return read;
    };
    let { cursor } = await page(null);
    const read: string[] = [];
    return {
      read,
      cursor: () => cursor,
      /** Reads all new events, and returns the types of all events read so far. */
      async next(): Promise<string[]> {
        for (;;) {
          const { events, cursor: next } = await page(cursor);
          read.push(...events.map(({ type }) => type));
          cursor = next;
          if (events.length < limit) return read;
        }
      },
    };
  }
  type Reader = Awaited<ReturnType<typeof startReader>>;
  const record = (type: string, on: Queryable = db, of = scope) =>
    recordEvent(on, of, { ...event, type });
  // A transaction of another test on the same server can delay `isSettled`.
  const hasRead = (reader: Reader, types: string[]) =>
    until(() => reader.next(), { isThere: (read) => read.length >= types.length }).then((read) =>
      expect(read).toEqual(types),
    );

  /** Opens a transaction that records an event and stays open until `commit` or `rollBack`. */
  async function openTransaction(type: string) {
    let commit!: () => void;
    let rollBack!: (error: Error) => void;
    const end = new Promise<void>((resolve, reject) => {
      commit = resolve;
      rollBack = reject;
    });
    let done!: Promise<void>;
    await new Promise<void>((opened, failed) => {
      done = db.transaction(async (tx) => {
        await record(type, tx);
        opened();
        await end;
      });
      done.catch(failed);
    });
    return {
      commit: () => {
        commit();
        return done;
      },
      rollBack: () => {
        rollBack(new Error('rolled back'));
        return done.catch(() => undefined);
      },
    };
  }

  test('are the events after the cursor, oldest first and page by page', async () => {
    await record('before');
    await until(() => followEvents(db, scope, {}, '0.0', 10), {
      isThere: (read) => read.ok && read.events.length === 1,
    });
    const [reader, small, filtered] = await Promise.all([
      startReader(),
      startReader({ limit: 2 }),
      startReader({ filter: { type: 'b.*' } }),
    ]);
    expect(await reader.next()).toEqual([]);
    const types = ['a.1', 'b.1', 'a.2', 'b.2', 'a.3', 'a.4'];
    for (const type of types) {
      await record(type);
      await record('other', db, { ...scope, environment: 'production' });
      await record('other', db, { ...scope, tenant: 10 });
    }
    await hasRead(reader, types);
    await hasRead(small, types);
    await hasRead(filtered, ['b.1', 'b.2']);
    const whole = await followEvents(db, scope, {}, '0.0', 10);
    expect(whole).toEqual({
      ok: true,
      events: (await readEvents(db, scope, {}, 10))
        .reverse()
        .map((one) => expect.objectContaining(one)),
      cursor: reader.cursor(),
    });
    expect(filtered.cursor()).toBe(reader.cursor());
  });

  test('are returned after the events of a transaction that began earlier and commits later', async () => {
    const reader = await startReader();
    const late = await openTransaction('late');
    await record('first');
    await record('second');
    expect(await reader.next()).toEqual([]);
    await late.commit();
    await hasRead(reader, ['late', 'first', 'second']);
    await record('third');
    await hasRead(reader, ['late', 'first', 'second', 'third']);
  });

  test('do not wait for a transaction after its rollback, and its events are never returned', async () => {
    const reader = await startReader();
    const failed = await openTransaction('failed');
    await record('first');
    expect(await reader.next()).toEqual([]);
    await failed.rollBack();
    await hasRead(reader, ['first']);
  });

  test('are returned once each, in any order in which transactions commit', async () => {
    const reader = await startReader({ limit: 3 });
    let isWriting = true;
    const write = async (writer: number): Promise<void> => {
      for (let n = 0; n < 40; n += 1)
        await db.transaction(async (tx) => {
          await record(`w${writer}.${n}a`, tx);
          // wall clock: transactions commit at random moments.
          await sleep(Math.random() * 8);
          await record(`w${writer}.${n}b`, tx);
        });
    };
    const writers = Promise.all([0, 1, 2, 3, 4].map(write)).finally(() => (isWriting = false));
    while (isWriting) await reader.next();
    await writers;
    await until(() => reader.next(), { isThere: (read) => read.length >= 400 });
    expect(new Set(reader.read).size).toBe(400);
    for (let writer = 0; writer < 5; writer += 1)
      expect(reader.read.filter((type) => type.startsWith(`w${writer}.`))).toEqual(
        Array.from({ length: 40 }, (_, n) => [`w${writer}.${n}a`, `w${writer}.${n}b`]).flat(),
      );
  });

  test('cannot be followed with a cursor from before a restore: the result is resync', async () => {
    const reader = await startReader();
    await record('first');
    await hasRead(reader, ['first']);
    const backedUp = reader.cursor();
    await record('lost');
    await hasRead(reader, ['first', 'lost']);
    const resync = { ok: false, reason: 'resync' };
    // Like the dump of a server whose transaction ids are higher.
    await db.pool.query(`delete from events where type = 'lost'`);
    await db.pool.query(`update events set xid = '1000000000000'`);
    const ahead = (cursor: string) => cursor.replace(/^\d+/, '1000000000000');
    expect(await followEvents(db, scope, {}, reader.cursor(), 10)).toEqual(resync);
    expect(await followEvents(db, scope, {}, ahead(backedUp), 10)).toEqual(resync);
    await db.pool.query(afterRestore);
    for (const cursor of [backedUp, ahead(backedUp), reader.cursor(), 'none', ''])
      expect(await followEvents(db, scope, {}, cursor, 10)).toEqual(resync);
    await until(() => followEvents(db, scope, {}, '0.0', 10), {
      isThere: (read) => read.ok && read.events.length === 1,
    });
    const fresh = await startReader();
    await record('after');
    await hasRead(fresh, ['after']);
    // Cursors from before a second restore are not valid either.
    await db.pool.query(afterRestore);
    expect(await followEvents(db, scope, {}, fresh.cursor(), 10)).toEqual(resync);
  });
});

const columns = {
  tenant: '$tenant::int',
  environment: `'development'`,
  type: `'entity.created'`,
  entityType: `'order'`,
  entityId: `'entity_' || $tenant::int`,
  payload: `jsonb_build_object('data', $data::text)`,
  actor: `'{}'`,
  hops: '$hops::int',
  root: 'null',
  requestId: 'null',
  waits: '$waits::bool',
};
const insertChange = statement(
  'insert-change',
  `${insertEventSql(columns, '')} returning id::text`,
  {
    id: column.text,
  },
);
const change = async (
  tenant: number,
  { data = 'x', hops = 0, waits = true } = {},
): Promise<string> => (await db.query({ tenant }, insertChange, { data, hops, waits })).rows[0]!.id;
const idsOf = ({ events }: { events: { id: string }[] }) => events.map(({ id }) => id);
const taken = async (tx: Queryable = db) => idsOf(await takeWaitingEvents(tx));

test('only changes that can start a trigger wait for the relay, oldest first, until it has taken them', async () => {
  const first = await change(1);
  await change(1, { waits: false });
  const second = await change(1, { hops: 5 });
  await change(1, { hops: 6 });
  await recordEvent(db, scope, event);
  const undone = db.transaction(async (tx) => {
    expect(await takeWaitingEvents(tx)).toEqual({
      hasMore: false,
      events: [
        expect.objectContaining({
          id: first,
          type: 'entity.created',
          organizationId: 'org_1',
          tenant: 1,
        }),
        expect.objectContaining({ id: second }),
      ],
    });
    throw new Error('no');
  });
  await expect(undone).rejects.toThrow('no');
  const { events } = await takeWaitingEvents(db);
  expect(idsOf({ events })).toEqual([first, second]);
  expect(await readPayloads(db, [events[1]!])).toEqual(new Map([[events[1], { data: 'x' }]]));
  expect(await takeWaitingEvents(db)).toEqual({ events: [], hasMore: false });
});

test('events of two organizations with the same id are taken and read separately', async () => {
  const id = await change(1, { data: 'first' });
  await change(2, { data: 'second' });
  await db.pool.query('update events set id = $1', [id]);
  const { events } = await takeWaitingEvents(db);
  const payloads = await readPayloads(db, events);
  expect(events.map((event) => [event.tenant, event.id, payloads.get(event)])).toEqual([
    [1, id, { data: 'first' }],
    [2, id, { data: 'second' }],
  ]);
});

test('an organization with many waiting events does not take the share of other organizations in a batch', async () => {
  const backlog: string[] = [];
  for (let n = 0; n < 250; n += 1) backlog.push(await change(1));
  const others = [await change(2), await change(3), await change(3)];
  const first = await takeWaitingEvents(db);
  expect(first.hasMore).toBe(true);
  const ids = idsOf(first);
  expect(ids.filter((id) => others.includes(id)).sort()).toEqual(others.sort());
  // The events of an organization are taken in their order.
  const ofBacklog = ids.filter((id) => !others.includes(id));
  for (let hasMore = true; hasMore;) {
    const batch = await takeWaitingEvents(db);
    ofBacklog.push(...idsOf(batch));
    ({ hasMore } = batch);
  }
  expect(ofBacklog).toEqual(backlog);
  expect(await takeWaitingEvents(db)).toEqual({ events: [], hasMore: false });
});

test('a batch takes the organizations with the oldest events first', async () => {
  const ids: string[] = [];
  for (let n = 0; n < 60; n += 1) ids.push(await change(100 - n));
  const first = await takeWaitingEvents(db);
  expect([idsOf(first), first.hasMore]).toEqual([ids.slice(0, 50), true]);
  const rest = await takeWaitingEvents(db);
  expect([idsOf(rest), rest.hasMore]).toEqual([ids.slice(50), false]);
});

test('a batch ends when its payloads exceed the limit', async () => {
  const data = randomBytes(1_500_000).toString('hex');
  const ids: string[] = [];
  for (let n = 0; n < 4; n += 1) ids.push(await change(1, { data }));
  const first = await takeWaitingEvents(db);
  expect([idsOf(first), first.hasMore]).toEqual([ids.slice(0, 3), true]);
  const rest = await takeWaitingEvents(db);
  expect([idsOf(rest), rest.hasMore]).toEqual([ids.slice(3), false]);
});

test('one relay at a time takes the events of an organization, other relays take the events of other organizations', async () => {
  const [ours, theirs] = [1, 2];
  const first = await change(ours);
  let second = '';
  await db.transaction(async (tx) => {
    expect(await taken(tx)).toEqual([first]);
    second = await change(ours);
    const third = await change(theirs);
    expect(await db.transaction(taken)).toEqual([third]);
    expect(await db.transaction(taken)).toEqual([]);
  });
  expect(await taken()).toEqual([second]);
});
