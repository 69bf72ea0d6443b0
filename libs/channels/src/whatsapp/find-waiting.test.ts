import { type Db, createDb } from '@parley/db';
import { openTestDatabase, seedOrganization } from '@parley/testing';
import { claimDue, claimNext, findWaiting } from './waiting-messages';

let db: Db;
const tenants: Record<string, number> = {};
beforeAll(async () => {
  db = await openTestDatabase(createDb);
  for (const one of ['many', 'few']) {
    tenants[one] = (await seedOrganization(db.pool)).scope.tenant;
    await db.pool.query(
      `insert into channel_connections (id, tenant, environment, status, updated_at)
       values ('conn_' || $1, $2, 'production', 'connected', now())`,
      [one, tenants[one]],
    );
  }
});
beforeEach(() => db.pool.query('delete from messages'));
afterAll(() => db.close());

/** Adds messages received an hour ago, each from a new contact unless `contact` is given. */
const receive = (one: string, count: number, contact: string | null = null) =>
  db.pool.query(
    `insert into messages (id, tenant, environment, connection_id, direction, message_id, contact, type, payload,
                           status, sent_at, created_at, updated_at)
     select $1 || n, $4, 'production', 'conn_' || $1, 'inbound', $1 || n, coalesce($3, $1 || n), 'text', '{}',
            'received', now() - interval '1 hour' + n * interval '1 ms', now() - interval '1 hour', now()
     from generate_series(1, $2::int) n`,
    [one, count, contact, tenants[one]],
  );
const few = () =>
  [1, 2, 3].map((n) => ({ tenant: tenants.few, connectionId: 'conn_few', contact: `few${n}` }));

test('conversations of one tenant are found despite the backlog of another; each is claimed once', async () => {
  await receive('many', 5_000);
  await receive('few', 3);
  const sweeps = await Promise.all([findWaiting(db, 50), findWaiting(db, 50)]);
  for (const found of sweeps) {
    expect(new Set(found.map(({ contact }) => contact)).size).toBe(50);
    expect(found).toEqual(expect.arrayContaining(few()));
  }
  const claims = await Promise.all(sweeps.flat().map((one) => claimNext(db, one)));
  const claimed = claims.flatMap((message) => message?.contact ?? []);
  expect(new Set(claimed).size).toBe(claimed.length);
  expect(claimed).toEqual(expect.arrayContaining(few().map(({ contact }) => contact)));
});

test('a conversation that is being answered does not hide the conversations of another tenant, and is claimed from its first message', async () => {
  await receive('many', 5_000, 'one contact');
  await claimNext(db, { tenant: tenants.many!, connectionId: 'conn_many', contact: 'one contact' });
  await receive('few', 3);
  expect(await findWaiting(db, 50)).toEqual(few());
  await db.pool.query(
    "update messages set lease_until = now() - interval '1 s' where id = 'many1'",
  );
  expect(await findWaiting(db, 50)).toEqual([
    { tenant: tenants.many, connectionId: 'conn_many', contact: 'one contact' },
    ...few(),
  ]);
  expect(
    await claimNext(db, {
      tenant: tenants.many!,
      connectionId: 'conn_many',
      contact: 'one contact',
    }),
  ).toMatchObject({
    id: 'many1',
  });
});

test('a worker takes the conversations of a tenant in the order in which they became due, and none that is not due', async () => {
  await receive('many', 4);
  await receive('few', 1);
  const tenant = tenants.many!;
  await claimNext(db, { tenant, connectionId: 'conn_many', contact: 'many1' });
  await db.pool.query(
    "update messages set lease_until = now() + interval '1 hour' where id = 'many3'",
  );
  expect([await claimDue(db, tenant), await claimDue(db, tenant)]).toMatchObject([
    { id: 'many2' },
    { id: 'many4' },
  ]);
  expect(await claimDue(db, tenant)).toBeNull();
});
