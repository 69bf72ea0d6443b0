import {
  type FlowServer,
  type KapsoServer,
  startFlowServer,
  startKapsoServer,
  startStack,
  until,
} from '@parley/testing';
import { createClient, push } from './client';
import {
  deliver,
  deliverAndWait,
  polar,
  sample,
  sign,
  unique,
  waitForDelivery,
} from './deliveries';
import { shared } from './stack';
import { type Tenant, createTenant } from './tenant';
import { openCommandLine, providerSettings } from './command-line';

jest.setTimeout(120_000);

const commandLine = openCommandLine(providerSettings());
let tenant: Tenant;
let manageKey: string;
let kapso: KapsoServer;
let flow: FlowServer;

beforeAll(async () => {
  [kapso, flow] = await Promise.all([
    startKapsoServer(),
    startFlowServer({ apiKey: 'KEY-1', secretKey: 'secret-1' }),
  ]);
  tenant = await createTenant();
  manageKey = (await tenant.client({ permissions: ['manage'] })).key;
  await push(await tenant.client(), {
    agents: [
      { slug: 'helper', name: 'Helper', systemPrompt: 'You help.', model: 'offline/scripted' },
    ],
  });
});
afterAll(async () => {
  commandLine.close();
  await tenant.close();
  await Promise.all([kapso.stop(), flow.stop()]);
});

/** Commands with a key that has the permission manage. */
const parley = (args: string[], input?: string) =>
  commandLine.parley([...args, '--org', tenant.slug], {
    input,
    env: { PARLEY_API_KEY: manageKey },
  });
interface Listed {
  id: string;
  status: string;
  eventType: string;
  reason: string | null;
}
const list = async (...args: string[]) =>
  (JSON.parse(await parley(['webhooks', 'list', '--json', ...args])) as { data: Listed[] }).data;
const balance = async () => {
  const [row] = await tenant.query(
    'select coalesce(sum(amount_cents), 0)::int as sum from credit_entries where tenant = $1',
    [tenant.scope.tenant],
  );
  return row!.sum as number;
};

it('integrations are set, tested and listed, and a key that the provider refuses is reported', async () => {
  await parley(
    ['integrations', 'set', 'kapso', '--api-key', '-', '--api-url', kapso.url],
    kapso.apiKey,
  );
  expect(await parley(['integrations', 'test', 'kapso'])).toContain('accepts the key');
  const flowArgs = [
    'integrations',
    'set',
    'flow',
    '--api-key',
    'KEY-1',
    '--secret-key',
    '-',
    '--api-url',
    flow.url,
  ];
  await parley(flowArgs, 'secret-1');
  expect(await parley(['integrations', 'test', 'flow'])).toMatch(/^flow: /);
  await parley([
    'integrations',
    'set',
    'resend',
    '--api-key',
    're_wrong_key',
    '--api-url',
    kapso.url,
  ]);
  const refused = await commandLine.run(['integrations', 'test', 'resend'], {
    env: { PARLEY_API_KEY: manageKey },
  });
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('refuses the key') });
  const listed = await parley(['integrations', 'list']);
  for (const provider of ['kapso', 'flow', 'resend'])
    expect(listed).toMatch(new RegExp(`^${provider} +enabled`, 'm'));
  for (const secret of [kapso.apiKey, 'secret-1', 're_wrong_key'])
    expect(listed).not.toContain(secret);
});

it('every flow can be tested without its provider: samples are accepted, attributed and processed', async () => {
  await parley(['webhooks', 'trigger', 'order.paid', '--set', 'data.subtotal_amount=900']);
  await until(async () => (await balance()) === 900);
  await parley(['webhooks', 'trigger', 'order.refunded', '--set', 'data.refunded_amount=300']);
  await until(async () => (await balance()) === 600);
  await parley(['webhooks', 'trigger', 'whatsapp.message.received']);
  const [reply] = await until(() => kapso.sent.length > 0 && kapso.sent);
  expect(reply).toMatchObject({
    phoneNumberId: expect.stringContaining('simulated-'),
    body: { type: 'text' },
  });
  await parley(['webhooks', 'trigger', 'whatsapp.message.delivered']);
  await until(async () => {
    const rows = await tenant.query('select status from messages where message_id = $1', [
      reply!.id,
    ]);
    return rows[0]?.status === 'delivered';
  });
  const listed = await list();
  const credits = JSON.parse(await parley(['credits', 'show', '--json'])) as {
    balanceCents: number;
  };
  expect(credits.balanceCents).toBe(600);
  expect(listed.map(({ eventType, status }) => [eventType, status])).toEqual([
    ['whatsapp.message.delivered', 'processed'],
    ['whatsapp.message.received', 'processed'],
    ['order.refunded', 'processed'],
    ['order.paid', 'processed'],
  ]);
});

