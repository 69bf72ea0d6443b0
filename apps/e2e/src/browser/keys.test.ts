import { until } from '@parley/testing';
import type { Page } from 'playwright-core';
import { createClient } from '../client';
import { type Person, inBrowser, useConsole } from './console-kit';
import { pushShop } from './shop';

const app = useConsole();
let member: Person;
beforeAll(async () => {
  await pushShop(app.owner);
  member = await app.join('member', 'Luis Soto');
});

const shownOnce = (page: Page, label: string) =>
  page.getByRole('region', { name: label, exact: true }).locator('code').innerText();
const statusWith = async (key: string) =>
  (await createClient(app.stack.url, key).get('/v1/entity-types')).status;

interface Listed {
  data: {
    name: string;
    permissions: string[];
    expiresAt: number | null;
    revokedAt: number | null;
  }[];
}
const listed = async (path: string) => ((await app.owner.get(path)).body as Listed).data;

inBrowser(
  'an API key is shown once, works, is rotated with an overlap, and is refused when it is revoked',
  async () => {
    const page = await app.open('/keys');
    await page.getByRole('button', { name: 'Create API key' }).click();
    const dialog = page.getByRole('dialog').last();
    await dialog.getByLabel('Name').fill('Website');
    await dialog.getByRole('checkbox', { name: /^chat/ }).uncheck();
    const submit = dialog.getByRole('button', { name: 'Create API key' });
    expect(await submit.isDisabled()).toBe(true);
    await dialog.getByRole('checkbox', { name: /^data/ }).check();
    await dialog.getByLabel('Last day').fill('2999-12-31');
    // A double click is one click.
    await submit.dblclick();
    const first = await shownOnce(page, 'API key');
    expect(await page.getByRole('region', { name: 'Try it' }).innerText()).toContain(
      `Authorization: Bearer ${first}`,
    );
    expect(await statusWith(first)).toBe(200);
    await page.mouse.click(5, 5);
    for (let press = 0; press < 3; press++) await page.keyboard.press('Escape');
    expect(await shownOnce(page, 'API key')).toBe(first);
    await page.getByRole('button', { name: 'Done' }).click();
    const [stored, ...others] = (await listed('/v1/api-keys')).filter(
      ({ name }) => name === 'Website',
    );
    expect(others).toEqual([]);
    expect(stored).toMatchObject({ permissions: ['data'], revokedAt: null });
    expect(new Date(stored!.expiresAt!).getUTCFullYear()).toBeGreaterThanOrEqual(2999);

    await page.getByRole('link', { name: /Website/ }).click();
    await page.reload();
    expect(await page.content()).not.toContain(first);
    await page.getByRole('button', { name: 'Rotate key' }).click();
    await page.getByLabel('Overlap').selectOption('3600');
    await page.getByRole('button', { name: 'Rotate key' }).last().click();
    const second = await shownOnce(page, 'API key');
    expect([second === first, await statusWith(first), await statusWith(second)]).toEqual([
      false,
      200,
      200,
    ]);
    await page.getByRole('button', { name: 'Done' }).click();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });

    await page.getByRole('link', { name: new RegExp(second.slice(0, 13)) }).click();
    await page.getByRole('button', { name: 'Revoke key' }).click();
    await page.getByText('Revoke “Website”? Every request with it is refused').waitFor();
    await page.getByRole('button', { name: 'Revoke key' }).last().click();
    await page.getByRole('dialog').getByText('revoked', { exact: true }).waitFor();
    await until(async () => (await statusWith(second)) === 401);
    expect(await statusWith(first)).toBe(200);
    expect(app.complaints).toEqual([]);
  },
);

inBrowser('in production the name of a key is typed before it is revoked', async () => {
  const production = await app.tenant.client({ permissions: ['chat'], environment: 'production' });
  const page = await app.open(`/keys?open=${production.keyId}`, { environment: 'production' });
  await page.getByRole('button', { name: 'Revoke key' }).click();
  const confirm = page.getByRole('button', { name: 'Revoke key' }).last();
  expect(await confirm.isDisabled()).toBe(true);
  await page.getByLabel('Type e2e to confirm').fill('e2e');
  await confirm.click();
  await page.getByRole('dialog').getByText('revoked', { exact: true }).waitFor();
  await until(async () => (await statusWith(production.key)) === 401);
});

