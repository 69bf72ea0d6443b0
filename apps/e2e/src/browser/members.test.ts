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

interface Member {
  id: string;
  name: string;
  role: string;
}
const memberNamed = async (wanted: string) =>
  ((await app.owner.get('/v1/members?limit=100')).body as { data: Member[] }).data.find(
    ({ name }) => name === wanted,
  );

/** The row of a person. The navigation names the one who looks, too. */
const personIn = (page: Page, name: string) =>
  page.getByRole('list', { name: 'Members' }).getByRole('link', { name });

/** Invites in the page, and returns the link. */
async function invite(page: Page, role: 'Member' | 'Admin'): Promise<string> {
  await page.getByRole('button', { name: 'Invite person' }).click();
  const dialog = page.getByRole('dialog').last();
  await dialog.getByRole('radio', { name: new RegExp(`^${role}`) }).check();
  await dialog.getByRole('button', { name: 'Invite person' }).click();
  const link = await page
    .getByRole('region', { name: 'Link', exact: true })
    .locator('code')
    .innerText();
  await page.getByRole('button', { name: 'Done' }).click();
  return link;
}

/** Opens the link of an invitation in a browser without a session, and joins. */
async function joinBy(link: string, name: string): Promise<Page> {
  const page = await app.open('', { as: null });
  const { pathname, hash } = new URL(link);
  await page.goto('about:blank');
  await page.goto(app.stack.url + pathname + hash);
  await page.getByLabel('Your name').fill(name);
  await page.getByLabel('E-mail address').fill(app.emailOf(name));
  await page.getByLabel('Password').fill('a long password');
  await page.getByRole('button', { name: /^Join/ }).click();
  await page.waitForURL(`${app.base()}*`);
  return page;
}

inBrowser(
  'an invited person joins by the link, becomes an admin, and is refused when removed',
  async () => {
    const page = await app.open('/members');
    const joined = await joinBy(await invite(page, 'Member'), 'Carla');
    await personIn(page, 'Carla').click();
    await page.getByRole('button', { name: 'Change role' }).click();
    const dialog = page.getByRole('dialog').last();
    expect(await dialog.getByRole('button', { name: 'Change role' }).isDisabled()).toBe(true);
    await dialog.getByRole('radio', { name: /^Admin/ }).check();
    await dialog.getByRole('button', { name: 'Change role' }).click();
    await page.getByRole('dialog').getByText('Admin', { exact: true }).waitFor();
    expect((await memberNamed('Carla'))!.role).toBe('admin');
    await joined.goto(`${app.base()}/keys`);
    await joined.getByRole('button', { name: 'Create API key' }).waitFor();

    await page.getByRole('button', { name: 'Remove member' }).click();
    await page.getByText(/^Remove Carla from /).waitFor();
    await page.getByRole('button', { name: 'Remove member' }).last().click();
    await until(async () => (await page.getByRole('dialog').count()) === 0);
    expect(await memberNamed('Carla')).toBeUndefined();
    await joined.reload();
    await joined.getByRole('heading', { name: /Sign in|Carla/ }).waitFor();
  },
);

inBrowser('a revoked invitation makes no member', async () => {
  const page = await app.open('/members?view=invitations');
  const link = await invite(page, 'Admin');
  await page
    .getByRole('link', { name: /Link without an address.*Admin.*open/s })
    .first()
    .click();
  await page.getByRole('button', { name: 'Revoke invitation' }).click();
  await page.getByRole('button', { name: 'Revoke invitation' }).last().click();
  await page.getByRole('dialog').getByText('revoked', { exact: true }).waitFor();
  const other = await app.open('', { as: null });
  const { pathname, hash } = new URL(link);
  await other.goto('about:blank');
  await other.goto(app.stack.url + pathname + hash);
  await other.getByText('This link does not work any more').waitFor();
});

inBrowser('the last admin cannot become a member, and the reason is shown', async () => {
  const page = await app.open('/members');
  await personIn(page, 'Ana Pérez').click();
  await page.getByRole('button', { name: 'Change role' }).click();
  const dialog = page.getByRole('dialog').last();
  await dialog.getByRole('radio', { name: /^Member/ }).check();
  await dialog.getByText('You change your own role.').waitFor();
  await dialog.getByRole('button', { name: 'Change role' }).click();
  await dialog.getByRole('alert').getByText('The organization would have no admin').waitFor();
});

inBrowser('a member sees the people and no control, and is refused', async () => {
  const page = await app.open('/members', { as: member });
  await personIn(page, 'Ana Pérez').click();
  await page.getByRole('dialog').getByText('Admin', { exact: true }).waitFor();
  for (const name of ['Change role', 'Remove member', 'Invite person'])
    expect(await page.getByRole('button', { name }).count()).toBe(0);
  expect(await page.getByRole('link', { name: 'Invitations' }).count()).toBe(0);
  const direct = createClient(app.stack.url);
  const ana = (await memberNamed('Ana Pérez'))!;
  const answers = await Promise.all([
    direct.post('/v1/invitations', { role: 'admin' }, member.headers),
    direct.patch(`/v1/members/${ana.id}`, { role: 'member' }, member.headers),
    direct.delete(`/v1/members/${ana.id}`, member.headers),
  ]);
  expect(answers.map(({ status, body }) => [status, body.code])).toEqual(
    Array(3).fill([403, 'requires_admin']),
  );
});

inBrowser('a person ends another session, and a new password ends all others', async () => {
  const person = await app.join('member', 'Rosa Vidal');
  const page = await app.open('/account', { as: person });
  const signIn = async (password: string) => {
    const other = await app.open('/account', { as: null });
    await other.getByLabel('E-mail address').fill(person.email);
    await other.getByLabel('Password').fill(password);
    await other.getByRole('button', { name: 'Sign in' }).click();
    return other;
  };
  const second = await signIn(person.password);
  await second.getByText('· this browser').waitFor();
  await page.getByRole('button', { name: 'End session' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'End session' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await until(async () => (await page.getByRole('button', { name: 'End session' }).count()) === 0);
  await second.reload();
  await second.getByRole('heading', { name: 'Sign in' }).waitFor();

  await page.getByLabel('Current password').fill('a wrong password');
  await page.getByLabel('New password').fill('another long password');
  await page.getByRole('button', { name: 'Change password' }).click();
  await page.getByRole('alert').getByText('The current password is wrong').waitFor();
  await page.getByLabel('Current password').fill(person.password);
  await page.getByRole('button', { name: 'Change password' }).click();
  await page.getByText('The password is changed.').waitFor();
  const third = await signIn(person.password);
  await third.getByRole('alert').getByText('Wrong e-mail address or password').waitFor();
  await third.getByLabel('Password').fill('another long password');
  await third.getByRole('button', { name: 'Sign in' }).click();
  await third.getByText('· this browser').waitFor();

  await page.getByLabel('Language', { exact: true }).selectOption('es');
  await page.getByLabel('Apariencia', { exact: true }).selectOption('dark');
  await page.reload();
  await page.getByRole('heading', { name: 'Cuenta' }).waitFor();
  expect(await page.locator('html').getAttribute('data-theme')).toBe('dark');
  await page.getByRole('button', { name: 'Cerrar sesión' }).click();
  await page.getByRole('heading', { name: 'Iniciar sesión' }).waitFor();
});
