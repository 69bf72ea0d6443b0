import { startResendServer, until } from '@parley/testing';
import { createClient, push } from '../client';
import { orderPaid, unique } from '../deliveries';
import { inBrowser } from './console-kit';
import { createPayment, statusOfPayment, useConsoleWithFlow } from './flow-payments';

const { app, flow } = useConsoleWithFlow();
beforeAll(() =>
  push(app.owner, {
    entityTypes: [{ slug: 'order', name: 'Order', schema: { number: 'string' } }],
  }),
);
afterEach(() => {
  flow().setFault('getStatus', null);
  flow().setFault('getStatusByFlowOrder', null);
  expect(flow().problems).toEqual([]);
});

inBrowser(
  'a payment shows its timeline, its link and what it is for, and the answer of the provider settles it',
  async () => {
    const { body: order } = await app.owner.post('/v1/data/order', { data: { number: 'A-1' } });
    const made = await createPayment(app, flow(), {
      amount: 24_990,
      description: 'Pedido 1',
      entityId: order.id as string,
    });
    const page = await app.open('/payments');
    await page.getByText('CLP 24,990').first().waitFor();
    await page.getByRole('link', { name: /Pedido 1/ }).click();
    await page.waitForURL(`**/payments/${made.id}`);
    const timeline = page.getByRole('region', { name: 'Timeline' });
    await timeline.getByText('Link created').waitFor();
    const payer = page.getByRole('link', { name: 'Open the payment page' });
    expect([await payer.getAttribute('href'), await payer.getAttribute('rel')]).toEqual([
      made.link,
      'noopener noreferrer',
    ]);
    await page.getByText(String(made.order.flowOrder), { exact: true }).waitFor();

    await page.getByRole('button', { name: 'Check with the provider' }).click();
    await page.getByText('Status 1: pendiente').waitFor();
    expect(await statusOfPayment(app, made.id)).toBe('pending');
    made.order.status = 2;
    await page.getByRole('button', { name: 'Check with the provider' }).click();
    await page.getByText('Status 2: pagada').waitFor();
    await timeline.getByText('Paid', { exact: true }).waitFor();
    expect(await statusOfPayment(app, made.id)).toBe('paid');

    await page.getByRole('link', { name: 'order', exact: true }).click();
    await page.waitForURL(`**/data/order?entity=${order.id}`);
    await page.getByText(String(order.id)).first().waitFor();
    expect(app.complaints).toEqual([]);
  },
);

inBrowser(
  'a difference and a provider that does not answer are said, and change nothing',
  async () => {
    const made = await createPayment(app, flow(), { amount: 5_000, description: 'Pedido 2' });
    made.order.amount = 4_000;
    made.order.status = 2;
    const page = await app.open(`/payments/${made.id}`);
    await page.getByRole('button', { name: 'Check with the provider' }).click();
    await page
      .getByRole('alert')
      .getByText(/amount 4000 is not 5000/)
      .waitFor();
    await page
      .getByRole('region', { name: 'Timeline' })
      .getByText('The provider reports something else')
      .waitFor();
    const down = { kind: 'error', status: 500, body: {} } as const;
    flow().setFault('getStatus', down);
    flow().setFault('getStatusByFlowOrder', down);
    await page.getByRole('button', { name: 'Check with the provider' }).click();
    await page.getByRole('alert').getByText(/Flow/).waitFor();
    await until(async () => app.complaints.some((text) => text.startsWith('502 ')));
    expect(await statusOfPayment(app, made.id)).toBe('pending');
    expect(app.complaints.filter((text) => !/^(409|502) /.test(text))).toEqual([]);
    made.order.amount = 5_000;
  },
);

