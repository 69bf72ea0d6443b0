import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject } from '@parley/contracts';
import { type Db, createDb } from '@parley/db';
import { beginPurge, createIdentify, findOwners, stopPurge } from '@parley/identity';
import { type Queues, closeRedis, connectRedis, createQueues } from '@parley/redis';
import { silentLogger } from '@parley/service';
import { createTestRedis, openTestDatabase, seedOrganization } from '@parley/testing';
import { createInbox, findOverdue, readJsonObject, replayDeliveries } from '@parley/webhooks';
import { createPurgeOrganization } from './jobs/purge-organization';
import { createSweepPurges } from './jobs/sweep-purges';
import { createSyncIdentity } from './jobs/sync-identity';
import { observeJobs } from './observe-jobs';
import { readFixture } from '../testing/start-webhook-services';

jest.setTimeout(60_000);

let db: Db;
let redis: ReturnType<typeof connectRedis>;
let queues: Queues;
beforeAll(async () => {
  db = await openTestDatabase(createDb);
  redis = connectRedis({ url: (await createTestRedis()).url, role: 'producer' });
  queues = createQueues({ redis });
});
afterEach(async () => {
  for (const table of [
    ...[
      'memberships',
      'users',
      'identity_tombstones',
      'organization_purges',
      'organizations',
      'webhook_deliveries',
    ],
  ])
    await db.pool.query(`delete from ${table}`);
});
afterAll(async () => {
  await queues.close();
  await closeRedis(redis);
  await db.close();
});

const external = 'org_2zFixtOrgAcme00000000000001';
const rows = async (sql: string, values: unknown[] = []) => (await db.pool.query(sql, values)).rows;
const context = {
  requestId: 'req',
  signal: new AbortController().signal,
  isLastAttempt: true,
} as never;
const event = (name: string, data: JsonObject = {}): JsonObject => {
  const given = readJsonObject(readFixture(`clerk/${name}.json`))!;
  return { ...given, data: { ...(given.data as JsonObject), ...data } };
};

const { observe } = observeJobs({ log: silentLogger() });
const findOwner = async (db: Db, name: string) => (await findOwners(db, [name])).get(name);

let count = 0;
/** Stores a delivery as webhook-ingest does. Returns its id. */
async function store(body: JsonObject, isSigned: boolean): Promise<string> {
  const stored = await createInbox(db).store({
    provider: 'clerk',
    deliveryId: `msg_${(count += 1)}`,
    path: '/webhook/clerk',
    eventType: String(body.type),
    headers: {},
    body: Buffer.from(JSON.stringify(body)),
    tenant: null,
    environment: null,
    isSigned,
    status: 'received',
    reason: null,
  });
  return stored.id;
}

/** Runs the job of a stored delivery. Returns its outcome. */
async function processDelivery(
  deliveryId: string,
  purgeGraceDays = 0,
): Promise<{ status: string; reason: string | null }> {
  await createSyncIdentity({ db, queues, observe, log: silentLogger(), purgeGraceDays })(
    { deliveries: [{ id: deliveryId }] },
    context,
  );
  const [row] = await rows('select status, reason from webhook_deliveries where id = $1', [
    deliveryId,
  ]);
  return row as { status: string; reason: string | null };
}
const deliver = async (isSigned: boolean, name: string, data?: JsonObject) =>
  processDelivery(await store(event(name, data), isSigned));
const unsigned = (name: string, data?: JsonObject) => deliver(false, name, data);
const signed = (name: string, data?: JsonObject) => deliver(true, name, data);

