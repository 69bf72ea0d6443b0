import { isDeepStrictEqual } from 'node:util';
import { until } from '@parley/testing';
import type { Page } from 'playwright-core';
import { type Client, push } from '../client';
import { inBrowser, useConsole } from './console-kit';

const app = useConsole();
beforeAll(async () => {
  await pushTriggers(app.owner);
  await pushTriggers(
    await app.tenant.client({ permissions: ['*', 'manage'], environment: 'production' }),
  );
});

const pushTriggers = (client: Client) =>
  push(client, {
    entityTypes: [
      {
        slug: 'order',
        name: 'Order',
        schema: { number: 'string', item: 'string', total: 'number' },
      },
      { slug: 'item', name: 'Item', schema: { name: 'string' } },
    ],
    triggers: [
      {
        slug: 'ship',
        name: 'Ship an order',
        on: {
          entityType: 'order',
          action: 'created',
          condition: { 'data.item': { $exists: true } },
        },
        actions: [
          { tool: 'entity.query', args: { type: 'order', limit: 1 }, as: 'orders' },
          { tool: 'entity.get', args: { id: '{{trigger.data.item}}' }, as: 'item' },
        ],
      },
      {
        slug: 'remind',
        name: 'Remind of an order',
        on: { entityType: 'order', action: 'created', condition: { 'data.total': { $gt: 100 } } },
        schedule: { delay: '2d' },
        actions: [{ tool: 'event.emit', args: { type: 'order.reminder', payload: {} } }],
      },
      {
        slug: 'report',
        name: 'Weekly report',
        on: { schedule: '0 9 * * 1-5', timezone: 'America/Santiago' },
        actions: [
          {
            tool: 'event.emit',
            args: { type: 'report.made', payload: { note: '{{trigger.data.note}}' } },
          },
        ],
      },
    ],
  });

const create = async (type: string, data: object): Promise<string> =>
  ((await app.owner.post(`/v1/data/${type}`, { data })).body as { id: string }).id;
const runsOf = async (trigger: string, status?: string) =>
  (await app.owner.get(`/v1/trigger-runs?trigger=${trigger}${status ? `&status=${status}` : ''}`))
    .body.data as {
    id: string;
    status: string;
  }[];
const confirm = (page: Page, name: string | RegExp) =>
  page.getByRole('dialog').getByRole('button', { name, exact: true }).click();

/**
 * Orders whose item is deleted, so that their runs are dead until it is restored. No
 * other run is dead.
 */
async function makeDeadRuns(count: number): Promise<string> {
  await app.tenant.query(`delete from trigger_runs where tenant = $1 and status = 'dead'`, [
    app.tenant.scope.tenant,
  ]);
  const item = await create('item', { name: 'Tent' });
  await app.owner.delete(`/v1/data/item/${item}`);
  for (let order = 0; order < count; order += 1)
    await create('order', { number: `A-${order}`, item });
  await until(async () => (await runsOf('ship', 'dead')).length === count);
  return item;
}

