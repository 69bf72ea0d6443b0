import type { JsonObject, Scope } from '@parley/contracts';
import { type Db, createDb } from '@parley/db';
import { openTestDatabase, seedOrganization } from '@parley/testing';
import { readJsonObject } from '@parley/webhooks';
import { applyIdentityEvent } from '@parley/identity';
import { silentLogger } from '@parley/service';
import { createPurgeOrganization } from './jobs/purge-organization';
import { readFixture } from '../testing/start-webhook-services';
import { purgeOrganization } from './purge/purge-organization';

jest.setTimeout(60_000);

let db: Db;
beforeAll(async () => {
  db = await openTestDatabase(createDb);
});
afterEach(async () => {
  for (const table of [
    'memberships',
    'users',
    'identity_tombstones',
    'organization_purges',
    'organizations',
  ])
    await db.pool.query(`delete from ${table}`);
});
afterAll(() => db.close());

const event = (name: string): JsonObject => readJsonObject(readFixture(`clerk/${name}.json`))!;
const applyEvent = (
  given: JsonObject,
  { purgeGraceDays = 0, isSigned = true, receivedAt = new Date() } = {},
) => applyIdentityEvent(db, given, { purgeGraceDays, isSigned, receivedAt });
const apply = (name: string, options?: Parameters<typeof applyEvent>[1]) =>
  applyEvent(event(name), options);
const rows = async (sql: string, values: unknown[] = []) => (await db.pool.query(sql, values)).rows;

function permutations<T>(items: T[]): T[][] {
  if (items.length < 2) return [items];
  return items.flatMap((item, at) =>
    permutations(items.filter((_, other) => other !== at)).map((rest) => [item, ...rest]),
  );
}

const state = async () => ({
  organizations: await rows('select external_id, slug, name from organizations'),
  users: await rows('select external_id, email, first_name from users order by 1'),
  memberships: await rows('select external_id, role from memberships'),
});

test('events of a membership, its user and its organization may arrive in any order and twice', async () => {
  const names = [
    'user.updated',
    'organization.created',
    'organization.updated',
    'organizationMembership.created',
  ];
  let first: unknown;
  for (const order of permutations(names)) {
    for (const name of [...order, ...order]) await apply(name);
    const now = await state();
    first ??= now;
    expect(now).toEqual(first);
    for (const table of ['memberships', 'users', 'organizations'])
      await db.pool.query(`delete from ${table}`);
  }
  expect(first).toEqual({
    organizations: [
      {
        external_id: 'org_2zFixtOrgAcme00000000000001',
        slug: 'acme-renamed',
        name: 'Acme Fixture Renamed',
      },
    ],
    users: [
      {
        external_id: 'user_2zFixtAlphaUser0000000000001',
        email: 'alpha.renamed@example.com',
        first_name: 'Alpha',
      },
    ],
    memberships: [{ external_id: 'orgmem_2zFixtMember0000000000001', role: 'admin' }],
  });
});

test.each([
  ['org:admin', 'admin'],
  ['org:owner', 'admin'],
  ['org:billing_manager', 'member'],
  ['org:member', 'member'],
  ['basic_member', 'member'],
])('the role %s is stored as %s', async (given, role) => {
  const membership = event('organizationMembership.created');
  (membership.data as JsonObject).role = given;
  await applyEvent(membership);
  expect(await rows('select role from memberships')).toEqual([{ role }]);
});

test('a deleted membership is not created again; a new membership of the same user is', async () => {
  await apply('organizationMembership.created');
  await apply('organizationMembership.deleted');
  await apply('organizationMembership.updated');
  expect(await rows('select 1 from memberships')).toEqual([]);
  const again = event('organizationMembership.created');
  (again.data as JsonObject).id = 'orgmem_later';
  await applyEvent(again);
  await apply('organizationMembership.deleted');
  expect(await rows('select external_id from memberships')).toEqual([
    { external_id: 'orgmem_later' },
  ]);
});

