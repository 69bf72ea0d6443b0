import { type Db, createDb, createSecretBox, saveIntegration } from '@parley/db';
import { ensurePaymentType } from '@parley/payments';
import {
  type FlowServer,
  type KapsoServer,
  startFlowServer,
  startKapsoServer,
  until,
} from '@parley/testing';
import { type Client, createClient, push } from './client';
import { messageReceived, phoneNumberId, unique } from './deliveries';
import { startOwnStack, shared } from './stack';
import { type Tenant, createTenant } from './tenant';

jest.setTimeout(120_000);

const keys = { apiKey: 'KEY-1', secretKey: 'secret-1' };
const customer = '14155550134';

let flow: FlowServer;
let kapso: KapsoServer;
let stack: Awaited<ReturnType<typeof startOwnStack>>;
let db: Db;
let tenant: Tenant;
let client: Client;

beforeAll(async () => {
  [flow, kapso] = await Promise.all([startFlowServer(keys), startKapsoServer()]);
  const secretsKey = Buffer.alloc(32, 9).toString('base64');
  stack = await startOwnStack({
    services: ['data', 'chat', 'webhook-ingest', 'worker', 'gateway'],
    environment: {
      SECRETS_KEY: secretsKey,
      KAPSO_API_URL: kapso.url,
      KAPSO_API_KEY: kapso.apiKey,
      ...shared.webhookSecrets,
    },
  });
  db = createDb({ databaseUrl: stack.databaseUrl, poolSize: 2 });
  tenant = await createTenant(stack);
  client = await tenant.client();
  const { scope } = tenant;
  const integration = { provider: 'flow', config: { apiUrl: flow.url }, secrets: keys };
  await saveIntegration(db, createSecretBox(secretsKey), scope, integration);
  await ensurePaymentType(db, scope);
  await push(client, {
    entityTypes: [{ slug: 'order', name: 'Order', schema: { phone: 'string' } }],
    agents: [
      {
        slug: 'seller',
        name: 'Seller',
        systemPrompt: 'You sell.',
        tools: ['payment.create', 'payment.getStatus'],
      },
    ],
    triggers: [
      {
        slug: 'thank',
        name: 'Thank',
        on: { entityType: 'payment', action: 'updated', condition: { 'data.status': 'paid' } },
        actions: [
          {
            tool: 'whatsapp.send',
            args: {
              to: customer,
              text: 'Thank you for {{trigger.data.amount}} {{trigger.data.currency}}',
            },
          },
        ],
      },
    ],
  });
  await db.pool.query(
    `insert into channel_connections (id, tenant, environment, phone_number_id, phone_number, status, agent_slug, updated_at)
     values ('conn_1', $1, 'development', $2, '15551234567', 'connected', 'seller', now())`,
    [scope.tenant, phoneNumberId],
  );
}, 90_000);
afterAll(async () => {
  await tenant?.close();
  await db?.close();
  await stack?.stop();
  await Promise.all([flow.stop(), kapso.stop()]);
});
afterEach(() => {
  expect(flow.problems).toEqual([]);
  expect(kapso.problems).toEqual([]);
});

/** Posts a message of the customer to the connected number, as the intermediary does. */
async function write(text: string): Promise<void> {
  const { path, body, headers } = messageReceived(`wamid.${unique()}`, customer, text);
  expect((await createClient(stack.url).send('POST', path, body, headers())).status).toBe(200);
}

/** The texts that the customer has received. */
const received = () => kapso.sent.map(({ body }) => (body.text as { body: string }).body);
const callback = (token: string) =>
  fetch(`${stack.url}/webhook/flow`, { method: 'POST', body: new URLSearchParams({ token }) });
const waitForDelivery = (token: string, count: number) =>
  until(async () => {
    const { rows } = await db.pool.query(
      `select status from webhook_deliveries where provider = 'flow' and body = $1 and status <> 'received'`,
      [Buffer.from(`token=${token}`)],
    );
    return rows.length === count ? rows : undefined;
  });

