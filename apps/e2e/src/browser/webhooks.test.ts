import { until } from '@parley/testing';
import { createClient, push } from '../client';
import { orderPaid, sign, unique } from '../deliveries';
import { inBrowser } from './console-kit';
import { createPayment, statusOfPayment, useConsoleWithFlow } from './flow-payments';
import { connectNumber, newNumberId, textTo } from './whatsapp-number';

const { app, flow } = useConsoleWithFlow();
beforeAll(() =>
  push(app.owner, {
    agents: [{ slug: 'shop', name: 'Shop', systemPrompt: 'You sell.', model: 'openai/gpt-5-mini' }],
    entityTypes: [
      { slug: 'customer', name: 'Customer', schema: { name: 'string', phone: 'string' } },
    ],
  }),
);

interface Delivery {
  id: string;
  status: string;
  attempts: number;
}
const deliveries = async (filter: string) =>
  (await app.owner.get(`/v1/webhook-deliveries?${filter}`)).body.data as Delivery[];
const send = async ({
  path,
  body,
  headers,
}: {
  path: string;
  body: string;
  headers(): Record<string, string>;
}) => {
  expect((await createClient(app.stack.url).send('POST', path, body, headers())).status).toBe(200);
};

inBrowser(
  'a delivery appears without a reload, and shows its body with secrets masked, its headers and its replay',
  async () => {
    const page = await app.open('/webhooks?provider=polar');
    await page.getByText('Nothing matches the filters.').waitFor();
    const paid = orderPaid(app.tenant.organizationId, `order_${unique()}`, 900);
    const content = JSON.parse(paid.body) as { data: Record<string, unknown> };
    content.data.client_secret = 'topsecret';
    const body = JSON.stringify(content);
    await send({ path: paid.path, body, headers: () => sign(paid.path, Buffer.from(body)) });
    await page.getByRole('link', { name: /order\.paid/ }).click();
    await page.getByText('processed').first().waitFor();
    const shown = page.getByRole('region', { name: 'Body, with secrets masked' });
    expect(await shown.innerText()).toContain(app.tenant.organizationId);
    expect(await page.locator('main').innerText()).not.toContain('topsecret');
    expect(await page.getByRole('region', { name: 'Headers' }).innerText()).toContain('webhook-id');
    expect(await page.getByRole('region', { name: 'Headers' }).innerText()).not.toContain(
      'webhook-signature',
    );

    await page.getByRole('button', { name: 'Replay delivery' }).click();
    await page.getByText('Effects of earlier processing are not repeated.').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Replay delivery' }).click();
    await page.getByText('applied before').waitFor();
    expect((await app.owner.get('/v1/credits')).body).toEqual({ balanceCents: 900 });
    expect((await deliveries('provider=polar')).map(({ status }) => status)).toEqual(['ignored']);
    await page.keyboard.press('Escape');
    await page.waitForURL('**/webhooks');
    expect(app.complaints).toEqual([]);
  },
);

inBrowser(
  'all failed deliveries are replayed together, with a progress that its address shows again',
  async () => {
    const made = [];
    for (const amount of [1_000, 2_000, 3_000])
      made.push(await createPayment(app, flow(), { amount, description: `Pedido ${amount}` }));
    for (const { order } of made) {
      Object.assign(order, { amount: order.amount + 1, status: 2 });
      await flow().notify(order);
    }
    await until(async () => (await deliveries('status=failed')).length === 3);
    for (const { order } of made.slice(0, 2)) order.amount -= 1;

    const page = await app.open('/webhooks');
    await page.getByRole('link', { name: 'Failed', exact: true }).click();
    await page.getByRole('button', { name: 'Replay 3 deliveries' }).click();
    await page.getByText('3 deliveries (failed) are processed again').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Replay 3 deliveries' }).click();
    await page.getByText('3 deliveries replayed').waitFor();
    await page.getByText('1 failed again').waitFor();
    expect(await Promise.all(made.map(({ id }) => statusOfPayment(app, id)))).toEqual([
      'paid',
      'paid',
      'pending',
    ]);
    await page.waitForURL('**/webhooks?*replay=replay_*');
    await page.reload();
    await page.getByText('3 deliveries replayed').waitFor();
    await page.getByRole('button', { name: 'Replay 1 delivery' }).waitFor();

    await page.getByRole('link', { name: /amount 3001 is not 3000/ }).click();
    await page.getByText('Fix the cause that the reason names').waitFor();
    expect(app.complaints).toEqual([]);
  },
);

inBrowser(
  'a delivery of an unknown number says what to do, and is processed after that',
  async () => {
    const number = newNumberId();
    await connectNumber(app.tenant, number);
    await send(textTo(number, '14155550134', 'Hello'));
    const [delivery] = await until(async () => {
      const found = await deliveries('provider=kapso&status=processed');
      return found.length > 0 && found;
    });
    await app.tenant.query('delete from channel_connections where tenant = $1', [
      app.tenant.scope.tenant,
    ]);

    const page = await app.open(`/webhooks/${delivery!.id}`);
    const replay = async () => {
      await page.getByRole('button', { name: 'Replay delivery' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Replay delivery' }).click();
    };
    await replay();
    await page.getByText(`phone number ${number} belongs to no connection`).waitFor();
    await page.goto(`${app.base()}/webhooks`);
    await page.getByRole('link', { name: 'Unattributed', exact: true }).click();
    await page.getByText('so nothing was done').waitFor();
    await page.getByRole('link', { name: /belongs to no connection/ }).click();
    await page.getByText('Connect the number, then replay it.').waitFor();
    expect(await page.getByRole('link', { name: 'Open channels' }).getAttribute('href')).toMatch(
      /\/channels$/,
    );
    await connectNumber(app.tenant, number);
    await replay();
    await until(async () => (await deliveries('status=unattributed')).length === 0);
    await page.getByRole('heading', { name: 'What to do' }).waitFor({ state: 'detached' });
  },
);

inBrowser('a member replays too, and an error of the server is said in the question', async () => {
  const member = await app.join('member', 'Luis Soto');
  const [delivery] = await deliveries('limit=1');
  const page = await app.open(`/webhooks/${delivery!.id}`, { as: member });
  await page.route('**/v1/webhook-deliveries/*/replay', (route) =>
    route.fulfill({
      status: 500,
      contentType: 'application/json',
      body: '{"error":"Internal server error"}',
    }),
  );
  await page.getByRole('button', { name: 'Replay delivery' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Replay delivery' }).click();
  await page.getByRole('dialog').getByRole('alert').getByText('Internal server error').waitFor();
  await page.unroute('**/v1/webhook-deliveries/*/replay');
  await page.getByRole('dialog').getByRole('button', { name: 'Replay delivery' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  const { body } = await app.owner.get('/v1/audit-log?action=webhook_delivery.replayed');
  expect(JSON.stringify(body)).toContain(delivery!.id);
});