describe('an unsigned deletion of an organization', () => {
  let organizationId: string;
  let checkKey: () => Promise<boolean>;
  beforeEach(async () => {
    const { scope, key } = await seedOrganization(db.pool, { slug: 'acme' });
    organizationId = scope.organizationId;
    await db.pool.query('update organizations set external_id = $2 where id = $1', [
      organizationId,
      external,
    ]);
    // A new instance each time, as an instance caches a key for a second.
    checkKey = async () =>
      (await createIdentify(db)({ headers: { authorization: `Bearer ${key}` } })) !== null;
  });

  const purge = () =>
    createPurgeOrganization({ db, log: silentLogger() })({ organizationId }, context);
  const becomeDue = () =>
    db.pool.query("update organization_purges set run_at = now() - interval '1 second'");
  const exists = async () =>
    (await rows('select 1 from organizations where id = $1', [organizationId])).length === 1;
  const isUntouched = async () =>
    (await checkKey()) &&
    (await rows('select 1 from organizations where deleted_at is null')).length === 1 &&
    (await rows('select 1 from identity_tombstones')).length === 0;

  test.each([
    [0, 24],
    [0.5, 24],
    [3, 72],
  ])(
    'with a grace period of %s days waits for %s hours, and changes nothing until then',
    async (graceDays, hours) => {
      expect(
        await processDelivery(await store(event('organization.deleted'), false), graceDays),
      ).toMatchObject({
        status: 'processed',
      });
      expect(
        await rows(
          `select signed, started_at, round(extract(epoch from run_at - created_at) / 3600)::int as hours from organization_purges`,
        ),
      ).toEqual([{ signed: false, started_at: null, hours }]);
      await purge();
      expect(await isUntouched()).toBe(true);
      expect(await unsigned('organization.updated')).toMatchObject({ status: 'processed' });
    },
  );

  test('runs after a day: the organization is disabled and deleted, and a late unsigned event is ignored', async () => {
    await unsigned('organization.deleted');
    await becomeDue();
    await createSweepPurges({ db, queues })({}, context);
    await purge();
    expect(await checkKey()).toBe(false);
    expect(await exists()).toBe(false);
    expect(
      await rows(
        'select started_at is not null as begun, finished_at is not null as done from organization_purges',
      ),
    ).toEqual([{ begun: true, done: true }]);
    expect(await unsigned('organization.updated')).toMatchObject({ status: 'ignored' });
    // A signed event proves that the identity provider still has the organization.
    expect(await signed('organization.updated')).toMatchObject({ status: 'processed' });
    await purge();
    expect(await rows('select deleted_at from organizations')).toEqual([{ deleted_at: null }]);
  });

  test('that has begun delays signed events until the purge has finished; then they create the organization again', async () => {
    await unsigned('organization.deleted');
    await becomeDue();
    await beginPurge(db, organizationId);
    const ids = [
      await store(event('organizationMembership.updated'), true),
      await store(event('organization.updated'), true),
    ];
    // More rounds than a job has attempts.
    for (let round = 0; round < 10; round += 1)
      for (const id of ids)
        expect(await processDelivery(id)).toEqual({
          status: 'received',
          reason: expect.stringContaining('purge'),
        });
    expect((await findOverdue(db, { olderThanMs: 0, limit: 10 })).map(({ id }) => id)).toEqual(ids);
    expect(await unsigned('organization.updated')).toMatchObject({ status: 'ignored' });
    await purge();
    expect(await exists()).toBe(false);
    for (const id of ids)
      expect(await processDelivery(id)).toEqual({ status: 'processed', reason: null });
    await purge();
    expect(
      await rows(
        `select o.external_id, o.deleted_at, o.verified, m.role
         from organizations o join memberships m on m.tenant = o.no`,
      ),
    ).toEqual([{ external_id: external, deleted_at: null, verified: true, role: 'member' }]);
  });

  test('is stopped by a signed state that is later, and not by an earlier one', async () => {
    await unsigned('organization.deleted');
    const states = () =>
      rows('select stopped_at is not null as stopped from organization_purges').then((all) =>
        all.map(({ stopped }) => stopped),
      );
    await signed('organization.updated', { updated_at: Date.now() - 60_000 });
    expect(await states()).toEqual([false]);
    await unsigned('organization.updated', { updated_at: Date.now() + 60_000 });
    expect(await states()).toEqual([false]);
    await signed('organization.updated', { updated_at: Date.now() + 60_000 });
    expect(await states()).toEqual([true]);
    await becomeDue();
    await purge();
    expect(await isUntouched()).toBe(true);
    // A later unsigned deletion waits for a day again.
    expect(await unsigned('organization.deleted')).toMatchObject({ status: 'processed' });
    expect(await states()).toEqual([false]);
  });

  test('is stopped by a later signed membership, regardless of the time of the organization in it', async () => {
    await unsigned('organization.deleted');
    const body = { ...event('organizationMembership.created'), timestamp: Date.now() + 60_000 };
    await processDelivery(await store(body, true));
    expect(await rows('select stopped_at is not null as stopped from organization_purges')).toEqual(
      [{ stopped: true }],
    );
  });

  test('is stopped by its slug, even if an unsigned event creates an organization with that slug as its id', async () => {
    await unsigned('organization.deleted');
    await unsigned('organization.created', { id: 'acme', slug: 'other', name: 'Other' });
    await unsigned('organization.deleted', { id: 'acme' });
    expect(await stopPurge(db, 'acme')).toMatchObject({ ok: true, purge: { organizationId } });
    expect(await stopPurge(db, 'other')).toMatchObject({ ok: true, purge: { slug: 'other' } });
  });

  test('that is stopped never runs, neither by a sweep nor by a replay; a later one waits for a day again', async () => {
    const id = await store(event('organization.deleted'), false);
    await processDelivery(id);
    await stopPurge(db, 'acme');
    await becomeDue();
    await purge();
    expect(await isUntouched()).toBe(true);
    const waiting = () =>
      rows('select 1 from organization_purges where stopped_at is null and run_at > now()').then(
        ({ length }) => length,
      );

    await replayDeliveries(db, [id]);
    expect(await rows('select signed from webhook_deliveries where id = $1', [id])).toEqual([
      { signed: false },
    ]);
    expect(await processDelivery(id)).toMatchObject({
      status: 'ignored',
      reason: expect.stringContaining('stopped'),
    });
    await purge();
    expect([await waiting(), await isUntouched()]).toEqual([0, true]);

    expect(await unsigned('organization.deleted')).toMatchObject({ status: 'processed' });
    expect([await waiting(), await isUntouched()]).toEqual([1, true]);
    await stopPurge(db, external);
    // A replay of the first deletion after the second one was stopped.
    await replayDeliveries(db, [id]);
    await processDelivery(id);
    expect(await waiting()).toBe(0);
  });

  test('that is repeated while it waits keeps its time', async () => {
    await unsigned('organization.deleted');
    await db.pool.query("update organization_purges set run_at = now() + interval '5 minutes'");
    expect(await unsigned('organization.deleted')).toMatchObject({ status: 'ignored' });
    expect(
      await rows("select run_at < now() + interval '6 minutes' as kept from organization_purges"),
    ).toEqual([{ kept: true }]);
  });

  test.each(['waits', 'is stopped'])(
    'that %s is replaced by a signed one, which takes effect immediately',
    async (state) => {
      await unsigned('organization.deleted');
      if (state === 'is stopped') await stopPurge(db, 'acme');
      expect(await signed('organization.deleted')).toMatchObject({ status: 'processed' });
      expect(await checkKey()).toBe(false);
      expect(await stopPurge(db, 'acme')).toMatchObject({
        ok: false,
        reason: 'not_stoppable',
        purge: { signed: true },
      });
      await purge();
      expect(await exists()).toBe(false);
      expect(await signed('organization.updated')).toMatchObject({ status: 'ignored' });
    },
  );

  test('after a signed one changes nothing', async () => {
    await signed('organization.deleted');
    expect(await unsigned('organization.deleted')).toMatchObject({ status: 'ignored' });
    expect(await rows('select signed, run_at <= now() as due from organization_purges')).toEqual([
      { signed: true, due: true },
    ]);
  });

  test('begins or is stopped, never both, when a worker and a person act at the same time', async () => {
    for (let round = 0; round < 40; round += 1) {
      await db.pool.query('delete from organization_purges');
      await db.pool.query('delete from identity_tombstones');
      await db.pool.query('update organizations set deleted_at = null');
      await unsigned('organization.deleted');
      await becomeDue();
      const stop = async () => {
        // wall clock: a different moment in each round.
        await sleep(round % 8);
        return stopPurge(db, 'acme');
      };
      const [stopped, ...begun] = await Promise.all([
        stop(),
        beginPurge(db, organizationId),
        beginPurge(db, organizationId),
      ]);
      const hasBegun = begun.some((one) => one !== null);
      expect([round, hasBegun]).toEqual([round, !stopped.ok]);
      expect(
        await rows(
          'select started_at is not null as begun, stopped_at is not null as stopped, deleted_at is not null as deleted from organization_purges, organizations',
        ),
      ).toEqual([{ begun: hasBegun, stopped: !hasBegun, deleted: hasBegun }]);
    }
  });

  test('of an unknown organization leaves nothing that prevents its creation', async () => {
    await db.pool.query('delete from organizations');
    expect(await unsigned('organization.deleted')).toMatchObject({ status: 'ignored' });
    expect(
      await rows('select 1 from identity_tombstones union all select 1 from organization_purges'),
    ).toEqual([]);
    expect(await unsigned('organization.created')).toMatchObject({ status: 'processed' });
    await db.pool.query('delete from organizations');
    expect(await signed('organization.created')).toMatchObject({ status: 'processed' });
  });
});

