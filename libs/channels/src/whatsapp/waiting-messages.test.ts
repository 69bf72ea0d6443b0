import type { Scope } from '@parley/contracts';
import { type Db, createDb } from '@parley/db';
import { openTestDatabase, seedOrganization } from '@parley/testing';
import { claimNext, finishMessage, postpone, renewClaims } from './waiting-messages';

const conversation = { connectionId: 'conn_test', contact: '14155550001' };
let db: Db;
let scope: Scope;

beforeAll(async () => {
  db = await openTestDatabase(createDb);
  ({ scope } = await seedOrganization(db.pool));
  const { tenant, environment } = scope;
  await db.pool.query(
    `insert into channel_connections (id, tenant, environment, phone_number_id, agent_slug, status, updated_at)
     values ('conn_test', $1, $2::"Environment", '109876543210987', 'clerk', 'connected', now())`,
    [tenant, environment],
  );
  for (const id of ['wam_1', 'wam_2'])
    await db.pool.query(
      `insert into messages (id, tenant, environment, connection_id, direction, contact, type, text, message_id,
                             payload, status, sent_at, updated_at)
       values ($1, $2, $3::"Environment", 'conn_test', 'inbound', '14155550001', 'text', 'hello', 'wamid.' || $1, '{}',
               'received', now(), now())`,
      [id, tenant, environment],
    );
});
afterAll(() => db.close());

const row = async (id: string) =>
  (
    await db.pool.query(
      'select status, error, attempts, lease_owner, lease_until > now() as held from messages where id = $1',
      [id],
    )
  ).rows[0];
const leaseEnds = (id: string) =>
  db.pool.query("update messages set lease_until = now() - interval '1 s' where id = $1", [id]);

it('a message is postponed by its holder only, and the following messages wait until it is due', async () => {
  const message = (await claimNext(db, conversation, 'a'))!;
  expect(message).toMatchObject({ id: 'wam_1', attempts: 1, agentSlug: 'clerk' });
  await postpone(db, message, 'b', 'not the holder', 60_000);
  expect(await row('wam_1')).toMatchObject({ status: 'answering', lease_owner: 'a' });

  await postpone(db, message, 'a', 'the model is unavailable', 60_000);
  const postponed = {
    status: 'received',
    error: 'the model is unavailable',
    attempts: 1,
    lease_owner: null,
    held: true,
  };
  expect(await row('wam_1')).toEqual(postponed);
  expect(await claimNext(db, conversation, 'b')).toBeNull();
  await leaseEnds('wam_1');
  expect(await claimNext(db, conversation, 'b')).toMatchObject({ id: 'wam_1', attempts: 2 });
});

it('a message belongs to its holder while the lease is renewed, and can be claimed after that', async () => {
  await leaseEnds('wam_1');
  const message = { tenant: scope.tenant, id: 'wam_1' };
  await renewClaims(db, [{ ...message, tenant: scope.tenant + 1 }], 'b');
  expect(await row('wam_1')).toMatchObject({ held: false });
  await renewClaims(db, [message, { tenant: scope.tenant + 1, id: 'wam_2' }], 'b');
  expect(await claimNext(db, conversation, 'c')).toBeNull();
  await leaseEnds('wam_1');
  const taken = (await claimNext(db, conversation, 'c'))!;
  expect(taken.attempts).toBe(3);
  const end = { status: 'answered', error: null, threadId: null } as const;
  expect(await finishMessage(db, taken, 'b', end)).toBe(false);
  expect(await finishMessage(db, taken, 'c', end)).toBe(true);
  expect(await claimNext(db, conversation, 'a')).toMatchObject({ id: 'wam_2' });
});