it('an agent creates a payment link, the callback marks the payment as paid, and a trigger sends one message', async () => {
  const args = { amount: 12_000, description: 'Pedido 7', customerEmail: 'buyer@example.com' };
  await write(`/tool payment.create ${JSON.stringify(args)}`);
  const reply = await until(() => received().find((text) => text.includes('pay.php?token=')));
  const link = /http\S+?token=\w+/.exec(reply)![0];
  const order = flow.orderOf(link);
  expect(order).toMatchObject({
    amount: 12_000,
    subject: 'Pedido 7',
    email: 'buyer@example.com',
    status: 1,
  });
  expect(new URL(order.urlConfirmation).pathname).toBe('/webhook/flow');

  const paymentId = order.commerceOrder;
  const pending = await client.get(`/v1/data/payment/${paymentId}`);
  expect(pending.body.data).toEqual({
    ...args,
    currency: 'CLP',
    status: 'pending',
    providerReference: String(order.flowOrder),
    paymentLinkUrl: link,
    flowToken: order.token,
  });

  order.status = 2;
  const before = Date.now();
  const answered = await callback(order.token);
  expect([answered.status, await answered.json()]).toEqual([200, { received: true }]);
  await until(() => received().find((text) => text === 'Thank you for 12000 CLP'));

  const paid = await client.get(`/v1/data/payment/${paymentId}`);
  expect(paid.body.data).toEqual({
    ...pending.body.data,
    status: 'paid',
    paidAt: expect.any(Number),
  });
  expect(paid.body.data.paidAt).toBeGreaterThanOrEqual(before - 1_000);
  for (let repeat = 0; repeat < 5; repeat += 1) await callback(order.token);
  await waitForDelivery(order.token, 6);
  expect((await client.get(`/v1/data/payment/${paymentId}`)).body).toEqual(paid.body);
  const runs = await tenant.query('select status from trigger_runs where entity_id = $1', [
    paymentId,
  ]);
  expect(runs).toEqual([{ status: 'succeeded' }]);
  expect(received().filter((text) => text.startsWith('Thank you'))).toHaveLength(1);
  const events = await tenant.query('select type from events where entity_id = $1 order by id', [
    paymentId,
  ]);
  expect(
    events.map(({ type }) => type).filter((type) => String(type).startsWith('payment.')),
  ).toEqual(['payment.created', 'payment.link_created', 'payment.paid']);
});

it('run-tool creates a payment for an entity and reports its status; a rejected payment is failed, with the reason', async () => {
  const made = await client.post('/v1/data/order', { data: { phone: customer } });
  const run = (toolName: string, args: object) =>
    client.post('/v1/run-tool', { agentSlug: 'seller', toolName, args });
  const created = await run('payment.create', {
    amount: 5_000,
    description: 'Pedido 8',
    customerEmail: 'buyer@example.com',
    entityId: made.body.id,
  });
  expect(created.status).toBe(200);
  const { paymentId, paymentLinkUrl, flowOrderId } = created.body.result;
  const order = flow.orderOf(paymentLinkUrl);
  expect([paymentId, flowOrderId]).toEqual([order.commerceOrder, String(order.flowOrder)]);
  const relations = await tenant.query(
    'select relation, to_id from entity_relations where from_id = $1',
    [paymentId],
  );
  expect(relations).toEqual([{ relation: 'payment_for', to_id: made.body.id }]);

  const asked = await run('payment.getStatus', { entityId: paymentId });
  expect(asked.body.result).toEqual({
    entityId: paymentId,
    status: 'pending',
    flowStatus: 1,
    flowStatusMessage: 'pendiente',
    paymentLinkUrl,
    amount: 5_000,
    currency: 'CLP',
  });
  order.status = 3;
  await callback(order.token);
  await waitForDelivery(order.token, 1);
  const failed = await client.get(`/v1/data/payment/${paymentId}`);
  expect(failed.body.data).toMatchObject({ status: 'failed', failureReason: 'rechazada' });

  const refused = await run('payment.create', {
    amount: 1,
    description: 'x',
    customerEmail: 'buyer@example.com',
  });
  expect([refused.status, refused.body.errorType]).toEqual([500, 'execution_error']);
  expect(refused.body.error).toContain('The minimum amount is 350 CLP');
});

it('/webhook/flow answers 200 to any body', async () => {
  for (const [body, type] of [
    ['', 'application/x-www-form-urlencoded'],
    ['foo=bar', 'application/x-www-form-urlencoded'],
    ['token=UNKNOWN-TOKEN', 'application/x-www-form-urlencoded'],
    ['{"token":', 'application/json'],
  ] as const) {
    const response = await fetch(`${stack.url}/webhook/flow`, {
      method: 'POST',
      body,
      headers: { 'content-type': type },
    });
    expect([response.status, await response.json()]).toEqual([200, { received: true }]);
  }
});

it('the entity type of payments is listed, and payments are counted', async () => {
  const { body } = await client.get('/v1/entity-types');
  expect(JSON.stringify(body)).toContain('"slug":"payment"');
  const metrics = await (await fetch(`${stack.services.worker!.internalUrl}/metrics`)).text();
  expect(metrics).toMatch(/payments_settled_total\{status="paid",source="webhook"[^}]*\} 1/);
});
