import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '@parley/testing';
import { shared } from '../stack';
import { createTenant } from '../tenant';
import { inBrowser, useConsole } from './console-kit';
import { chatWithShop, pushShop } from './shop';

/** What is around all screens: addresses, the session, the connection. */
const app = useConsole();
beforeAll(() => pushShop(app.owner));

test('the first load has at most 250 kB, and each further screen at most 120 kB', () => {
  const folder = join(shared.bundles, 'gateway', 'console');
  const sizeOf = (name: string) => readFileSync(join(folder, `${name}.gz`)).length;
  const html = readFileSync(join(folder, 'index.html'), 'utf8');
  const first = [...html.matchAll(/(?:src|href)="\/console\/(assets\/[^"]+)"/g)].map(
    ([, name]) => name!,
  );
  expect(first.length).toBeGreaterThan(1);
  expect(first.reduce((sum, name) => sum + sizeOf(name), 0)).toBeLessThan(250_000);
  const text = readFileSync(
    join(
      folder,
      first.find((name) => name.endsWith('.js'))!,
    ),
    'utf8',
  );
  const further = new Set([...text.matchAll(/assets\/[\w-]+\.(?:js|css)/g)].map(([name]) => name));
  expect(further.size).toBeGreaterThan(5);
  expect(Math.max(...[...further].map(sizeOf))).toBeLessThan(120_000);
});

inBrowser('the link of an invitation makes a member once', async () => {
  const { body } = await app.owner.post('/v1/invitations', { role: 'member' });
  const { pathname, hash } = new URL((body as { link: string }).link);
  const page = await app.open('', { as: null });
  await page.goto(app.stack.url + pathname + hash);
  await page.reload();
  await page.getByLabel('Your name').fill('Luis Soto');
  await page.getByLabel('E-mail address').fill(app.emailOf('Luis Soto'));
  await page.getByLabel('Password').fill('a long password');
  await page.getByRole('button', { name: /^Join/ }).click();
  await page.waitForURL(`${app.base()}*`);
  await page.goto(app.stack.url + pathname + hash);
  await page.getByText('This link does not work any more').waitFor();
});

