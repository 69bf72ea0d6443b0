import type { Scope } from '@parley/contracts';
import { type Db, createDb } from '@parley/db';
import { openTestDatabase, seedOrganization } from '@parley/testing';
import { answerAgain } from './answer-again';
import { claimNext, finishMessage, postpone, renewClaims } from './waiting-messages';

const conversation = { tenant: 0, connectionId: 'conn_test', contact: '14155550001' };
let db: Db;
let scope: Scope;

beforeAll(async () => {
  db = await openTestDatabase(createDb);
  ({ scope } = await seedOrganization(db.pool));
  const { tenant, environment } = scope;
  conversation.tenant = tenant;
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
const answered = { status: 'answered', error: null, threadId: null } as const;
const leaseEnds = (id: string) =>
  db.pool.query("update messages set lease_until = now() - interval '1 s' where id = $1", [id]);

it('a message is postponed by its holder only, and the following messages wait until it is due', async () => {
  const message = (await claimNext(db, conversation))!;
  expect(message).toMatchObject({ id: 'wam_1', attempts: 1, agentSlug: 'clerk' });
  await postpone(db, { ...message, owner: 'another' }, 'not the holder', 60_000);
  expect(await row('wam_1')).toMatchObject({ status: 'answering', lease_owner: message.owner });

  await postpone(db, message, 'the model is unavailable', 60_000);
  const postponed = {
    status: 'received',
    error: 'the model is unavailable',
    attempts: 1,
    lease_owner: null,
    held: true,
  };
  expect(await row('wam_1')).toEqual(postponed);
  expect(await claimNext(db, conversation)).toBeNull();
  await leaseEnds('wam_1');
  expect(await claimNext(db, conversation)).toMatchObject({ id: 'wam_1', attempts: 2 });
});

it('a message belongs to its claim while the lease is renewed, and can be claimed after that', async () => {
  await leaseEnds('wam_1');
  const claim = { tenant: scope.tenant, id: 'wam_1', owner: (await row('wam_1')).lease_owner };
  await renewClaims(db, [{ ...claim, tenant: scope.tenant + 1 }]);
  expect(await row('wam_1')).toMatchObject({ held: false });
  await renewClaims(db, [claim, { ...claim, tenant: scope.tenant + 1, id: 'wam_2' }]);
  expect(await claimNext(db, conversation)).toBeNull();
  await leaseEnds('wam_1');
  const taken = (await claimNext(db, conversation))!;
  expect(taken.attempts).toBe(3);
  expect(await finishMessage(db, { ...taken, owner: claim.owner }, answered)).toBe(false);
  expect(await finishMessage(db, taken, answered)).toBe(true);
  expect(await claimNext(db, conversation)).toMatchObject({ id: 'wam_2' });
});

describe('of a contact with more messages within a minute than are answered one by one', () => {
  const contact = '14155550002';
  const add = (from: number, to: number) =>
    db.pool.query(
      `insert into messages (id, tenant, environment, connection_id, direction, contact, type, text, message_id, payload,
                             status, sent_at, created_at, updated_at)
       select 'wam_f' || n, $1, $2::"Environment", 'conn_test', 'inbound', $3, 'text', repeat('x', 100), 'wamid.f' || n, '{}',
              'received', now() + n * interval '1 ms', now() + n * interval '1 ms', now()
       from generate_series($4::int, $5) n`,
      [scope.tenant, scope.environment, contact, from, to],
    );
  const claim = () => claimNext(db, { ...conversation, contact }, 2);
  const ids = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, n) => ({ id: `wam_f${from + n}` }));

  it('the first are claimed alone, and the next waits for others', async () => {
    await add(100, 104);
    for (const id of ['wam_f100', 'wam_f101']) {
      const alone = (await claim())!;
      expect(alone).toMatchObject({ id, joined: [] });
      await finishMessage(db, alone, answered);
    }
    expect(await claim()).toBeNull();
    expect(await row('wam_f102')).toMatchObject({ status: 'received', attempts: 0, held: true });
  });

  it('the rest is claimed together; after a crash the same ones are, and later messages are not', async () => {
    await db.pool.query(
      `update messages set created_at = created_at - interval '12 s' where contact = $1`,
      [contact],
    );
    await leaseEnds('wam_f102');
    expect(await claim()).toMatchObject({ id: 'wam_f102', joined: ids(103, 104) });
    await add(105, 106);
    await leaseEnds('wam_f102');
    const again = (await claim())!;
    expect(again).toMatchObject({ id: 'wam_f102', attempts: 2, joined: ids(103, 104) });

    await postpone(db, again, 'the model is unavailable', 60_000);
    await leaseEnds('wam_f102');
    const last = (await claim())!;
    expect(last).toMatchObject({ id: 'wam_f102', attempts: 3, joined: ids(103, 104) });
    expect(await finishMessage(db, again, answered)).toBe(false);
    expect(await row('wam_f103')).toMatchObject({ status: 'received' });
    expect(await finishMessage(db, last, answered)).toBe(true);
    for (const id of ['wam_f102', 'wam_f103', 'wam_f104'])
      expect(await row(id)).toMatchObject({ status: 'answered' });
    expect(await row('wam_f105')).toMatchObject({ status: 'received', attempts: 0 });
  });

  it('at most 32,000 characters are claimed together', async () => {
    await db.pool.query(`update messages set status = 'answered' where contact = $1`, [contact]);
    await add(200, 599);
    await db.pool.query(
      `update messages set created_at = created_at - interval '12 s' where contact = $1`,
      [contact],
    );
    const message = (await claim())!;
    expect(message).toMatchObject({ id: 'wam_f200', joined: ids(201, 519) });
    await finishMessage(db, message, answered);
    expect(await claim()).toMatchObject({ id: 'wam_f520', joined: ids(521, 599) });
  });

  it('a message that was sent earlier and arrives later does not take those that a running turn answers', async () => {
    const age = (id: string) =>
      db.pool.query(
        "update messages set created_at = created_at - interval '12 s' where id like $1",
        [id],
      );
    await db.pool.query(`update messages set status = 'answered' where contact = $1`, [contact]);
    await add(700, 702);
    await age('wam_f70%');
    const running = (await claim())!;
    expect(running).toMatchObject({ id: 'wam_f700', joined: ids(701, 702) });
    await add(800, 800);
    await age('wam_f800');
    await db.pool.query(
      "update messages set sent_at = sent_at - interval '1 minute' where id = 'wam_f800'",
    );
    expect(await claim()).toMatchObject({ id: 'wam_f800', joined: [] });
    expect(await finishMessage(db, running, answered)).toBe(true);
    for (const id of ['wam_f701', 'wam_f702'])
      expect(await row(id)).toMatchObject({ status: 'answered' });
  });

  it('those that a takeover stored are answered again together, unless a later one waits, and only by the new claim', async () => {
    const again = (id: string, environment = scope.environment) =>
      db.transaction((tx) => answerAgain(tx, { ...scope, environment }, id));
    await db.pool.query(`update messages set status = 'answered' where contact = $1`, [contact]);
    await add(900, 902);
    await db.pool.query(
      "update messages set created_at = created_at - interval '12 s' where id like 'wam_f90%'",
    );
    const first = (await claim())!;
    expect(first).toMatchObject({ id: 'wam_f900', joined: ids(901, 902) });
    expect(await finishMessage(db, first, { ...answered, status: 'stored' })).toBe(true);
    expect(await again('wam_f900', 'production')).toBeNull();
    expect(await again('no such message')).toBeNull();
    expect(await again('wam_f900')).toEqual({ ...conversation, contact });
    const second = (await claim())!;
    expect(second).toMatchObject({ id: 'wam_f900', joined: ids(901, 902) });

    // It is taken from its holder, whose end does not count any more.
    expect(await again('wam_f900')).toEqual({ ...conversation, contact });
    const third = (await claim())!;
    expect(third).toMatchObject({ id: 'wam_f900', joined: ids(901, 902) });
    await postpone(db, second, 'the old claim', 60_000);
    expect(await finishMessage(db, second, { ...answered, status: 'stored' })).toBe(false);
    expect(await finishMessage(db, third, { ...answered, status: 'stored' })).toBe(true);
    await add(910, 910);
    expect(await again('wam_f900')).toBeNull();
    expect(await row('wam_f902')).toMatchObject({ status: 'stored' });
  });
});

it('a message that has ended three processes in a row says so to the next one', async () => {
  const contact = '14155550003';
  await db.pool.query(
    `insert into messages (id, tenant, environment, connection_id, direction, contact, type, text, message_id,
                           payload, status, sent_at, updated_at)
     values ('wam_fatal', $1, $2::"Environment", 'conn_test', 'inbound', $3, 'text', 'hello', 'wamid.fatal', '{}',
             'received', now(), now())`,
    [scope.tenant, scope.environment, contact],
  );
  const claims: (boolean | undefined)[] = [];
  const claimAgain = async () => {
    const claimed = await claimNext(db, { ...conversation, contact });
    claims.push(claimed?.hasEndedProcesses);
    await leaseEnds('wam_fatal');
    return claimed;
  };
  for (let process = 0; process < 2; process += 1) await claimAgain();
  // An attempt that ends in any way begins the count again.
  const third = (await claimAgain())!;
  await postpone(db, third, 'the model is unavailable', 60_000);
  await leaseEnds('wam_fatal');
  for (let process = 0; process < 4; process += 1) await claimAgain();
  expect(claims).toEqual([false, false, false, false, false, false, true]);
});