inBrowser(
  'a dead run is read step by step, and is retried after its cause is fixed; then all others of its trigger are',
  async () => {
    const item = await makeDeadRuns(3);
    const page = await app.open('/triggers');
    await page.getByText('When order is created, if item exists').waitFor();
    await page.getByText('Monday to Friday at 09:00 (America/Santiago)').waitFor();
    await page.getByRole('link', { name: /Ship an order/ }).click();
    await page.getByRole('button', { name: 'Retry 3 runs' }).waitFor();
    await page.getByRole('combobox', { name: 'Status' }).selectOption('dead');
    await page.waitForURL('**/triggers/ship?status=dead');
    await page.getByRole('list', { name: 'Ship an order' }).getByRole('link').first().click();

    await page
      .getByRole('region', { name: 'Steps' })
      .getByText('Entity has been deleted')
      .waitFor();
    const steps = page.getByRole('region', { name: 'Steps' });
    await steps.getByText('as orders').click();
    expect(await steps.getByRole('region', { name: 'Result' }).innerText()).toContain('A-');
    expect(await steps.getByRole('region', { name: 'Arguments' }).last().innerText()).toContain(
      item,
    );
    await page.getByRole('region', { name: 'Event' }).getByText('Event entity.created').waitFor();
    await page.getByText('This run begins the chain.').waitFor();
    const entity = page.getByRole('link', { name: 'order', exact: true });
    expect(await entity.getAttribute('href')).toMatch(/\/data\/order\?entity=ent_\w+$/);

    await app.owner.patch(`/v1/data/item/${item}`, { data: {}, status: 'active' });
    await page.getByRole('button', { name: 'Retry run' }).click();
    await page.getByText('Completed steps are not repeated.').waitFor();
    await confirm(page, 'Retry run');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await until(async () => (await runsOf('ship', 'succeeded')).length === 1);
    await page.getByText('succeeded', { exact: true }).first().waitFor();

    await page.keyboard.press('Escape');
    await page.waitForURL('**/triggers/ship');
    await page.getByRole('button', { name: 'Retry 2 runs' }).click();
    await page.getByText('2 dead runs of ship get one more attempt').waitFor();
    await confirm(page, 'Retry 2 runs');
    await page.getByText('2 runs retried').waitFor();
    expect(await runsOf('ship', 'dead')).toEqual([]);
    expect(await page.getByText('failed again').count()).toBe(0);
    expect(app.complaints).toEqual([]);
  },
);

inBrowser(
  'a retry of many says how many failed again, also on the screen that is opened again',
  async () => {
    await makeDeadRuns(2);
    const page = await app.open('/triggers/ship');
    await page.getByRole('button', { name: 'Retry 2 runs' }).click();
    await confirm(page, 'Retry 2 runs');
    await page.getByText('2 failed again').waitFor();
    await page.getByRole('link', { name: 'Triggers', exact: true }).first().click();
    await page.getByRole('link', { name: /Ship an order/ }).click();
    await page.getByText('2 failed again').waitFor();
    await page.getByRole('status').getByRole('button', { name: 'Close' }).click();
    await page.getByText('2 failed again').waitFor({ state: 'detached' });
  },
);

inBrowser(
  'scheduled runs are cancelled together, and a trigger is disabled and enabled again',
  async () => {
    for (const number of ['B-1', 'B-2']) await create('order', { number, total: 200 });
    await until(async () => (await runsOf('remind', 'scheduled')).length === 2);
    const page = await app.open('/triggers/remind');
    await page.getByRole('button', { name: 'Disable trigger' }).click();
    await page.getByText('2 runs that wait are cancelled when due.').waitFor();
    await confirm(page, 'Disable trigger');
    await page.getByRole('button', { name: 'Enable trigger' }).waitFor();
    const isEnabled = async () =>
      (
        (await app.owner.get('/v1/triggers')).body.data as { slug: string; enabled: boolean }[]
      ).find(({ slug }) => slug === 'remind')!.enabled;
    expect(await isEnabled()).toBe(false);
    await page.getByRole('button', { name: 'Enable trigger' }).click();
    await page.getByRole('button', { name: 'Disable trigger' }).waitFor();
    expect(await isEnabled()).toBe(true);

    await page.getByRole('button', { name: 'Cancel 2 runs' }).click();
    await page.getByText('2 scheduled runs of remind do not begin').waitFor();
    await confirm(page, 'Cancel 2 runs');
    await until(
      async () => (await page.getByRole('button', { name: 'Cancel 2 runs' }).count()) === 0,
    );
    expect((await runsOf('remind')).map(({ status }) => status)).toEqual([
      'cancelled',
      'cancelled',
    ]);
    await page.getByRole('link', { name: 'Definition' }).click();
    await page.getByText('2d after the change').waitFor();
    await page.reload();
    await page.getByText('2d after the change').waitFor();
    expect(app.complaints).toEqual([]);
  },
);