inBrowser(
  'a session that has ended is begun again on the same screen, and what was typed is still there',
  async () => {
    const { threadId } = await chatWithShop(app, 'hello');
    const page = await app.open(`/conversations/${threadId}`);
    await page.getByLabel('Reply').fill('half a reply');
    await page.context().clearCookies();
    await page.getByText('Your session has ended.').waitFor({ timeout: 15_000 });
    expect(page.url()).toContain(threadId);
    await page.getByLabel('E-mail address').fill(app.admin.email);
    await page.getByLabel('Password').fill('a wrong password');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').getByText('Wrong e-mail address or password').waitFor();
    await page.getByLabel('Password').fill(app.admin.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await until(async () => (await page.getByLabel('Reply').inputValue()) === 'half a reply');
  },
);

inBrowser('addresses without an organization, and of unknown ones', async () => {
  const page = await app.open('');
  await page.goto(`${app.stack.url}/`, { waitUntil: 'commit' });
  await page.waitForURL(`${app.base()}*`);
  for (const path of ['/console/another/development', `/console/${app.tenant.slug}/staging`]) {
    await page.goto(app.stack.url + path);
    await page.getByRole('heading', { name: 'There is nothing here' }).waitFor();
  }
  for (const path of ['/conversations/thread_unknown', '/executions/1', '/data/unknown']) {
    await page.goto(app.base() + path);
    await page.getByRole('heading', { name: 'There is nothing here' }).waitFor();
  }
});

inBrowser('without a connection the page says so and keeps what it shows', async () => {
  const { threadId } = await chatWithShop(app, 'still here');
  const page = await app.open(`/conversations/${threadId}`);
  await page.getByText('The answer is 42.').waitFor();
  await page.context().setOffline(true);
  await page.getByText(/^No connection\. Trying again in \d+ s\.$/).waitFor({ timeout: 20_000 });
  expect(await page.getByText('The answer is 42.').count()).toBe(1);
  await page.context().setOffline(false);
  await page.getByText(/^No connection/).waitFor({ state: 'detached', timeout: 20_000 });
});

inBrowser(
  'after an upgrade of the server the page says so, and its missing screens load the new version',
  async () => {
    const page = await app.open('', {});
    await page.clock.install();
    await page.reload();
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    let loads = 0;
    page.on('load', () => loads++);
    // The new server has scripts of other names, and not those of the page.
    await page.route('**/console/', async (route) => {
      const response = await route.fetch();
      await route.fulfill({
        response,
        body: (await response.text()).replace(/assets\/index-[\w-]+\.js/, 'assets/index-new.js'),
      });
    });
    await page.clock.fastForward(61_000);
    await page.getByText('A new version of this console is available.').waitFor();
    await page.route('**/console/assets/*.js', (route) => route.fulfill({ status: 404 }));
    await page.getByRole('link', { name: 'Executions', exact: true }).click();
    await until(() => Promise.resolve(loads > 0));
  },
);

inBrowser('a screen whose script cannot be loaded says so and is not loaded for ever', async () => {
  const page = await app.open('/data');
  await page.getByRole('heading', { name: 'Data' }).waitFor();
  let loads = 0;
  page.on('load', () => loads++);
  await page.route('**/console/assets/executions-*.js', (route) => route.abort());
  await page.getByRole('link', { name: 'Executions', exact: true }).click();
  await page.getByRole('alert').waitFor();
  await page.getByRole('button', { name: 'Try again' }).waitFor();
  expect(loads).toBeLessThan(3);
});

inBrowser(
  'a screen that is opened while the server is away says so, and opens when it is back',
  async () => {
    const page = await app.open('/data');
    await page.getByRole('heading', { name: 'Data' }).waitFor();
    let loads = 0;
    page.on('load', () => loads++);
    await page.route('**/console/**', (route) => route.abort());
    await page.getByRole('link', { name: 'Executions', exact: true }).click();
    await page.getByRole('alert').getByText('The server cannot be reached.').waitFor();
    expect(loads).toBe(0);
    await page.unroute('**/console/**');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { name: 'Executions', level: 1 }).waitFor();
    expect(loads).toBe(0);
  },
);

inBrowser(
  'a person of two organizations goes from one to the other, and sees of each what belongs to it',
  async () => {
    const { threadId } = await chatWithShop(app, 'hello', { externalThreadId: 'of-the-first' });
    const person = await app.join('member', 'Two Hats');
    const other = await createTenant();
    try {
      const { body } = await (
        await other.client({ permissions: ['*', 'manage'] })
      ).post('/v1/invitations', {
        role: 'member',
      });
      const { pathname, hash } = new URL((body as { link: string }).link);
      const page = await app.open('', { as: person });
      await page.goto(app.stack.url + pathname + hash);
      await page.getByText('Two Hats').waitFor();
      await page.getByRole('button', { name: /^Join/ }).click();
      await page.waitForURL(`**/console/${other.slug}/development*`);
      await page.goto(`${app.base()}/conversations`);
      await page.getByRole('link', { name: /of-the-first/ }).waitFor();
      const places = page.getByRole('combobox', { name: 'Organization and environment' });
      expect(await places.getByRole('option').count()).toBe(4);
      await places.selectOption(`${other.slug}/development`);
      await page.waitForURL(`**/console/${other.slug}/development*`);
      await page.getByRole('link', { name: 'Conversations' }).first().click();
      await page.getByRole('heading', { name: 'No conversations yet' }).waitFor();
      expect(await page.getByText('of-the-first').count()).toBe(0);
      await page.goto(
        `${app.stack.url}/console/${other.slug}/development/conversations/${threadId}`,
      );
      await page.getByRole('heading', { name: 'There is nothing here' }).waitFor();
      // The next visit begins where the last one was.
      await page.goto(`${app.stack.url}/console/`);
      await page.waitForURL(`**/console/${other.slug}/development*`);
    } finally {
      await other.close();
    }
  },
);