describe('an unsigned event', () => {
  const state = async () => ({
    users: await rows('select email, first_name, verified from users'),
    organizations: await rows('select slug, name, verified from organizations'),
    memberships: await rows('select role, verified from memberships'),
  });
  /** Later than any other time, so that an event is ignored only for its missing signature. */
  const farFuture = Date.UTC(2999, 0, 1);

  test('is applied where there is no signed one, and its rows are not verified', async () => {
    for (const name of [
      'user.created',
      'organization.created',
      'organizationMembership.created',
      'user.updated',
    ])
      expect(await unsigned(name)).toMatchObject({ status: 'processed' });
    expect(await state()).toEqual({
      users: [{ email: 'alpha.renamed@example.com', first_name: 'Alpha', verified: false }],
      organizations: [{ slug: 'acme-fixture', name: 'Acme Fixture', verified: false }],
      memberships: [{ role: 'admin', verified: false }],
    });
    expect(await unsigned('organizationMembership.deleted')).toMatchObject({ status: 'processed' });
    expect(await unsigned('organizationMembership.created')).toMatchObject({ status: 'ignored' });
    expect((await state()).memberships).toEqual([]);
  });

  test('never replaces or deletes what a signed one has written, whatever time it states', async () => {
    for (const name of ['user.updated', 'organization.updated', 'organizationMembership.updated'])
      expect(await signed(name)).toMatchObject({ status: 'processed' });
    const before = await state();
    expect(before).toMatchObject({
      users: [{ verified: true }],
      organizations: [{ verified: true }],
      memberships: [{ role: 'member', verified: true }],
    });
    const email_addresses = [{ id: 'idn_1', email_address: 'attacker@example.com' }];
    const others = [
      await unsigned('user.updated', {
        updated_at: farFuture,
        primary_email_address_id: 'idn_1',
        email_addresses,
      }),
      await unsigned('organization.updated', {
        updated_at: farFuture,
        name: 'Theirs',
        slug: 'theirs',
      }),
      await unsigned('organizationMembership.updated', {
        updated_at: farFuture,
        role: 'org:admin',
      }),
      await unsigned('organizationMembership.updated', {
        updated_at: farFuture,
        role: 'org:admin',
        id: 'orgmem_other',
      }),
      await unsigned('organizationMembership.deleted'),
    ];
    for (const outcome of others)
      expect(outcome).toMatchObject({
        status: 'ignored',
        reason: expect.stringContaining('signed state'),
      });
    expect(await state()).toEqual(before);
    // Later signed events are applied as if there had been no unsigned ones.
    expect(
      await signed('organizationMembership.updated', { updated_at: Date.now(), role: 'org:admin' }),
    ).toMatchObject({
      status: 'processed',
    });
    expect((await state()).memberships).toEqual([{ role: 'admin', verified: true }]);
    expect(await signed('organizationMembership.deleted')).toMatchObject({ status: 'processed' });
    expect((await state()).memberships).toEqual([]);
  });

  test('is replaced by a signed one, even by an older one, whose rows are verified', async () => {
    for (const name of ['user.updated', 'organization.updated'])
      await unsigned(name, { updated_at: farFuture });
    await unsigned('organizationMembership.updated', { updated_at: farFuture, role: 'org:admin' });
    await unsigned('organizationMembership.created', {
      id: 'orgmem_2',
      public_user_data: { user_id: 'user_2' },
    });
    for (const [name, data] of [
      ['user.created', {}],
      ['organization.created', {}],
      ['organizationMembership.updated', {}],
      // The unsigned membership of another user has the same id.
      [
        'organizationMembership.created',
        { id: 'orgmem_2', public_user_data: { user_id: 'user_3' } },
      ],
    ] as const)
      expect({ name, ...(await signed(name, data)) }).toMatchObject({ name, status: 'processed' });
    expect(
      await rows(
        `select u.external_id, u.verified as "user", m.role, m.external_id as id, m.verified
         from memberships m join users u on u.id = m.user_id order by 1`,
      ),
    ).toEqual([
      {
        external_id: 'user_2zFixtAlphaUser0000000000001',
        user: true,
        role: 'member',
        id: expect.any(String),
        verified: true,
      },
      { external_id: 'user_3', user: true, role: 'admin', id: 'orgmem_2', verified: true },
    ]);
    expect((await state()).organizations).toMatchObject([{ verified: true }]);
  });

  test('that deletes a membership does not prevent a signed one from creating it; the e-mail stays unverified', async () => {
    await unsigned('user.created');
    await unsigned('organizationMembership.created');
    expect(await unsigned('organizationMembership.deleted')).toMatchObject({ status: 'processed' });
    expect(await signed('organizationMembership.created')).toMatchObject({ status: 'processed' });
    expect(await state()).toMatchObject({
      memberships: [{ verified: true }],
      users: [{ verified: false }],
    });
    // A signed deletion is permanent.
    await signed('organizationMembership.deleted');
    expect(await signed('organizationMembership.created')).toMatchObject({ status: 'ignored' });
  });

  test('that deletes an unknown membership leaves no tombstone', async () => {
    expect(await unsigned('organizationMembership.deleted')).toMatchObject({ status: 'ignored' });
    expect(await rows('select 1 from identity_tombstones')).toEqual([]);
    expect(await unsigned('organizationMembership.created')).toMatchObject({ status: 'processed' });
  });

  test.each(['signed', 'unsigned'])(
    'that reuses the id of a %s membership for another user or organization is ignored',
    async (first) => {
      await deliver(first === 'signed', 'organizationMembership.created');
      const before = await rows('select * from memberships');
      const others: JsonObject[] = [
        { public_user_data: { user_id: 'user_attacker' } },
        { organization: { id: 'org_attacker', name: 'Attacker', slug: 'attacker' } },
      ];
      for (const data of others)
        expect(await unsigned('organizationMembership.created', data)).toMatchObject({
          status: 'ignored',
          reason: expect.stringContaining('id of the membership'),
        });
      expect(await rows('select * from memberships')).toEqual(before);
    },
  );

  const customer = 'user_2zFixtAlphaUser0000000000001';
  const ownerOf = async (slug: string) => {
    const [row] = await rows('select id, no from organizations where slug = $1', [slug]);
    return { ok: true, organizationId: row.id, tenant: row.no };
  };

  test('that creates an organization with the id of a signed user gets no orders of the user', async () => {
    await signed('organizationMembership.created');
    const theirs = await findOwner(db, customer);
    expect(theirs).toEqual(await ownerOf('acme-fixture'));
    expect(
      await unsigned('organization.created', { id: customer, slug: 'attacker' }),
    ).toMatchObject({
      status: 'processed',
    });
    expect(await findOwner(db, customer)).toEqual(theirs);
    // If the membership is not verified either, neither of the two is credited.
    await db.pool.query('update memberships set verified = false');
    expect(await findOwner(db, customer)).toEqual({ ok: false, reason: 'several' });
    await db.pool.query('delete from memberships');
    expect(await findOwner(db, customer)).toEqual(await ownerOf('attacker'));
  });

  test('that creates an organization with the internal id of another gets none of its orders', async () => {
    const { scope } = await seedOrganization(db.pool, { slug: 'acme' });
    await unsigned('organization.created', { id: scope.organizationId, slug: 'attacker' });
    expect(await findOwner(db, scope.organizationId)).toEqual(await ownerOf('acme'));
    await signed('organization.created');
    expect(await findOwner(db, external)).toEqual(await ownerOf('acme-fixture'));
  });

  test('that adds a user to a second organization does not change which organization is credited for the user', async () => {
    await unsigned('organizationMembership.created');
    const [{ id: first }] = await rows('select id from organizations');
    expect(await findOwner(db, customer)).toMatchObject({ ok: true, organizationId: first });
    const organization = { id: 'org_second', name: 'Second', slug: 'second' };
    await unsigned('organizationMembership.created', { id: 'orgmem_2', organization });
    expect(await findOwner(db, customer)).toMatchObject({ ok: false });
    await signed('organizationMembership.created');
    expect(await findOwner(db, customer)).toMatchObject({ ok: true, organizationId: first });
    await signed('organizationMembership.created', { id: 'orgmem_2', organization });
    expect(await findOwner(db, customer)).toMatchObject({ ok: false });
  });
});