inBrowser(
  'a trigger is fired with sample data and with an entity; a failure leads to its run',
  async () => {
    const page = await app.open('/triggers/report');
    await page.getByRole('button', { name: 'Fire trigger' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('event.emit').waitFor();
    await dialog.getByLabel('Sample data (JSON)').fill('[1]');
    expect(await dialog.getByRole('button', { name: 'Fire trigger' }).isDisabled()).toBe(true);
    await dialog.getByLabel('Sample data (JSON)').fill('{"note": "by hand"}');
    await dialog.getByRole('button', { name: 'Fire trigger' }).click();
    await dialog.getByText('All actions succeeded.').waitFor();
    const events = (await app.owner.get('/v1/events?type=report.made')).body.data as {
      payload: object;
    }[];
    expect(events.map(({ payload }) => payload)).toEqual([{ note: 'by hand' }]);
    await dialog.getByRole('link', { name: 'Open run' }).click();
    await page.getByText('Fired by hand').first().waitFor();

    const item = await create('item', { name: 'Mat' });
    const order = await create('order', { number: 'C-1' });
    await page.goto(`${app.base()}/triggers/ship`);
    await page.getByRole('button', { name: 'Fire trigger' }).click();
    const sample = { number: 'text', item: 'text', total: 1 };
    const shown = () => dialog.getByLabel('Sample data (JSON)').inputValue();
    await until(async () => isDeepStrictEqual(JSON.parse(await shown()), sample));
    await dialog.getByLabel('Entity of type order').fill(order);
    await dialog.getByLabel('Sample data (JSON)').fill(JSON.stringify({ item: 'ent_unknown' }));
    await dialog.getByRole('button', { name: 'Fire trigger' }).click();
    await dialog.getByRole('alert').getByText('Entity not found').waitFor();
    await dialog.getByLabel('Sample data (JSON)').fill(JSON.stringify({ item }));
    await dialog.getByRole('button', { name: 'Fire trigger' }).click();
    await dialog.getByText('All actions succeeded.').waitFor();
    expect(app.complaints.filter((text) => !text.startsWith('500 '))).toEqual([]);
  },
);

inBrowser(
  'a member is shown no way to fire a trigger in production, and is refused when asking the server directly',
  async () => {
    const member = await app.join('member', 'Luis Soto');
    const page = await app.open('/triggers/report', { as: member, environment: 'production' });
    await page.getByRole('button', { name: 'Disable trigger' }).waitFor();
    expect(await page.getByRole('button', { name: 'Fire trigger' }).count()).toBe(0);
    const answer = await fetch(`${app.stack.url}/v1/fire-trigger`, {
      method: 'POST',
      headers: {
        ...member.headers,
        'Parley-Environment': 'production',
        'Content-Type': 'application/json',
      },
      body: JSON.stringify({ triggerSlug: 'report' }),
    });
    expect(answer.status).toBe(403);
    await page.goto(`${app.base()}/triggers/report`);
    await page.getByRole('button', { name: 'Fire trigger' }).waitFor();
  },
);

inBrowser('a retry that the server refuses says why, and changes nothing', async () => {
  await makeDeadRuns(1);
  const page = await app.open('/triggers?view=runs&status=dead');
  await page.route('**/v1/trigger-runs/*/retry', (route) =>
    route.fulfill({
      status: 500,
      contentType: 'application/json',
      body: '{"error":"Internal server error"}',
    }),
  );
  await page.getByRole('list', { name: 'Triggers' }).getByRole('link').first().click();
  await page.getByRole('button', { name: 'Retry run' }).click();
  await confirm(page, 'Retry run');
  await page.getByRole('dialog').getByRole('alert').getByText('Internal server error').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Retry run' }).waitFor();
  expect(await runsOf('ship', 'dead')).toHaveLength(1);
});