inBrowser(
  'all pending payments are checked together, and the list can be filtered by status',
  async () => {
    const [paid, refused] = [
      await createPayment(app, flow(), { amount: 1_000, description: 'Pedido 3' }),
      await createPayment(app, flow(), { amount: 2_000, description: 'Pedido 4' }),
    ];
    await createPayment(app, flow(), { amount: 3_000, description: 'Pedido 5' });
    [paid.order.status, refused.order.status] = [2, 3];
    const pending = (
      (await app.owner.get('/v1/payments?status=pending')).body as { data: unknown[] }
    ).data.length;
    const page = await app.open('/payments');
    await page.getByRole('button', { name: 'Check pending payments' }).click();
    await page.getByText(`${pending} payments checked`).waitFor();
    await page.getByText('1 failed').waitFor();
    expect([await statusOfPayment(app, paid.id), await statusOfPayment(app, refused.id)]).toEqual([
      'paid',
      'failed',
    ]);
    await page.getByRole('combobox', { name: 'Status' }).selectOption('failed');
    await page.waitForURL('**/payments?status=failed');
    await page.getByText('Pedido 5').waitFor({ state: 'detached' });
    await page.getByRole('link', { name: /Pedido 4/ }).click();
    await page.getByRole('group', { name: 'Why it failed' }).getByText('rechazada').waitFor();
    await page.goBack();
    await page.waitForURL('**/payments?status=failed');
    expect(app.complaints).toEqual([]);
  },
);

inBrowser('credits show the balance and the entries that it is the sum of', async () => {
  const page = await app.open('/payments');
  await page.getByRole('link', { name: 'Credits' }).click();
  await page.getByText('No entries yet').waitFor();
  const { path, body, headers } = orderPaid(app.tenant.organizationId, `order_${unique()}`, 12_345);
  expect((await createClient(app.stack.url).send('POST', path, body, headers())).status).toBe(200);
  await page.getByText('+123.45').first().waitFor();
  await until(async () => (await page.getByText('123.45', { exact: true }).count()) === 1);
  const { balanceCents } = (await app.owner.get('/v1/credits')).body as { balanceCents: number };
  expect(balanceCents).toBe(12_345);
  await page.reload();
  await page.getByText('order paid').waitFor();
  expect(app.complaints).toEqual([]);
});

inBrowser(
  'an e-mail that failed is sent again after its cause is fixed, and one in doubt says that it may arrive twice',
  async () => {
    const resend = await startResendServer();
    try {
      const settings = {
        apiUrl: resend.url,
        apiKey: 're_wrong_key',
        from: 'Shop <shop@example.com>',
      };
      await app.owner.post('/v1/integrations', { provider: 'resend', settings });
      await app.owner.post('/v1/run-tool', {
        toolName: 'email.send',
        args: { to: 'ana@example.com', subject: 'Your order', text: 'Thank you.' },
      });
      const page = await app.open('/emails');
      await page.getByRole('combobox', { name: 'Status' }).selectOption('failed');
      await page.getByRole('link', { name: /Your order/ }).click();
      await page.getByText('It was not sent.', { exact: true }).waitFor();
      await app.owner.patch('/v1/integrations/resend', { settings: { apiKey: resend.apiKey } });
      await page.getByRole('button', { name: 'Send again' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Send again' }).click();
      await page.getByText('The provider accepted it.').waitFor();
      expect(resend.sent).toHaveLength(1);

      const [email] = (await app.owner.get('/v1/emails')).body.data as { id: string }[];
      await app.tenant.query(
        `update emails set status = 'unknown', provider_id = null, payload = $2, created_at = now() - interval '2 days' where id = $1`,
        [
          email!.id,
          {
            from: settings.from,
            to: ['ana@example.com'],
            subject: 'Your order',
            text: 'Thank you.',
          },
        ],
      );
      await page.reload();
      await page.getByRole('button', { name: 'Send again anyway' }).click();
      await page.getByRole('dialog').getByText('Its recipient may get it twice.').waitFor();
      await page.getByRole('dialog').getByRole('button', { name: 'Send again anyway' }).click();
      await page.getByText('The provider accepted it.').waitFor();
      expect(app.complaints).toEqual([]);
    } finally {
      await resend.stop();
    }
  },
);