test('a delivery is attributed to its organization whatever its outcome, so that it is deleted with the organization', async () => {
  const owner = async (name: string) => (await apply(name)).outcome.organizationId;
  expect(await owner('user.created')).toBeUndefined();
  const made = await owner('organizationMembership.created');
  expect(await rows('select id from organizations')).toEqual([{ id: made }]);
  for (const name of [
    'organization.created',
    'organization.updated',
    'organizationMembership.created',
    'organizationMembership.updated',
    'organizationMembership.deleted',
    'organizationMembership.created',
    'organization.deleted',
    'organization.updated',
  ])
    expect({ name, owner: await owner(name) }).toEqual({ name, owner: made });
});

test('a missing slug is derived from the name, and a slug that is taken gets a suffix', async () => {
  await seedOrganization(db.pool, { slug: 'acme-fixture' });
  await apply('organization.created');
  await apply('organization.created.no-slug');
  expect(
    await rows('select slug from organizations where external_id is not null order by name'),
  ).toEqual([
    { slug: expect.stringMatching(/^acme-fixture-[0-9a-f]{8}$/) },
    { slug: 'no-slug-fixture' },
  ]);
});

describe('an organization that is deleted', () => {
  async function fill(tenant: number): Promise<void> {
    const scope = [tenant, 'development'];
    const at = '$1::int, $2::"Environment"';
    const run = (sql: string, values: unknown[] = scope) => db.pool.query(sql, values);
    await run(
      `insert into threads (id, tenant, environment, updated_at) values ('t_' || $1::int, ${at}, now())`,
    );
    await run(
      `insert into executions (tenant, environment, thread_id, input) select ${at}, 't_' || $1::int, 'x' from generate_series(1, 700)`,
    );
    await run(
      `insert into thread_messages (id, tenant, thread_id, execution_id, position, role, content)
               select 'm' || id, tenant, thread_id, id, 0, 'user', 'x' from executions where tenant = $1::int`,
      [tenant],
    );
    await run(
      `insert into tool_calls (tenant, execution_id, call_id, name, args)
               select tenant, id, 'c', 'x', '{}' from executions where tenant = $1::int`,
      [tenant],
    );
    await run(
      `insert into events (tenant, environment, type, payload, actor) select ${at}, 'x', '{}', '{}' from generate_series(1, 2500)`,
    );
    await run(
      `insert into integrations (id, tenant, environment, provider, updated_at) values ('i_' || $1::int, ${at}, 'kapso', now())`,
    );
    await run(
      `insert into channel_connections (id, tenant, environment, updated_at) values ('c_' || $1::int, ${at}, now())`,
    );
    await run(`insert into messages (id, tenant, environment, connection_id, direction, contact, type, payload, status, updated_at)
               values ('w_' || $1::int, ${at}, 'c_' || $1::int, 'inbound', '1', 'text', '{}', 'stored', now())`);
    await run(`insert into contact_aliases values (${at}, 'whatsapp', '1', '1')`);
    await run(`insert into emails (id, tenant, environment, idempotency_key, "from", "to", subject, status, updated_at)
               values ('e_' || $1::int, ${at}, 'k', 'a', '{b}', 's', 'sent', now())`);
    await run(
      `insert into processed_payments (id, tenant, provider, order_id, updated_at) values ('p_' || $1::int, $1::int, 'polar', $1::int, now())`,
      [tenant],
    );
    await run(
      `insert into credit_entries (id, tenant, amount_cents, reason, cause) values ('r_' || $1::int, $1::int, 1, 'x', $1::int)`,
      [tenant],
    );
    await run(
      `insert into webhook_deliveries (id, provider, delivery_id, path, headers, body, tenant) values ('d_' || $1::int, 'polar', $1::int, '/', '{}', '', $1::int)`,
      [tenant],
    );
    await run(
      `insert into users (id, external_id, updated_at) values ('u_' || $1::int, $1::int, now())`,
      [tenant],
    );
    await run(
      `insert into memberships (id, tenant, user_id, role, updated_at) values ('b_' || $1::int, $1::int, 'u_' || $1::int, 'admin', now())`,
      [tenant],
    );
    await run(
      `insert into trigger_runs (id, tenant, environment, trigger_slug, cause, run_at, context) values ('x_' || $1::int, ${at}, 't', 'c', now(), '{}')`,
    );
    await run(
      `insert into environment_states (tenant, environment, updated_at) values (${at}, now())`,
    );
  }

  /** The number of an organization's rows in each table that has a column `tenant`. */
  async function countRows({ organizationId, tenant }: Scope): Promise<Record<string, number>> {
    const tables = await rows(
      `select table_name from information_schema.columns where column_name = 'tenant' and table_schema = 'public'`,
    );
    const left: Record<string, number> = {};
    for (const { table_name: table } of tables) {
      const [{ count }] = await rows(`select count(*)::int from ${table} where tenant = $1`, [
        tenant,
      ]);
      if (count > 0) left[table] = count;
    }
    const [{ count }] = await rows('select count(*)::int from organizations where id = $1', [
      organizationId,
    ]);
    return count > 0 ? { ...left, organizations: count } : left;
  }

  const seeded = () =>
    seedOrganization(db.pool, {
      agents: [{ slug: 'a' }],
      routers: [{ slug: 'r', name: 'R' } as never],
      roles: [{ slug: 'r', name: 'R' } as never],
      tools: [{ name: 't' } as never],
      entityTypes: [{ slug: 'order', name: 'Order', schema: {} }],
    });

  test('is deleted with all its data and without data of another, in batches that survive a restart; the report counts the rows', async () => {
    const { scope: doomed } = await seeded();
    const { scope: other } = await seeded();
    for (const { tenant } of [doomed, other]) await fill(tenant);
    const before = await countRows(other);
    await db.pool.query(
      "update organizations set external_id = 'org_2zFixtOrgAcme00000000000001' where id = $1",
      [doomed.organizationId],
    );
    const applied = await apply('organization.deleted');
    expect(applied.purge).toEqual({ organizationId: doomed.organizationId });
    const job = createPurgeOrganization({ db, log: silentLogger() });
    let stops = 0;
    for (let isDone = false; !isDone;) {
      // Stopped after every few batches, as by a restart.
      let asked = 0;
      const signal = {
        get aborted() {
          return (asked += 1) > 7 + stops * 6;
        },
      } as AbortSignal;
      isDone = (await purgeOrganization(db, doomed, signal)) !== null;
      if (!isDone) stops += 1;
      expect(stops).toBeLessThan(100);
    }
    expect(stops).toBeGreaterThan(2);
    await job({ organizationId: doomed.organizationId }, {
      signal: new AbortController().signal,
    } as never);
    expect(await countRows(doomed)).toEqual({ organization_purges: 1 });
    expect(await countRows(other)).toEqual(before);
    const [purge] = await rows('select * from organization_purges');
    expect(purge).toMatchObject({
      external_id: 'org_2zFixtOrgAcme00000000000001',
      slug: expect.any(String),
    });
    expect(purge.finished_at).not.toBeNull();
    expect(purge.report).toMatchObject({
      executions: 700,
      thread_messages: 700,
      tool_calls: 700,
      events: 2500,
      messages: 1,
      credit_entries: 1,
      api_keys: 1,
      agents: 1,
      memberships: 1,
      organizations: 1,
    });
    expect((await rows('select count(*)::int from tool_calls'))[0].count).toBe(700);
    // A late event does not create it again.
    expect((await apply('organization.updated')).outcome.status).toBe('ignored');
    expect((await apply('organizationMembership.created')).outcome.status).toBe('ignored');
  });

  test('is disabled immediately and deleted after the grace period', async () => {
    await apply('organization.created');
    const { purge } = await apply('organization.deleted', { purgeGraceDays: 3 });
    const job = createPurgeOrganization({ db, log: silentLogger() });
    const context = { signal: new AbortController().signal } as never;
    await job(purge!, context);
    expect(await rows('select deleted_at is null as open from organizations')).toEqual([
      { open: false },
    ]);
    await db.pool.query(
      "update organization_purges set run_at = run_at - interval '3 days 1 minute'",
    );
    await job(purge!, context);
    expect(await rows('select 1 from organizations')).toEqual([]);
  });
});
