import { type ResendServer, startResendServer } from '@parley/testing';
import { type Client, push } from './client';
import { deliverAndWait, polar, resend, sample, unique } from './deliveries';
import { type Tenant, createTenant } from './tenant';
import { openCommandLine, providerSettings } from './command-line';

jest.setTimeout(120_000);

const commandLine = openCommandLine(providerSettings());
let tenant: Tenant;
let manageKey: string;
let client: Client;
let mail: ResendServer;

beforeAll(async () => {
  mail = await startResendServer();
  tenant = await createTenant();
  manageKey = (await tenant.client({ permissions: ['manage'] })).key;
  client = await tenant.client();
});
afterAll(async () => {
  commandLine.close();
  await tenant.close();
  await mail.stop();
});

/** Commands with a key that has the permission manage. */
const parley = (args: string[], input?: string) =>
  commandLine.parley([...args, '--org', tenant.slug], {
    input,
    env: { PARLEY_API_KEY: manageKey },
  });
const balance = async () => {
  const [row] = await tenant.query(
    'select coalesce(sum(amount_cents), 0)::int as sum from credit_entries where tenant = $1',
    [tenant.scope.tenant],
  );
  return row!.sum as number;
};

describe('credits', () => {
  /** Samples of one order of this file's organization. */
  const newOrder = (id = unique()) => ({
    id,
    post(file: string, options: { id?: string; owner?: object } = {}) {
      const event = sample(`polar/${file}`);
      Object.assign(event.data, {
        id,
        metadata: { organizationId: tenant.organizationId },
        ...options.owner,
      });
      return deliverAndWait(tenant, polar, event, { id: options.id });
    },
  });

  it('an order is credited once, and each refund subtracts only what it adds to the earlier ones', async () => {
    const order = newOrder();
    expect(await balance()).toBe(0);
    const first = `evt_${unique()}`;
    const { id } = await order.post('order.paid', { id: first });
    expect(await balance()).toBe(5_000);
    // A retry of the provider finds the same row; another delivery about the same order is ignored.
    expect((await order.post('order.paid', { id: first })).id).toBe(id);
    expect(await order.post('order.paid')).toMatchObject({
      status: 'ignored',
      reason: 'applied before',
    });
    expect(await balance()).toBe(5_000);
    for (const [file, left] of [
      ['order.refunded.partial', 3_000],
      ['order.refunded.partial', 3_000],
      ['order.refunded.partial-second', 1_500],
      ['order.refunded', 0],
      ['order.refunded.partial', 0],
    ] as const) {
      await order.post(file);
      expect({ file, left: await balance() }).toEqual({ file, left });
    }
    expect(JSON.parse(await parley(['credits', 'show', '--json']))).toMatchObject({
      balanceCents: 0,
      data: [-1_500, -1_500, -2_000, 5_000].map((amountCents) => ({ amountCents })),
    });
    const shown = await parley(['credits', 'show']);
    expect(shown.split('\n')[0]).toBe('balance: 0.00');
    expect(shown.match(/order refunded/g)).toHaveLength(3);
    expect(shown).toContain(`polar-order-${order.id}-paid`);
  });

  it('a refund that arrives before its payment is counted', async () => {
    const before = await balance();
    const order = newOrder();
    await order.post('order.refunded.partial');
    await order.post('order.paid');
    expect((await balance()) - before).toBe(3_000);
  });

  it('a refund in the documented shape, without refunded_amount, is of the whole amount', async () => {
    const before = await balance();
    const data = {
      id: unique(),
      amount: 700,
      currency: 'usd',
      subtotal_amount: 700,
      customer: { id: unique(), email: 'a@b.example', externalId: tenant.organizationId },
      product: { id: unique(), name: 'Credits' },
      created_at: '2026-09-01T12:00:00Z',
    };
    for (const [type, left] of [
      ['order.paid', 700],
      ['order.paid', 700],
      ['order.refunded', 0],
      ['order.refunded', 0],
    ] as const) {
      await deliverAndWait(tenant, polar, { type, data });
      expect([type, (await balance()) - before]).toEqual([type, left]);
    }
  });

  it('the organization is found by metadata, then by the external id of the customer, then by its user', async () => {
    const user = `user_${unique()}`;
    await tenant.query('insert into users (id, external_id, updated_at) values ($1, $1, now())', [
      user,
    ]);
    await tenant.query(
      "insert into memberships (id, tenant, user_id, role, updated_at) values ($1, $2, $1, 'admin', now())",
      [user, tenant.scope.tenant],
    );
    const before = await balance();
    const customer = (given: object) => ({
      ...sample('polar/order.paid').data.customer,
      metadata: {},
      ...given,
    });
    const unknown = customer({ external_id: null });
    for (const owner of [
      { metadata: {}, customer: customer({ external_id: tenant.organizationId }) },
      {
        metadata: {},
        customer: customer({ external_id: undefined, externalId: tenant.organizationId }),
      },
      { metadata: {}, customer: customer({ external_id: null, metadata: { userId: user } }) },
      {
        metadata: { organizationId: tenant.organizationId },
        customer: customer({ external_id: 'org_of_others' }),
      },
    ])
      expect(await newOrder().post('order.paid', { owner })).toMatchObject({ status: 'processed' });
    expect((await balance()) - before).toBe(20_000);

    // An order without an owner is stored as unattributed.
    const id = `evt_${unique()}`;
    const unattributed = await newOrder().post('order.paid', {
      id,
      owner: { metadata: {}, customer: unknown },
    });
    expect(unattributed).toMatchObject({ status: 'unattributed', tenant: null });
    expect((await balance()) - before).toBe(20_000);
  });
});

it('an e-mail that a tool has sent gets the furthest status that the provider reports', async () => {
  await parley(
    [
      'integrations',
      'set',
      'resend',
      '--api-key',
      '-',
      '--api-url',
      mail.url,
      '--from',
      'Acme <hello@acme.example>',
    ],
    mail.apiKey,
  );
  expect(await parley(['integrations', 'test', 'resend'])).toContain('accepts the key');
  await push(client, {
    agents: [{ slug: 'mailer', name: 'Mailer', systemPrompt: 'You write.', tools: ['email.send'] }],
  });
  const args = { to: 'a@b.example', subject: 'Hola', text: 'Que tal' };
  const sent = await client.post('/v1/run-tool', {
    agentSlug: 'mailer',
    toolName: 'email.send',
    args,
  });
  expect(sent.body.result).toMatchObject({ status: 'sent' });
  expect(mail.sent).toMatchObject([
    {
      key: sent.body.result.id,
      body: { from: 'Acme <hello@acme.example>', to: ['a@b.example'], subject: 'Hola' },
    },
  ]);
  const applyStatus = async (file: string) => {
    const event = sample(`resend/${file}`);
    Object.assign(event.data, { email_id: mail.sent[0]!.id });
    const { status } = await deliverAndWait(tenant, resend, event);
    const [email] = await tenant.query('select status from emails where id = $1', [
      sent.body.result.id,
    ]);
    return [status, email!.status];
  };
  expect(await applyStatus('email.delivered')).toEqual(['processed', 'delivered']);
  expect(await applyStatus('email.sent')).toEqual(['processed', 'delivered']);
  expect(await applyStatus('email.opened')).toEqual(['ignored', 'delivered']);
  expect(await applyStatus('email.complained')).toEqual(['processed', 'complained']);
  expect(await applyStatus('email.bounced')).toEqual(['processed', 'complained']);
  expect(mail.problems).toEqual([]);
});
