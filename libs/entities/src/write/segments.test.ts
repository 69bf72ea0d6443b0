import { createDb } from '@parley/db';
import { createTestDatabase } from '@parley/testing';
import { createEntities } from '../create-entities';
import { here, origin, startEntities } from '../testing/start-entities';

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
        await replicas[writer % 2]!.create(here, { ...origin, type: 'item', data: { kind: 'same', writer, at } });
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
    const page = await replicas[0]!.query(here, { type: 'item', filters: { 'data.kind': 'same' }, limit: 100, cursor });
    if (!page.ok) throw new Error(JSON.stringify(page));
    for (const entity of page.page.entities) seen.add(entity.id);
    cursor = page.page.cursor;
    more = page.page.hasMore;
  }
  expect(seen.size).toBe(writers * each);
  await db.close();
  await test.stop();
}, 60_000);
