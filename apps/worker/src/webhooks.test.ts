import { webhookSecretOf } from '@parley/channels';
import { applyBillingEvent } from './billing/apply-billing-event';
import { type Sample, type WebhookBench, phoneNumberId, samples, startWebhooks } from './webhooks-under-test';

jest.setTimeout(120_000);

let bench: WebhookBench;
beforeAll(async () => {
  bench = await startWebhooks();
});
afterAll(() => bench.close());

const contact = '14155550134';
/** Numbers come and go in a test of their own: what follows their removal is refused. */
const inAnyOrder = samples.filter(({ path, file }) => !path.endsWith('/flow') && !file.includes('phone_number'));
const sampleOf = (name: string): Sample => samples.find(({ file }) => file === `${name}.json`)!;

/** The same order for the same seed. */
function shuffled<T>(items: readonly T[], seed: number): T[] {
  let state = seed;
  const next = () => (state = (state * 1_103_515_245 + 12_345) % 2 ** 31) / 2 ** 31;
  return items
    .map((item) => ({ item, at: next() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

async function rows(sql: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
  return (await bench.db.pool.query(sql, values)).rows;
}

/** Everything that deliveries change, without ids and times of our own. */
async function snapshot(): Promise<unknown> {
  const [organizations, users, memberships, credits, payments, inbound, outbound, emails, statuses, threads] =
    await Promise.all([
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
      rows("select message_id, contact, type, text, status from messages where direction = 'inbound' order by 1"),
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
  const replies = bench.kapso.sent.length;
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
  await bench.settled();
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
    await bench.db.pool.query(`delete from ${table}`);
  await bench.db.pool.query('delete from organizations where external_id is not null');
  bench.kapso.sent.length = 0;
  const { tenant } = bench.organization.scope;
  for (const id of ['wamid.FIXTOUT01', 'wamid.FIXTOUT02'])
    await bench.db.pool.query(
      `insert into messages (id, tenant, environment, connection_id, direction, message_id, contact, type, text,
                             payload, status, updated_at)
       values ($1, $2, 'development', $3, 'outbound', $1, $4, 'text', 'x', '{}', 'sent', now())`,
      [id, tenant, bench.connectionId, contact],
    );
  await bench.db.pool.query(
    `insert into emails (id, tenant, environment, provider_id, idempotency_key, "from", "to", subject, status, updated_at)
     values ('email_1', $1, 'development', 'f1c7e000-2222-4000-8000-000000000001', 'k', 'a', '{b}', 's', 'sent', now())`,
    [tenant],
  );
}

async function replay(order: readonly Sample[]): Promise<unknown> {
  await clean();
  for (const sample of order) {
    const status = await bench.post(sample);
    expect({ file: sample.file, status }).toEqual({
      file: sample.file,
      status: sample.file.includes('unknown-number') ? 500 : 200,
    });
  }
  await bench.settled();
  return snapshot();
}

describe('every fixture, twice, in any order', () => {
  const withoutDeletions = inAnyOrder.filter(({ file }) => !file.includes('.deleted'));

  test('ends in the same state', async () => {
    const once = (await replay(withoutDeletions)) as Record<string, unknown>;
    expect(once).toMatchObject({
      organizations: [
        { external_id: 'org_2zFixtOrgAcme00000000000001', slug: 'acme-renamed', name: 'Acme Fixture Renamed' },
        { external_id: 'org_2zFixtOrgNoSlug0000000000002', slug: 'no-slug-fixture' },
      ],
      users: [
        { external_id: 'user_2zFixtAlphaUser0000000000001', email: 'alpha.renamed@example.com' },
        { email: 'bravo.fixture@example.com' },
        { external_id: 'user_2zFixtPhoneOnly000000000003', email: null },
      ],
      memberships: [{ role: 'member' }, { role: 'member' }],
      // order.paid 5000, external-id 5000, customer-metadata 5000, discounted 5000, subscription 5000; refunds 5000.
      credits: [{ external_id: 'org_2zFixtOrgAcme00000000000001', sum: 20_000 }],
      outbound: [
        { message_id: 'wamid.FIXTOUT01', status: 'read' },
        { message_id: 'wamid.FIXTOUT02', status: 'failed' },
      ],
      emails: [{ status: 'complained' }],
      threads: [{ external_id: `whatsapp:${contact}` }],
    });
    for (const seed of [1, 2, 3]) {
      const again = await replay(shuffled([...withoutDeletions, ...withoutDeletions], seed));
      expect(again).toEqual(once);
    }
  });

  test('what was deleted stays deleted', async () => {
    const once = (await replay(inAnyOrder)) as Record<string, unknown>;
    expect(once).toMatchObject({
      organizations: [{ external_id: 'org_2zFixtOrgNoSlug0000000000002' }],
      memberships: [],
      credits: [],
    });
    for (const seed of [4, 5]) expect(await replay(shuffled([...inAnyOrder, ...inAnyOrder], seed))).toEqual(once);
  });
});

test('shuffled orders (PARLEY_ORDERS=10000 for the full run): the balance is what was paid less what was refunded', async () => {
  await clean();
  await bench.post(sampleOf('clerk/organization.created'));
  await bench.settled();
  const { rows: found } = await bench.db.pool.query(
    "select id from organizations where external_id like 'org_2zFixtOrgAcme%'",
  );
  const organizationId = found[0].id as string;
  const size = Number(process.env.PARLEY_ORDERS ?? 400);
  const events: { type: string; data: Record<string, string | number | object> }[] = [];
  let balance = 0;
  for (let at = 0; at < size; at += 1) {
    const paid = 100 + ((at * 37) % 900);
    const refunded = at % 3 === 0 ? Math.floor(paid / 2) : 0;
    const order = { id: `order-${at}`, metadata: { organizationId }, subtotal_amount: paid };
    events.push({ type: 'order.paid', data: order }, { type: 'order.paid', data: order });
    for (const part of [refunded / 2, refunded].map(Math.floor))
      if (part > 0) events.push({ type: 'order.refunded', data: { ...order, refunded_amount: part } });
    balance += paid - refunded;
  }
  const queue = shuffled(events, 9);
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (let event = queue.pop(); event; event = queue.pop())
        await applyBillingEvent(bench.db, event as never, async () => {});
    }),
  );
  expect(await rows('select sum(amount_cents)::int from credit_entries')).toEqual([{ sum: balance }]);
});

test('a credit and what became of its delivery are committed together', async () => {
  await clean();
  await bench.post(sampleOf('clerk/organization.created'));
  await bench.settled();
  const [organization] = await rows("select id from organizations where external_id like 'org_2zFixtOrgAcme%'");
  const order = { id: 'order-1', metadata: { organizationId: String(organization!.id) }, subtotal_amount: 100 };
  const event = { type: 'order.paid', data: order };
  const fail = () => Promise.reject(new Error('the outcome cannot be written'));
  await expect(applyBillingEvent(bench.db, event, fail)).rejects.toThrow('the outcome cannot be written');
  expect(await rows('select id from credit_entries')).toEqual([]);
  expect(await rows('select id from processed_payments')).toEqual([]);
});

describe('a number', () => {
  const created = sampleOf('kapso/whatsapp.phone_number.created');
  const deleted = sampleOf('kapso/whatsapp.phone_number.deleted');

  test('is connected to the connection of its customer, with its webhook, and goes with it', async () => {
    await clean();
    await bench.db.pool.query('delete from channel_connections');
    bench.kapso.webhooks.length = 0;
    expect(await bench.post(created)).toBe(200);
    await bench.settled();
    expect(await rows('select status, reason from webhook_deliveries')).toMatchObject([{ status: 'unattributed' }]);

    await bench.db.pool.query('delete from webhook_deliveries');
    await bench.db.pool.query(
      `insert into channel_connections (id, tenant, environment, external_customer_id, agent_slug, updated_at)
       values ('conn_waiting', $1, 'development', 'f1c7e000-1111-4000-8000-000000000001', 'helper', now())`,
      [bench.organization.scope.tenant],
    );
    expect(await bench.post(created)).toBe(200);
    await bench.settled();
    const connected = [{ status: 'connected', phone_number_id: phoneNumberId, phone_number: '15551234567' }];
    expect(await rows('select * from channel_connections')).toMatchObject(connected);
    expect(bench.kapso.webhooks).toMatchObject([
      {
        url: 'https://parley.example/webhook/kapso/messages',
        // The deployment's own would let this organization sign for all others.
        secretKey: webhookSecretOf('kapso-secret', 'conn_waiting'),
        phoneNumberId,
      },
    ]);
    // Again: the webhook that is there is taken over.
    await bench.db.pool.query('delete from webhook_deliveries');
    await bench.post(created);
    await bench.settled();
    expect(bench.kapso.webhooks).toHaveLength(1);

    await bench.post(sampleOf('kapso/whatsapp.message.received'));
    await bench.settled();
    expect(await bench.post(deleted)).toBe(200);
    await bench.settled();
    expect(await rows('select * from channel_connections')).toEqual([]);
    expect(bench.kapso.webhooks).toEqual([]);
    expect(await rows("select connection_id from messages where direction = 'inbound'")).toEqual([
      { connection_id: null },
    ]);
    expect(bench.kapso.problems).toEqual([]);
  });
});
