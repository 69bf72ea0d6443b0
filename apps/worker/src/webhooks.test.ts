import type { JsonObject } from '@parley/contracts';
import { webhookSecretOf } from '@parley/channels';
import { rounds } from '@parley/testing';
import { applyBillingEvents } from './billing/apply-billing-events';
import {
  type Sample,
  type WebhookServices,
  phoneNumberId,
  samples,
  startWebhookServices,
} from '../testing/start-webhook-services';

jest.setTimeout(rounds(120_000, 900_000));

let services: WebhookServices;
beforeAll(async () => {
  services = await startWebhookServices();
});
afterAll(() => services.close());

const contact = '14155550134';
/**
 * Without events about numbers, which have their own test: deliveries after the removal of a
 * number are refused.
 */
const inAnyOrder = samples.filter(
  ({ path, file }) => !path.endsWith('/flow') && !file.includes('phone_number'),
);
const sampleOf = (name: string): Sample => samples.find(({ file }) => file === `${name}.json`)!;

/** Shuffles deterministically by a seed. */
function shuffled<T>(items: readonly T[], seed: number): T[] {
  let state = seed;
  const next = () => (state = (state * 1_103_515_245 + 12_345) % 2 ** 31) / 2 ** 31;
  return items
    .map((item) => ({ item, at: next() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

async function rows(sql: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
  return (await services.db.pool.query(sql, values)).rows;
}

/** All data that deliveries change, without generated ids and times. */
async function snapshot(): Promise<unknown> {
  const [
    organizations,
    users,
    memberships,
    credits,
    payments,
    inbound,
    outbound,
    emails,
    statuses,
    threads,
  ] = await Promise.all([
    rows(
      'select external_id, slug, name, deleted_at is null as alive from organizations where external_id is not null order by 1',
    ),
    rows('select external_id, email, first_name, last_name from users order by 1'),
    rows(`select o.external_id as org, u.external_id as member, m.role, m.external_id from memberships m
            join organizations o on o.no = m.tenant join users u on u.id = m.user_id order by 1, 2`),
    rows(
      'select o.external_id, sum(c.amount_cents)::int from credit_entries c join organizations o on o.no = c.tenant group by 1 order by 1',
    ),
    rows('select order_id, credited_cents, refunded_cents from processed_payments order by 1'),
    rows(
      "select message_id, contact, type, text, status from messages where direction = 'inbound' order by 1",
    ),
    rows(
      "select message_id, status from messages where direction = 'outbound' and message_id like 'wamid.FIXT%' order by 1",
    ),
    rows('select provider_id, status from emails order by 1'),
    rows(
      "select provider, external_id, status from provider_statuses where external_id not like '%wamid.TEST%' order by 1, 2",
    ),
    rows(
      'select t.external_id, count(e.id)::int as turns from threads t left join executions e on e.thread_id = t.id group by 1 order by 1',
    ),
  ]);
  const replies = services.kapso.sent.length;
  return {
    organizations,
    users,
    memberships,
    credits,
    payments,
    inbound,
    outbound,
    emails,
    statuses,
    threads,
    replies,
  };
}

async function clean(): Promise<void> {
  await services.settled();
  for (const table of [
    'webhook_deliveries',
    'messages',
    'contact_aliases',
    'threads',
    'provider_statuses',
    'emails',
    'credit_entries',
    'processed_payments',
    'memberships',
    'users',
    'identity_tombstones',
    'organization_purges',
  ])
    await services.db.pool.query(`delete from ${table}`);
  await services.db.pool.query('delete from organizations where external_id is not null');
  services.kapso.sent.length = 0;
  const { tenant } = services.organization.scope;
  for (const id of ['wamid.FIXTOUT01', 'wamid.FIXTOUT02'])
    await services.db.pool.query(
      `insert into messages (id, tenant, environment, connection_id, direction, message_id, contact, type, text,
                             payload, status, updated_at)
       values ($1, $2, 'development', $3, 'outbound', $1, $4, 'text', 'x', '{}', 'sent', now())`,
      [id, tenant, services.connectionId, contact],
    );
  await services.db.pool.query(
    `insert into emails (id, tenant, environment, provider_id, idempotency_key, "from", "to", subject, status, updated_at)
     values ('email_1', $1, 'development', 'f1c7e000-2222-4000-8000-000000000001', 'k', 'a', '{b}', 's', 'sent', now())`,
    [tenant],
  );
}

async function replay(order: readonly Sample[]): Promise<unknown> {
  await clean();
  for (const sample of order) {
    const status = await services.post(sample);
    expect({ file: sample.file, status }).toEqual({
      file: sample.file,
      status: sample.file.includes('unknown-number') ? 500 : 200,
    });
  }
  await services.settled();
  return snapshot();
}

describe('every fixture, twice, in any order', () => {
  const withoutDeletions = inAnyOrder.filter(({ file }) => !file.includes('.deleted'));

  test('ends in the same state', async () => {
    const once = (await replay(withoutDeletions)) as Record<string, unknown>;
    expect(once).toMatchObject({
      organizations: [
        {
          external_id: 'org_2zFixtOrgAcme00000000000001',
          slug: 'acme-renamed',
          name: 'Acme Fixture Renamed',
        },
        { external_id: 'org_2zFixtOrgNoSlug0000000000002', slug: 'no-slug-fixture' },
      ],
      users: [
        { external_id: 'user_2zFixtAlphaUser0000000000001', email: 'alpha.renamed@example.com' },
        { email: 'bravo.fixture@example.com' },
        { external_id: 'user_2zFixtPhoneOnly000000000003', email: null },
      ],
      memberships: [{ role: 'member' }, { role: 'member' }],
      // order.paid 5000, external-id 5000, customer-metadata 5000, discounted 5000, subscription
      // 5000; refunds 5000.
      credits: [{ external_id: 'org_2zFixtOrgAcme00000000000001', sum: 20_000 }],
      outbound: [
        { message_id: 'wamid.FIXTAPP01', status: 'sent' },
        { message_id: 'wamid.FIXTOUT01', status: 'read' },
        { message_id: 'wamid.FIXTOUT02', status: 'failed' },
      ],
      emails: [{ status: 'complained' }],
      threads: [{ external_id: `whatsapp:${contact}` }],
    });
    for (const seed of [1, 2, 3]) {
      const again = await replay(shuffled([...withoutDeletions, ...withoutDeletions], seed));
      expect(again).toEqual(once);
      // A message and an e-mail belong to an environment, a change of an account or of
      // credits to both.
      const owners = await rows(
        `select distinct provider, environment from webhook_deliveries where tenant is not null order by provider`,
      );
      expect(owners).toEqual([
        { provider: 'clerk', environment: null },
        { provider: 'kapso', environment: 'development' },
        { provider: 'polar', environment: null },
        { provider: 'resend', environment: 'development' },
      ]);
    }
  });

  test('what was deleted stays deleted', async () => {
    const once = (await replay(inAnyOrder)) as Record<string, unknown>;
    expect(once).toMatchObject({
      organizations: [{ external_id: 'org_2zFixtOrgNoSlug0000000000002' }],
      memberships: [],
      credits: [],
    });
    for (const seed of [4, 5])
      expect(await replay(shuffled([...inAnyOrder, ...inAnyOrder], seed))).toEqual(once);
  });
});

test('the balance of shuffled orders is what was paid less what was refunded', async () => {
  await clean();
  await services.post(sampleOf('clerk/organization.created'));
  await services.settled();
  const { rows: found } = await services.db.pool.query(
    "select id from organizations where external_id like 'org_2zFixtOrgAcme%'",
  );
  const organizationId = found[0].id as string;
  const size = rounds(400, 10_000);
  const events: { type: string; data: Record<string, string | number | object> }[] = [];
  let balance = 0;
  for (let at = 0; at < size; at += 1) {
    const paid = 100 + ((at * 37) % 900);
    const refunded = at % 3 === 0 ? Math.floor(paid / 2) : 0;
    const order = { id: `order-${at}`, metadata: { organizationId }, subtotal_amount: paid };
    events.push({ type: 'order.paid', data: order }, { type: 'order.paid', data: order });
    for (const part of [refunded / 2, refunded].map(Math.floor))
      if (part > 0)
        events.push({ type: 'order.refunded', data: { ...order, refunded_amount: part } });
    balance += paid - refunded;
  }
  const queue = shuffled(events, 9);
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (let event = queue.pop(); event; event = queue.pop())
        await applyBillingEvents(services.db, [event as never], async () => {});
    }),
  );
  expect(await rows('select sum(amount_cents)::int from credit_entries')).toEqual([
    { sum: balance },
  ]);
});

test('a credit and the outcome of its delivery are committed together', async () => {
  await clean();
  await services.post(sampleOf('clerk/organization.created'));
  await services.settled();
  const [organization] = await rows(
    "select id from organizations where external_id like 'org_2zFixtOrgAcme%'",
  );
  const order = {
    id: 'order-1',
    metadata: { organizationId: String(organization!.id) },
    subtotal_amount: 100,
  };
  const event = { type: 'order.paid', data: order };
  const fail = () => Promise.reject(new Error('the outcome cannot be written'));
  await expect(applyBillingEvents(services.db, [event], fail)).rejects.toThrow(
    'the outcome cannot be written',
  );
  expect(await rows('select id from credit_entries')).toEqual([]);
  expect(await rows('select id from processed_payments')).toEqual([]);
});

test('an order that cannot be applied belongs to its organization too', async () => {
  await clean();
  await services.post(sampleOf('clerk/organization.created'));
  await services.settled();
  const [organization] = await rows(
    "select id from organizations where external_id like 'org_2zFixtOrgAcme%'",
  );
  const organizationId = String(organization!.id);
  const events: JsonObject[] = [
    {
      type: 'order.paid',
      data: { id: 'order-1', metadata: { organizationId }, subtotal_amount: null },
    },
    {
      type: 'order.refunded',
      data: { id: 'order-1', metadata: { organizationId: 'unknown' }, refunded_amount: -5 },
    },
    { type: 'order.paid', data: { metadata: { organizationId }, subtotal_amount: 100 } },
    {
      type: 'order.paid',
      data: { id: 'order-1', metadata: { organizationId }, subtotal_amount: 100 },
    },
  ];
  await applyBillingEvents(services.db, events, async (_db, outcomes) => {
    const reason = 'the order has no subtotal_amount in whole cents';
    expect(outcomes).toMatchObject([
      { status: 'failed', reason, organizationId },
      { status: 'failed', reason: 'the order has no refunded_amount in whole cents' },
      { status: 'failed', reason, organizationId },
      { status: 'processed', organizationId },
    ]);
    expect(outcomes[1]).not.toHaveProperty('organizationId');
  });
  expect(await rows('select amount_cents from credit_entries')).toEqual([{ amount_cents: 100 }]);
});

describe('a number', () => {
  const created = sampleOf('kapso/whatsapp.phone_number.created');
  const deleted = sampleOf('kapso/whatsapp.phone_number.deleted');

  test('is connected to the connection of its customer, with its webhook, and both are deleted with it', async () => {
    await clean();
    await services.db.pool.query('delete from channel_connections');
    services.kapso.webhooks.length = 0;
    expect(await services.post(created)).toBe(200);
    await services.settled();
    expect(await rows('select status, reason from webhook_deliveries')).toMatchObject([
      { status: 'unattributed' },
    ]);

    await services.db.pool.query('delete from webhook_deliveries');
    await services.db.pool.query(
      `insert into channel_connections (id, tenant, environment, external_customer_id, agent_slug, updated_at)
       values ('conn_waiting', $1, 'development', 'f1c7e000-1111-4000-8000-000000000001', 'helper', now())`,
      [services.organization.scope.tenant],
    );
    expect(await services.post(created)).toBe(200);
    await services.settled();
    const connected = [
      { status: 'connected', phone_number_id: phoneNumberId, phone_number: '15551234567' },
    ];
    expect(await rows('select * from channel_connections')).toMatchObject(connected);
    expect(services.kapso.webhooks).toMatchObject([
      {
        url: 'https://parley.example/webhook/kapso/messages',
        // With the deployment's own secret this organization could sign for all others.
        secretKey: webhookSecretOf('kapso-secret', 'conn_waiting'),
        phoneNumberId,
      },
    ]);
    // The same event again finds the existing webhook and keeps it.
    await services.db.pool.query('delete from webhook_deliveries');
    await services.post(created);
    await services.settled();
    expect(services.kapso.webhooks).toHaveLength(1);

    await services.post(sampleOf('kapso/whatsapp.message.received'));
    await services.settled();
    expect(await services.post(deleted)).toBe(200);
    await services.settled();
    expect(await rows('select * from channel_connections')).toEqual([]);
    expect(services.kapso.webhooks).toEqual([]);
    expect(await rows("select connection_id from messages where direction = 'inbound'")).toEqual([
      { connection_id: null },
    ]);
    expect(services.kapso.problems).toEqual([]);
  });
});
