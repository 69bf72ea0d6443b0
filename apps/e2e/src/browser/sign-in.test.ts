import { once } from 'node:events';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type OidcServer, startOidcServer } from '@parley/testing';
import type { BrowserContext, Page } from 'playwright-core';
import type { Client } from '../client';
import { type Tenant, createTenant } from '../tenant';
import { type Look, type Person, inBrowser, useConsole } from './console-kit';
import { hostileTexts } from './hostile-texts';
import { type HttpsHosts, forwardTo, startHttpsHosts } from './https-host';
import { findViolations, takeScreenshot } from './looks';

let provider: OidcServer;
let hosts: HttpsHosts;
let other: Tenant;
let owner: Client;
/** The Cookie headers with which browsers came back from the provider. */
const seen: string[] = [];
// A provider of identities changes the page of the sign-in for all, and the public
// address is HTTPS.
const app = useConsole({
  async ownStack() {
    [provider, hosts] = await Promise.all([startOidcServer(), startHttpsHosts()]);
    return {
      services: ['data', 'chat', 'manage', 'gateway'],
      environment: {
        OIDC_ISSUER: provider.url,
        OIDC_CLIENT_ID: provider.clientId,
        OIDC_CLIENT_SECRET: provider.clientSecret,
        OIDC_NAME: 'Acme',
        PUBLIC_URL: `https://parley.example.test:${hosts.port}`,
        TRUSTED_PROXIES: '127.0.0.1',
      },
    };
  },
});
beforeAll(async () => {
  const forward = forwardTo(app.stack.url);
  hosts.serve('parley.example.test', (request, response) => {
    if (request.url!.startsWith('/v1/sign-in/oidc/callback'))
      seen.push(request.headers.cookie ?? '');
    forward(request, response);
  });
  other = await createTenant(app.stack);
  owner = await other.client({ permissions: ['manage'] });
});
const contexts: BrowserContext[] = [];
afterEach(async () => {
  await Promise.all(contexts.splice(0).map((context) => context.close()));
  expect(provider.problems).toEqual([]);
});
afterAll(async () => {
  await other?.close();
  await hosts?.close();
  await provider?.stop();
});

const parley = () => `https://parley.example.test:${hosts.port}`;
const invite = async () =>
  ((await owner.post('/v1/invitations', { role: 'member' })).body as { link: string }).link;
const tokenOf = (link: string) => link.split('/').at(-1)!;
const sessionOf = ({ storageState }: Person) =>
  (storageState as { cookies: { value: string }[] }).cookies[0]!.value;
const organizationsOf = async (page: Page) =>
  (await page.evaluate(async () => (await (await fetch('/v1/me')).json()) as Me)).organizations.map(
    ({ id }) => id,
  );
const whoIs = async (page: Page) =>
  (await page.evaluate(async () => (await (await fetch('/v1/me')).json()) as Me)).person.email;
interface Me {
  person: { email: string };
  organizations: { id: string }[];
}

/** Opens a path over HTTPS in a browser of its own, with the session of a person. */
async function open(path: string, person: Person | null, look: Look = {}): Promise<Page> {
  const { width = 1440, colorScheme = 'light', locale = 'en-US', bypassCSP } = look;
  const context = await app.browser.newContext({
    viewport: { width, height: 844 },
    colorScheme,
    locale,
    bypassCSP,
    ignoreHTTPSErrors: true,
  });
  contexts.push(context);
  if (person !== null)
    await context.addCookies([
      {
        name: '__Host-parley_session',
        value: sessionOf(person),
        url: parley(),
        secure: true,
        httpOnly: true,
        sameSite: 'Lax',
      },
    ]);
  const page = await context.newPage();
  await page.goto(parley() + path);
  return page;
}

/** Opens the link of an invitation and comes back from the provider, up to the question. */
async function beAsked(
  person: Person,
  look: Look & { button: RegExp; question: RegExp },
): Promise<Page> {
  const { hash } = new URL(await invite());
  const page = await open(`/console/${hash}`, person, look);
  await page.getByRole('button', { name: look.button }).click();
  await page.getByRole('heading', { name: look.question }).waitFor();
  return page;
}
const english = { button: /^Join, and add Acme/, question: /^Add this identity/ };

inBrowser(
  'a person adds the identity of the provider to the account after a question, and signs in with it',
  async () => {
    const person = await app.join('admin', 'Rosa Vidal');
    provider.person = { sub: 'rosa', email: 'rosa@acme.example', name: 'Rosa V.' };
    const page = await beAsked(person, { ...english, bypassCSP: true });
    await takeScreenshot(page, 'confirm-identity-1440-light');
    for (const text of [
      'Rosa Vidal',
      person.email,
      'Rosa V.',
      'rosa@acme.example',
      provider.url,
      'as a member',
    ])
      await page.getByText(text, { exact: true }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    expect(await organizationsOf(page)).not.toContain(other.organizationId);
    await page.getByRole('button', { name: 'Add the identity and join' }).click();
    await page.waitForURL(`${parley()}/console/${other.slug}/development*`);
    expect(await organizationsOf(page)).toContain(other.organizationId);

    const elsewhere = await open('/console/', null);
    await elsewhere.getByRole('button', { name: 'Sign in with Acme' }).click();
    await elsewhere.waitForURL(`${parley()}/console/*/development*`);
    expect(await whoIs(elsewhere)).toBe(person.email);
  },
);

inBrowser(
  'on a phone, dark and in Spanish, with hostile names: nothing runs, and a person who declines keeps all',
  async () => {
    const person = await app.join('member', 'Luis Soto');
    const names = hostileTexts
      .map((text) => text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, ''))
      .join(' ');
    provider.person = { sub: 'luis', email: `${'x'.repeat(80)}@acme.example`, name: names };
    const spanish = { button: /^Unirse y agregar Acme/, question: /^¿Agregar esta identidad/ };
    const look = { width: 390, colorScheme: 'dark', locale: 'es-CL', bypassCSP: true } as const;
    const page = await beAsked(person, { ...spanish, ...look });
    await takeScreenshot(page, 'confirm-identity-390-dark');
    expect(await page.evaluate('window.hurt')).toBeUndefined();
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Rechazar' }).click();
    await page.waitForURL(`${parley()}/console/${app.tenant.slug}/development*`);
    expect(await organizationsOf(page)).toEqual([app.tenant.organizationId]);
    await page.goto(`${parley()}/console/#/confirm-identity`);
    await page.getByRole('heading', { name: 'No hay nada que confirmar' }).waitFor();
    await takeScreenshot(page, 'confirm-identity-ended-390-dark');
  },
);

