import { type ResendServer, startResendServer, until } from '@parley/testing';
import type { Page } from 'playwright-core';
import { inBrowser, useConsole } from './console-kit';

let resend: ResendServer;
// The server's own account of Resend is one for all organizations, and without one
// the pages differ.
const app = useConsole({
  async ownStack() {
    resend = await startResendServer();
    return {
      services: ['data', 'manage', 'gateway'],
      environment: {
        RESEND_API_URL: resend.url,
        RESEND_API_KEY: resend.apiKey,
        EMAIL_FROM: 'parley@example.com',
        SIGN_IN_ATTEMPTS_PER_PERSON: '100',
        SIGN_IN_ATTEMPTS_PER_ADDRESS: '1000',
      },
    };
  },
});
afterAll(() => resend?.stop());

const next = 'another long password';

/** The link of the latest of this many e-mails to an address, at the address of the stack. */
async function linkTo(address: string, count = 1): Promise<string> {
  const texts = () => resend.sent.filter(({ body }) => (body.to as string[]).includes(address));
  await until(async () => texts().length === count);
  const { pathname, hash } = new URL(/https?:\S+/.exec(String(texts().at(-1)!.body.text))![0]);
  return app.stack.url + pathname + hash;
}

async function openLink(page: Page, link: string): Promise<void> {
  await page.goto('about:blank');
  await page.goto(link);
}

async function signIn(page: Page, email: string, password: string): Promise<void> {
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

inBrowser(
  'a person who has forgotten the password sets a new one by the link of an e-mail',
  async () => {
    const person = await app.join('member', 'Mara Rojas');
    const page = await app.open('', { as: null });
    await page.getByRole('button', { name: 'Forgot password?' }).click();
    await page.getByText('npx parley members reset-password').waitFor();
    await page.getByLabel('E-mail address').fill(person.email);
    await page.getByRole('button', { name: 'Send link' }).click();
    await page.getByRole('status').getByText('If an account has this address').waitFor();
    await page.getByRole('button', { name: 'Back to sign in' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();

    const link = await linkTo(person.email);
    await openLink(page, link);
    await page.getByLabel('New password').waitFor();
    expect(await page.getByLabel('E-mail address').inputValue()).toBe(person.email);
    await page.getByLabel('New password').fill(next);
    await page.getByRole('button', { name: 'Set password' }).click();
    await page.getByRole('status').getByText('The password is set.').waitFor();
    await page.getByRole('button', { name: 'Sign in' }).click();
    await signIn(page, person.email, next);
    await page.waitForURL(`${app.base()}*`);
    // Without a session the console asks who is signed in.
    expect(app.complaints.filter((one) => one !== '401 /v1/me')).toEqual([]);

    const other = await app.open('/account', { as: person });
    await other.getByRole('heading', { name: 'Sign in' }).waitFor();
    await openLink(other, link);
    await other.getByRole('heading', { name: 'This link does not work any more' }).waitFor();
  },
);

inBrowser(
  'a typed address has a mark until its person confirms it, after signing in if need be',
  async () => {
    const person = await app.join('member', 'Nora Vidal');
    const members = await app.open('/members');
    const row = members
      .getByRole('list', { name: 'Members' })
      .getByRole('link', { name: 'Nora Vidal' });
    await row.getByText('not confirmed').waitFor();

    const page = await app.open('/account', { as: person });
    await page.getByText(`${person.email} · not confirmed`).waitFor();
    await page.getByLabel('Your password').fill(person.password);
    await page.getByRole('button', { name: 'Save and confirm' }).click();
    await page.getByRole('status').getByText('We sent a link.').waitFor();
    const elsewhere = await app.open('', { as: null });
    await openLink(elsewhere, await linkTo(person.email));
    await elsewhere.getByText('Sign in to confirm your e-mail address.').waitFor();
    await signIn(elsewhere, person.email, person.password);
    await elsewhere.getByText(`Is ${person.email} your e-mail address?`).waitFor();
    await elsewhere.getByRole('button', { name: 'Confirm' }).click();
    await elsewhere.getByText('Your e-mail address is confirmed.').waitFor();
    await elsewhere.getByRole('button', { name: 'Open the console' }).click();
    await elsewhere.waitForURL(`${app.base()}*`);
    await members.reload();
    await row.waitFor();
    expect(await row.getByText('not confirmed').count()).toBe(0);
  },
);

inBrowser('the pages fit a phone, in Spanish and in the dark', async () => {
  const person = await app.join('member', 'Olga Paz');
  const look = { as: null, width: 390, colorScheme: 'dark', locale: 'es-CL' } as const;
  const page = await app.open('', look);
  const isWide = () => page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
  await page.getByRole('button', { name: '¿Olvidó su contraseña?' }).click();
  await page.getByLabel('Correo electrónico').fill(person.email);
  expect(await isWide()).toBe(false);
  await page.getByRole('button', { name: 'Enviar el enlace' }).click();
  await page.getByText('Si una cuenta tiene esta dirección').waitFor();
  expect(await isWide()).toBe(false);
  await openLink(page, await linkTo(person.email));
  await page.getByRole('button', { name: 'Definir la contraseña' }).waitFor();
  expect(await isWide()).toBe(false);
});
