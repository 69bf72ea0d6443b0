import { type Queryable, createDb } from '@parley/db';
import { countStatements, createTestDatabase } from '@parley/testing';
import { type Entities, createEntities } from '../create-entities';
import { type TestEntities, here, origin, startEntities } from '../testing/start-entities';

test('segments follow the order of creation when several processes create entities, so that no filter misses one', async () => {
  const database = await createTestDatabase();
  const test = await startEntities(database);
  // A large pool, so that writers wait for locks in PostgreSQL and not for a connection.
  const db = createDb({ databaseUrl: database.url, poolSize: 40 });
  await test.createType('item');
  // Each acts as a separate process: it learns about a new segment only from the database.
  const replicas = [1, 2].map(() => createEntities({ db, segmentSize: 50 }));
  const writers = 24;
  const each = 150;
  await Promise.all(
    Array.from({ length: writers }, async (_, writer) => {
      for (let at = 0; at < each; at += 1) {
        await replicas[writer % 2]!.create(here, {
          ...origin,
          type: 'item',
          data: { kind: 'same', writer, at },
        });
      }
    }),
  );
  await Promise.all(replicas.map((replica) => replica.settled()));

  const { rows } = await test.db.pool.query(
    `select max(segment) as segments, count(*) filter (where segment < before)::int as "outOfOrder"
     from (select segment, lag(segment) over (order by pos) as before from entities) e`,
  );
  expect(rows[0].segments).toBeGreaterThan(3);
  expect(rows[0].outOfOrder).toBe(0);

  const seen = new Set<string>();
  for (let cursor: string | undefined, more = true; more;) {
    const page = await replicas[0]!.query(here, {
      type: 'item',
      filters: { 'data.kind': 'same' },
      limit: 100,
      cursor,
    });
    if (!page.ok) throw new Error(JSON.stringify(page));
    for (const entity of page.page.entities) seen.add(entity.id);
    cursor = page.page.cursor;
    more = page.page.hasMore;
  }
  expect(seen.size).toBe(writers * each);
  await db.close();
  await test.stop();
}, 60_000);

describe('a segment that several processes fill', () => {
  let t: TestEntities;
  beforeAll(async () => {
    t = await startEntities(await createTestDatabase(), { segmentSize: 100 });
  });
  afterAll(() => t.stop());

  /** A process with its own memory. */
  const startProcess = () => createEntities({ db: t.db, segmentSize: 100 });
  const add = async (entities: Entities, type: string, count: number): Promise<void> => {
    for (let n = 0; n < count; n += 1) {
      const made = await entities.create(here, { ...origin, type, data: { n } });
      if (!made.ok) throw new Error(made.reason);
    }
    await entities.settled();
  };
  const segmentOf = async (slug: string) => {
    const { rows } = await t.db.pool.query<{ segment: number; unindexed: number }>(
      `select segment, (select count(*)::int from entities e where e.part = t.no and e.pos >= t.indexed_to) as unindexed
       from entity_types t where slug = $1`,
      [slug],
    );
    return rows[0]!;
  };

  test('is closed although no process creates a tenth of it', async () => {
    await t.createType('short');
    for (let n = 0; n < 30; n += 1) await add(startProcess(), 'short', 5);
    // Each process checks after its first entity, so the 21st closes the segment.
    const { segment, unindexed } = await segmentOf('short');
    expect(segment).toBe(1);
    expect(unindexed).toBeLessThan(50);
  });

  test('is checked by each of them after every tenth of a segment', async () => {
    await t.createType('long');
    const processes = [1, 2, 3].map(startProcess);
    for (let n = 0; n < 12; n += 1) for (const one of processes) await add(one, 'long', 10);
    const { segment, unindexed } = await segmentOf('long');
    expect(segment).toBeGreaterThanOrEqual(2);
    // A tenth of a segment for each process, besides what has not filled the last one.
    expect(unindexed).toBeLessThan(100 + 3 * 10);
  });

  test('takes a statement of a process for the first entity, and one for every tenth of a segment', async () => {
    await t.createType('counted');
    const one = startProcess();
    const statements = await countStatements(t.db.pool, async () => {
      for (let n = 0; n < 31; n += 1) await add(one, 'counted', 1);
    });
    // The type is read once. The 1st, 11th, 21st and 31st entity are followed by a check.
    expect(statements).toBe(1 + 31 + 4);
  });

  test('is checked again soon after a failure', async () => {
    await t.createType('failed');
    const warnings: string[] = [];
    const log = { warn: (_: object, message: string) => void warnings.push(message) };
    const one = createEntities({ db: t.db, segmentSize: 100, log });
    await add(one, 'failed', 99);
    await t.db.transaction(async (tx) => {
      // This transaction has locked the type, so no segment can begin.
      await one.create(here, { ...origin, type: 'failed', data: {} }, tx);
      await add(one, 'failed', 2);
      expect(warnings).toEqual(['newest entities were not indexed']);
    });
    // The commit has added one more entity.
    await one.settled();
    expect(await segmentOf('failed')).toEqual({ segment: 1, unindexed: 0 });
  });
});

