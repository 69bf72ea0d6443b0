import { type Db, createDb } from '@parley/db';
import {
  countStatements,
  openTestDatabase,
  seedOrganization,
  seedPerson,
  until,
} from '@parley/testing';
import { createApiKey } from './api-keys';
import { createIdentify } from './identify';
import { createLookUpAgain } from './look-up-again';
import { createSessionCheck } from './sessions';

let db: Db;
beforeAll(async () => {
  db = await openTestDatabase(createDb);
});
afterAll(() => db.close());

const bearer = (key: string) => ({ headers: { authorization: `Bearer ${key}` } });

async function newKeys(count: number, more: { role?: string; expiresAt?: Date } = {}) {
  const { scope } = await seedOrganization(db.pool);
  const of = { ...scope, name: 'one', permissions: ['chat' as const], ...more };
  return Promise.all(Array.from({ length: count }, () => createApiKey(db, of)));
}

test('the look-ups of one turn share a statement, and find what those of requests find', async () => {
  const keys = [...(await newKeys(20)), ...(await newKeys(1, { role: 'clerk' }))].map(
    ({ key }) => key,
  );
  const { identify } = createLookUpAgain(db);
  const asked = [...keys, keys[0]!, `sk_dev_${'a'.repeat(43)}`];
  let found: unknown[] = [];
  const statements = await countStatements(db.pool, async () => {
    found = await Promise.all(asked.map((key) => identify(bearer(key))));
  });
  expect(statements).toBe(1);
  expect(found).toEqual(await Promise.all(asked.map((key) => createIdentify(db)(bearer(key)))));
  expect(found.at(-1)).toBeNull();
  expect(await identify({ headers: {} })).toBeNull();
});

test('a revoked or expired key, and one of a deleted organization, is not found, although it was a moment ago', async () => {
  const [revoked, expired, deleted, valid] = await Promise.all([
    newKeys(1),
    newKeys(1),
    newKeys(1),
    newKeys(1),
  ]);
  const { identify } = createLookUpAgain(db);
  const all = [revoked, expired, deleted, valid].map(([one]) => one!);
  const find = () => Promise.all(all.map(({ key }) => identify(bearer(key))));
  expect((await find()).map((caller) => caller?.id)).toEqual(all.map(({ id }) => id));
  await db.pool.query('update api_keys set revoked_at = now() where id = $1', [all[0]!.id]);
  await db.pool.query(
    `update api_keys set expires_at = now() - interval '1 second' where id = $1`,
    [all[1]!.id],
  );
  await db.pool.query(
    'update organizations set deleted_at = now() where no = (select tenant from api_keys where id = $1)',
    [all[2]!.id],
  );
  expect((await find()).map((caller) => caller?.id)).toEqual([
    undefined,
    undefined,
    undefined,
    all[3]!.id,
  ]);
});

test('sessions are found with the role in the organization that each request names', async () => {
  const [{ scope }, other] = [await seedOrganization(db.pool), await seedOrganization(db.pool)];
  const people = await Promise.all(
    (['admin', 'member', 'member'] as const).map((role) => seedPerson(db.pool, { ...scope, role })),
  );
  const tokens = people.map(({ headers }) => headers.Cookie!.split('=')[1]!);
  const { findSession } = createLookUpAgain(db);
  await people[2]!.signOut();
  const asked: [string, string | undefined][] = [
    [tokens[0]!, scope.organizationId],
    [tokens[1]!, scope.organizationId],
    [tokens[1]!, other.scope.organizationId],
    [tokens[1]!, undefined],
    [tokens[2]!, scope.organizationId],
    ['x'.repeat(43), scope.organizationId],
  ];
  let found: Awaited<ReturnType<typeof findSession>>[] = [];
  const statements = await countStatements(db.pool, async () => {
    found = await Promise.all(
      asked.map(([token, organizationId]) => findSession(token, organizationId)),
    );
  });
  expect(statements).toBe(1);
  const check = createSessionCheck(db);
  const checked = asked.map(([token, organizationId]) => check(token, organizationId, undefined));
  expect(found).toEqual(await Promise.all(checked));
  expect(found.map((person) => person?.membership?.role)).toEqual([
    'admin',
    'member',
    ...Array(4).fill(undefined),
  ]);
});

test('a look-up counts as a use of the session', async () => {
  const { scope } = await seedOrganization(db.pool);
  const { id, headers } = await seedPerson(db.pool, { ...scope, role: 'member' });
  await db.pool.query(
    `update sessions set last_seen_at = now() - interval '1 hour' where user_id = $1`,
    [id],
  );
  const { findSession } = createLookUpAgain(db);
  await findSession(headers.Cookie!.split('=')[1]!, scope.organizationId);
  const age = async () =>
    (
      await db.pool.query(
        "select last_seen_at > now() - interval '1 minute' as used from sessions where user_id = $1",
        [id],
      )
    ).rows[0].used;
  await until(age);
});