it('the callback of a payment can be tested without its provider', async () => {
  const client = await tenant.client();
  const args = { amount: 5_000, description: 'Pedido', customerEmail: 'buyer@example.com' };
  const made = await client.post('/v1/run-tool', { toolName: 'payment.create', args });
  const { paymentId, paymentLinkUrl } = made.body.result;
  flow.orderOf(paymentLinkUrl).status = 2;
  await parley(['webhooks', 'trigger', 'payment.confirmation']);
  await until(
    async () => (await client.get(`/v1/data/payment/${paymentId}`)).body.data.status === 'paid',
  );
  expect(flow.problems).toEqual([]);
});

it('samples are listed, and those about missing numbers and organizations can be sent, too', async () => {
  const events = (await commandLine.parley(['webhooks', 'trigger'])).split('\n');
  expect(events.length).toBeGreaterThan(60);
  // Such a delivery is stored as unattributed.
  const chosen = ['email.bounced', 'whatsapp.phone_number.deleted'];
  for (const event of chosen) {
    expect(events).toContain(event);
    expect(await parley(['webhooks', 'trigger', event])).toContain('returned 200');
  }
});

it('a delivery is shown with its body, with masked secrets, and with the reason of its failure', async () => {
  const id = `evt_${unique()}`;
  const order = sample('polar/order.paid');
  Object.assign(order.data, { id: unique(), metadata: {}, client_secret: 'topsecret' });
  Object.assign(order.data.customer, { external_id: null, metadata: {} });
  const delivery = await deliverAndWait(tenant, polar, order, { id });
  expect(delivery).toMatchObject({ status: 'unattributed' });
  const shown = await commandLine.parley(['webhooks', 'show', delivery.id, '--unattributed']);
  for (const text of [
    delivery.id,
    id,
    'order.paid',
    'unattributed',
    'names no organization',
    order.data.id,
  ])
    expect(shown).toContain(text);
  expect(shown).not.toContain('topsecret');
  expect(
    (await list('--unattributed', '--status', 'unattributed', '--provider', 'polar')).map(
      (one) => one.id,
    ),
  ).toContain(delivery.id);
});

it('a replay processes a failed delivery again, and repeats no effect', async () => {
  const id = `evt_${unique()}`;
  const order = sample('polar/order.paid');
  const owner = `org_${unique()}`;
  Object.assign(order.data, { id: unique(), metadata: { organizationId: owner } });
  expect(await deliverAndWait(tenant, polar, order, { id })).toMatchObject({
    status: 'unattributed',
    reason: `not known here: ${owner}`,
  });
  const before = await balance();
  await tenant.query('update organizations set external_id = $2 where id = $1', [
    tenant.organizationId,
    owner,
  ]);
  const { id: row } = await waitForDelivery(tenant, id);
  for (let round = 0; round < 2; round += 1) {
    const replay = ['webhooks', 'replay', row, ...(round === 0 ? ['--unattributed'] : [])];
    expect(await commandLine.parley(replay, { env: { PARLEY_API_KEY: manageKey } })).toContain(
      '1 delivery will be processed again',
    );
    await until(async () => (await waitForDelivery(tenant, id)).status !== 'unattributed');
  }
  expect((await balance()) - before).toBe(5_000);
});

it('a refused delivery is in the inbox with the reason, and cannot be replayed', async () => {
  const body = Buffer.from(JSON.stringify(sample('polar/order.paid')));
  const agent = `forger/${unique()}`;
  // A separate process, because a process stores 30 refusals a minute and other tests
  // use the shared one.
  const { databaseUrl, redisUrl, bundles, webhookSecrets } = shared;
  const services = ['webhook-ingest'] as const;
  const stack = await startStack({
    databaseUrl,
    redisUrl,
    bundles,
    environment: webhookSecrets,
    services,
  });
  const ingest = createClient(stack.services['webhook-ingest']!.url);
  const send = (headers: Record<string, string>) =>
    ingest.send('POST', polar, new Uint8Array(body), { ...headers, 'user-agent': agent });
  const { 'webhook-signature': _signature, ...unsigned } = sign(polar, body);
  const old = sign(polar, body, { nowMs: Date.now() - 400_000 });
  try {
    for (const headers of [unsigned, old, sign(polar, body, { secret: 'polar_whs_another' })])
      expect((await send(headers)).status).toBe(400);
  } finally {
    await stack.stop();
  }
  const rows = await until(async () => {
    const kept = await tenant.query(
      "select id, reason from webhook_deliveries where headers->>'user-agent' = $1 order by received_at",
      [agent],
    );
    return kept.length === 3 && kept;
  });
  expect(rows.map(({ reason }) => reason)).toEqual([
    'the header webhook-signature is missing',
    expect.stringMatching(/^clock: the delivery is \d+ s old$/),
    expect.stringMatching(/^secret: /),
  ]);
  expect(
    await commandLine.parley(['webhooks', 'show', String(rows[1]!.id), '--unattributed']),
  ).toContain('clock: the delivery is');
  expect(
    await commandLine.run(['webhooks', 'replay', String(rows[1]!.id), '--unattributed']),
  ).toMatchObject({
    code: 1,
  });
  expect((await deliver(polar, body)).status).toBe(200);
});
