import { startResendServer, until } from '@parley/testing';
import { push } from '../client';
import { inBrowser } from './console-kit';
import { createPayment, statusOfPayment, useConsoleWithFlow } from './flow-payments';
import { chatWithShop, pushShop } from './shop';

const { app, flow } = useConsoleWithFlow();
beforeAll(async () => {
  await pushShop(app.owner);
  await push(app.owner, {
    entityTypes: [
      { slug: 'order', name: 'Order', schema: { item: 'string' } },
      { slug: 'item', name: 'Item', schema: { name: 'string' } },
    ],
    triggers: [
      {
        slug: 'ship',
        name: 'Ship an order',
        on: { entityType: 'order', action: 'created' },
        actions: [{ tool: 'entity.get', args: { id: '{{trigger.data.item}}' } }],
      },
    ],
  });
});

const problems = async () =>
  (
    (await app.owner.get('/v1/health-report')).body as { problems: { kind: string }[] }
  ).problems.map(({ kind }) => kind);

inBrowser(
  'each problem leads to its list, and its button fixes it until everything works',
  async () => {
    const { body: item } = await app.owner.post('/v1/data/item', { data: { name: 'Tent' } });
    await app.owner.delete(`/v1/data/item/${item.id}`);
    for (let order = 0; order < 2; order += 1)
      await app.owner.post('/v1/data/order', { data: { item: item.id } });
    const payment = await createPayment(app, flow(), { amount: 1_000, description: 'Pedido' });
    Object.assign(payment.order, { amount: 999, status: 2 });
    await flow().notify(payment.order);
    const resend = await startResendServer();
    const settings = { apiUrl: resend.url, apiKey: resend.apiKey };
    await app.owner.post('/v1/integrations', { provider: 'resend', settings });
    await app.owner.patch('/v1/integrations/resend', { enabled: false });
    await until(async () => (await problems()).length === 3);
    await resend.stop();

    const page = await app.open('');
    await page.getByText('3 things need attention').waitFor();
    await page.getByRole('link', { name: 'Show runs' }).click();
    await page.waitForURL('**/triggers?view=runs&status=dead');
    await page.getByText('2 in all').waitFor();
    await page.goBack();
    await page.getByRole('link', { name: 'Show deliveries' }).click();
    await page.waitForURL('**/webhooks?status=failed');
    await page.getByText('1 in all').waitFor();
    await page.goBack();

    await app.owner.patch(`/v1/data/item/${item.id}`, { data: {}, status: 'active' });
    await page.getByRole('button', { name: 'Retry 2 runs of ship' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Retry 2 runs' }).click();
    await until(async () => !(await problems()).includes('dead_trigger_runs'));
    await page.getByRole('button', { name: 'Enable resend' }).click();
    await page.getByRole('button', { name: 'Enable resend' }).waitFor({ state: 'detached' });

    payment.order.amount = 1_000;
    await page.getByRole('button', { name: 'Replay 1 delivery' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Replay 1 delivery' }).click();
    await page.waitForURL('**/webhooks?status=failed&replay=*');
    await page.getByText('1 delivery replayed').waitFor();
    expect(await statusOfPayment(app, payment.id)).toBe('paid');
    await page.getByRole('link', { name: 'Home' }).click();
    await page.getByText('Everything works').waitFor();
    expect(await problems()).toEqual([]);
    expect(app.complaints).toEqual([]);
  },
);

inBrowser('what only an admin can fix has no button for a member', async () => {
  await app.owner.patch('/v1/integrations/flow', { enabled: false });
  try {
    const page = await app.open('', { as: await app.join('member', 'Luis Soto') });
    await page.getByText('An admin of the organization can fix it.').waitFor();
    expect(await page.getByRole('button', { name: /Switch/ }).count()).toBe(0);
    expect(await page.getByRole('link', { name: 'Show integrations' }).count()).toBe(0);
    expect(app.complaints).toEqual([]);
  } finally {
    await app.owner.patch('/v1/integrations/flow', { enabled: true });
  }
});

inBrowser(
  'the figures name the hours of the reader, and lead to the lists that they count',
  async () => {
    await chatWithShop(app, 'hello');
    const page = await app.open('', { locale: 'es-CL' });
    await page.getByText('mediana', { exact: true }).waitFor();
    await page.getByText('percentil 95', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Respuestas fallidas' }).click();
    await page.waitForURL('**/executions?status=failed');
    await page.goBack();
    await page.getByRole('link', { name: '7 días' }).click();
    await page.reload();
    await page.waitForURL(/range=week/);
    await page.getByRole('link', { name: 'Mensajes', exact: true }).click();
    await page.waitForURL('**/conversations?view=all');
    expect(app.complaints).toEqual([]);
  },
);
