import { type Db, type Queryable, createDb } from '@parley/db';
import { openTestDatabase, seedOrganization } from '@parley/testing';
import { createKnownNumbers } from './known-numbers';

let db: Db;

beforeAll(async () => {
  db = await openTestDatabase(createDb);
  const { scope } = await seedOrganization(db.pool);
  await db.pool.query(
    `insert into channel_connections (id, tenant, environment, phone_number_id, status, updated_at)
     values ('conn', $1, 'development', 'known', 'connected', now())`,
    [scope.tenant],
  );
});
afterAll(() => db.close());

/** Wraps the database and counts its statements. */
function counted(): { db: Queryable; count: () => number } {
  let statements = 0;
  const acrossTenants: Queryable['acrossTenants'] = (...given) => {
    statements += 1;
    return db.acrossTenants(...given);
  };
  return { db: { acrossTenants } as Queryable, count: () => statements };
}

test('a flood of unknown numbers shares two statements, and a known number among them is found', async () => {
  const numbers = createKnownNumbers();
  const { db: counting, count } = counted();
  const asked = Array.from({ length: 500 }, (_, index) =>
    index === 250 ? 'known' : `unknown-${index}`,
  );
  const found = await Promise.all(asked.map((number) => numbers.find(counting, number)));
  expect(found.filter((one) => one !== undefined)).toMatchObject([{ connectionId: 'conn' }]);
  expect(count()).toBeLessThanOrEqual(2);
  expect(numbers.kept('known')).toMatchObject({ connectionId: 'conn' });
  expect(numbers.kept('unknown-1')).toBeUndefined();
});

test('a failed statement fails the look-ups that share it, and not the next one', async () => {
  const numbers = createKnownNumbers();
  const broken = {
    acrossTenants: () => Promise.reject(new Error('unavailable')),
  } as unknown as Queryable;
  const failed = await Promise.allSettled(
    ['a', 'known'].map((number) => numbers.find(broken, number)),
  );
  expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await numbers.find(db, 'known')).toMatchObject({ connectionId: 'conn' });
});

test('a statement that hangs delays the next one by one second at most', async () => {
  const numbers = createKnownNumbers();
  const hung = { acrossTenants: () => new Promise(() => {}) } as unknown as Queryable;
  void numbers.find(hung, 'a');
  const startedAtMs = performance.now();
  await new Promise(setImmediate);
  expect(await numbers.find(db, 'known')).toMatchObject({ connectionId: 'conn' });
  expect(performance.now() - startedAtMs).toBeGreaterThan(900);
});