inBrowser(
  'a sign-in that the person cancels at the provider changes nothing and is reported',
  async () => {
    const person = await app.join('member', 'Carla Paz');
    provider.faults.push('refused');
    const page = await open(`/console/${new URL(await invite()).hash}`, person);
    await page.getByRole('button', { name: english.button }).waitFor();
    await takeScreenshot(page, 'join-signed-in-1440-light');
    await page.getByRole('button', { name: english.button }).click();
    await page.getByText('The sign-in was cancelled.').waitFor();
    await takeScreenshot(page, 'sign-in-cancelled-1440-light');
    await page.getByRole('button', { name: 'Open the console' }).click();
    await page.waitForURL(`${parley()}/console/${app.tenant.slug}/development*`);
    expect(await organizationsOf(page)).toEqual([app.tenant.organizationId]);
  },
);

describe('a page of another host', () => {
  let victim: Person;
  /**
   * The value of the cookie of a sign-in that the attacker began, and the address to which the
   * provider sends it back.
   */
  let planted: string;
  let back: URL;
  let attackers = 0;
  beforeEach(async () => {
    attackers += 1;
    victim = await app.join('admin', `Victim ${attackers}`);
    provider.person = { sub: `attacker-${attackers}`, email: 'attacker@evil.example' };
    const begun = await fetch(`${app.stack.url}/v1/sign-in/oidc`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Origin: app.stack.url },
      body: JSON.stringify({ invitation: tokenOf(await invite()) }),
    });
    planted = /=([^;]+)/.exec(begun.headers.getSetCookie()[0]!)![1]!;
    back = new URL(await provider.signIn(((await begun.json()) as { url: string }).url));
  });

  /**
   * The attacker's identity has been added to no account: without an invitation it
   * does not sign in.
   */
  async function expectNoAccount(): Promise<void> {
    const page = await open('/console/', null);
    await page.getByRole('button', { name: 'Sign in with Acme' }).click();
    await page.getByText('This account belongs to no organization.', { exact: false }).waitFor();
  }

  inBrowser(
    'of the same site does not bind its identity by a cookie that resembles ours',
    async () => {
      const page = await open('/console/', victim);
      for (const byte of ['\u00a0', '\u0085', '\u00ad']) {
        seen.length = 0;
        hosts.serve('evil.example.test', (_request, response) => {
          const cookie = `${byte}__Host-parley_oidc=${planted}; Domain=example.test; Path=/; Secure`;
          response.writeHead(302, { 'Set-Cookie': cookie, Location: back.href }).end();
        });
        await page.goto(`https://evil.example.test:${hosts.port}/`);
        // Chromium has stored the cookie and sends it as it is.
        expect(seen.at(-1)).toContain(`${byte}__Host-parley_oidc=${planted}`);
        await page.getByText('sign_in_expired').waitFor();
      }
      expect(await whoIs(page)).toBe(victim.email);
      await expectNoAccount();
    },
  );

  inBrowser(
    'of the same site does not put the browser into a session of the attacker',
    async () => {
      const attacker = await app.join('member', `Attacker ${attackers}`);
      hosts.serve('evil.example.test', (_request, response) => {
        const cookie = `\u00a0__Host-parley_session=${sessionOf(attacker)}; Domain=example.test; Path=/v1; Secure`;
        response.writeHead(302, { 'Set-Cookie': cookie, Location: `${parley()}/console/` }).end();
      });
      const page = await open('/console/', victim);
      await page.goto(`https://evil.example.test:${hosts.port}/`);
      await page.waitForURL(`${parley()}/console/**`);
      expect(await whoIs(page)).toBe(victim.email);
    },
  );

  inBrowser(
    'on plain HTTP, at another port of this machine, does not bind its identity',
    async () => {
      const evil = await startPage(
        () => `parley_oidc=${planted}; Path=/`,
        () => app.stack.url + back.pathname + back.search,
      );
      const page = await app.open('', { as: victim });
      await page.goto(evil.url);
      await page.getByText('sign_in_expired').waitFor();
      expect(await whoIs(page)).toBe(victim.email);
      await evil.close();
      await expectNoAccount();
    },
  );
});

/** A page at another port that sets a cookie and leads to an address. */
async function startPage(
  cookie: () => string,
  to: () => string,
): Promise<{ url: string; close(): Promise<unknown> }> {
  const server: Server = createServer((_request, response) =>
    response.writeHead(302, { 'Set-Cookie': cookie(), Location: to() }).end(),
  ).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}