inBrowser(
  'a publishable key has the snippet for a page, and its secret is shown once',
  async () => {
    const page = await app.open('/keys?view=publishable');
    await page.getByText('No publishable keys yet').waitFor();
    await page.getByRole('button', { name: 'Create publishable key' }).click();
    const dialog = page.getByRole('dialog').last();
    await dialog.getByLabel('Name').fill('Shop site');
    await dialog.getByLabel('Origins').fill('ftp://shop.example');
    await dialog.getByLabel('From one visitor').fill('30');
    await dialog.getByRole('button', { name: 'Create publishable key' }).click();
    await dialog.getByRole('alert').getByText('origins.0').waitFor();
    await dialog.getByLabel('Origins').fill(`https://shop.example\n${app.stack.url}`);
    await dialog.getByRole('button', { name: 'Create publishable key' }).click();
    const secret = await shownOnce(page, 'Identity secret');
    const snippet = page.getByRole('region', { name: 'For your page, inside body' });
    expect(await snippet.innerText()).toMatch(
      /<parley-chat publishable-key="pk_dev_[\w-]+"><\/parley-chat>/,
    );
    await page.getByRole('button', { name: 'Done' }).click();
    const [key] = (await app.owner.get('/v1/publishable-keys')).body.data;
    expect(key).toMatchObject({
      name: 'Shop site',
      agentSlug: 'shop',
      revokedAt: null,
      origins: ['https://shop.example', app.stack.url],
      limits: { perVisitor: 30, perAddress: 600, perKey: 6000 },
    });

    await page.getByRole('link', { name: /Shop site/ }).click();
    expect(await page.content()).not.toContain(secret);
    const [demo] = await Promise.all([
      page.context().waitForEvent('page'),
      page.getByRole('link', { name: 'Open the demo page' }).click(),
    ]);
    await demo.getByRole('button', { name: /^Open chat/ }).waitFor();
    await demo.close();
    await page.getByRole('button', { name: 'Revoke key' }).click();
    await page.getByText('The chat on the pages of 2 origins stops').waitFor();
    await page.getByRole('button', { name: 'Revoke key' }).last().click();
    await page.getByRole('dialog').getByText('revoked', { exact: true }).waitFor();
    expect((await listed('/v1/publishable-keys'))[0]!.revokedAt).toEqual(expect.any(Number));
  },
);

inBrowser('an error of the server stays beside the form, which can be sent again', async () => {
  const page = await app.open('/keys?open=new');
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Second try');
  await page.route('**/v1/api-keys', (route) =>
    route.request().method() === 'POST'
      ? route.fulfill({ status: 500, json: { error: 'Something broke', code: 'internal_error' } })
      : route.fallback(),
  );
  await dialog.getByRole('button', { name: 'Create API key' }).click();
  await dialog.getByRole('alert').getByText('Something broke').waitFor();
  await page.unroute('**/v1/api-keys');
  await dialog.getByRole('button', { name: 'Create API key' }).click();
  await page.getByRole('heading', { name: 'New key “Second try”' }).waitFor();
  expect((await listed('/v1/api-keys')).filter(({ name }) => name === 'Second try')).toHaveLength(
    1,
  );
});

inBrowser(
  'a member sees no keys and is refused; a key of another organization is not there',
  async () => {
    const page = await app.open('/keys?open=new', { as: member });
    await page.getByText('Only an admin of the organization may see this.').waitFor();
    expect(await page.getByRole('button', { name: 'Create API key' }).count()).toBe(0);
    expect(await page.getByRole('link', { name: 'Keys', exact: true }).count()).toBe(0);
    const refused = await createClient(app.stack.url).post(
      '/v1/api-keys',
      { name: 'x', permissions: ['chat'] },
      member.headers,
    );
    expect([refused.status, refused.body.code]).toEqual([403, 'requires_admin']);
    const admin = await app.open('/keys?open=key_unknown');
    await admin.getByRole('heading', { name: 'There is nothing here' }).waitFor();
  },
);