describe('entities that scans would read whole', () => {
  let t: TestEntities;
  beforeAll(async () => {
    t = await startEntities(await createTestDatabase(), { segmentSize: 1_000 });
  });
  afterAll(() => t.stop());

  const large = 'x'.repeat(900_000);
  const unindexed = async (slug: string): Promise<number> => {
    await t.entities.settled();
    const { rows } = await t.db.pool.query(
      `select count(*)::int as n from entities e join entity_types t on e.part in (t.no, -t.no) where t.slug = $1 and e.pos >= t.indexed_to`,
      [slug],
    );
    return rows[0].n;
  };

  test('large ones fill a segment of 4 MB, so that a filter reads few of them', async () => {
    await t.createType('large');
    for (let n = 0; n < 12; n += 1) await t.add('large', { n, large });
    expect(await unindexed('large')).toBeLessThan(6);
    const found = await t.entities.query(here, {
      type: 'large',
      limit: 50,
      filters: { 'data.n': { $lt: 5 } },
    });
    expect(found.ok && found.page.entities.length).toBe(5);
  });

  test('a burst that ends while the index of its beginning is written leaves no full segment', async () => {
    await t.createType('burst');
    const create = (data: object) =>
      t.entities.createMany(here, {
        type: 'burst',
        entities: Array.from({ length: 500 }, (_, n) => ({
          data: { n, ...data },
          actor: origin.actor,
        })),
      });
    const slowToIndex = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`field${n}`, n]));
    for (let n = 0; n < 2; n += 1) await create(slowToIndex);
    for (let n = 0; n < 8; n += 1) await create({});
    expect(await unindexed('burst')).toBeLessThanOrEqual(1_000);
    // The entries of the first thousand take several statements, and those of the others
    // several transactions.
    for (const [filters, matches] of [
      [{ 'data.field99': 99 }, 1_000],
      [{ 'data.n': 499, 'data.field0': 0 }, 2],
      [{ 'data.n': 499 }, 10],
    ] as const) {
      const found = await t.entities.query(here, {
        type: 'burst',
        filters,
        limit: 1,
        count: 'exact',
      });
      expect(found.ok && found.page.total).toBe(matches);
    }
  });

  test('small ones that grow do too', async () => {
    await t.createType('growing');
    const ids: string[] = [];
    for (let n = 0; n < 8; n += 1) ids.push(await t.add('growing', { n }));
    for (const id of ids) {
      await t.entities.update(here, { ...origin, type: 'growing', id, data: { large } });
      await t.entities.settled();
    }
    expect(await unindexed('growing')).toBe(0);
  });

  test('deleted ones count', async () => {
    await t.createType('deleted');
    for (let n = 0; n < 6; n += 1) {
      const id = await t.add('deleted', { large });
      await t.entities.remove(here, { ...origin, type: 'deleted', id });
    }
    await t.add('deleted', { large });
    expect(await unindexed('deleted')).toBeLessThan(6);
  });
});

test('while the index is far behind, a create waits for it, and one in a transaction does not', async () => {
  const test = await startEntities(await createTestDatabase(), { segmentSize: 10 });
  await test.createType('item');
  const { db, entities } = test;
  const create = (count: number, tx?: Queryable) =>
    entities.createMany(
      here,
      { type: 'item', entities: Array.from({ length: count }, () => ({ ...origin, data: {} })) },
      tx,
    );
  const blocker = await db.pool.connect();
  await blocker.query('begin; lock table entity_fields in exclusive mode');
  await create(12);
  await create(50);
  const ended: string[] = [];
  const waiting = create(1).then(() => ended.push('alone'));
  // The index waits for transactions that have locked the type, so this one would never end.
  await db.transaction((tx) => create(1, tx)).then(() => ended.push('in a transaction'));
  await blocker.query('rollback');
  blocker.release();
  await waiting;
  expect(ended).toEqual(['in a transaction', 'alone']);
  await test.stop();
});
