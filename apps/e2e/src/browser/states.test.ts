import type { Page, Route } from 'playwright-core';
import { type Tenant, createTenant } from '../tenant';
import { inBrowser } from './console-kit';
import { useFullOrganization } from './full-organization';
import { takeScreenshot, waitForContent } from './looks';

/**
 * Every screen while it loads, when the server fails, when it is refused, when it has nothing, and
 * with ids of others.
 */
const { app, screens } = useFullOrganization();
let other: Tenant;
beforeAll(async () => {
  other = await createTenant();
});
afterAll(() => other?.close());

/**
 * Requests of a screen, without those of the frame: the person, the count in the
 * navigation, how to sign in.
 */
const isOfScreen = (route: Route): boolean =>
  !/\/v1\/(me|thread-counts|sign-in)$/.test(new URL(route.request().url()).pathname);

async function visit(page: Page, path: string): Promise<void> {
  await page.goto('about:blank');
  app.complaints.length = 0;
  await page.goto(app.base() + path);
}

inBrowser(
  'a screen that is loading says so',
  async () => {
    const page = await app.open('');
    const held: Route[] = [];
    await page.route('**/v1/**', (route) =>
      isOfScreen(route) ? void held.push(route) : route.fallback(),
    );
    const silent: string[] = [];
    for (const { name, path } of screens()) {
      await visit(page, path);
      const isSaid = await page
        .locator('main [aria-busy="true"]')
        .first()
        .waitFor()
        .then(
          () => true,
          () => false,
        );
      if (!isSaid) silent.push(name);
      await takeScreenshot(page, `${name}-loading`);
      await Promise.all(held.splice(0).map((route) => route.abort().catch(() => undefined)));
    }
    expect(silent).toEqual([]);
  },
  300_000,
);

inBrowser(
  'a screen whose requests fail says what failed, with the id of the request, and can be tried again',
  async () => {
    const page = await app.open('');
    let isBroken = true;
    const fail = (route: Route) =>
      isBroken && isOfScreen(route)
        ? route.fulfill({
            status: 500,
            contentType: 'application/json',
            headers: { 'X-Request-Id': 'req-of-the-test' },
            body: JSON.stringify({
              error: 'Internal server error',
              code: 'internal',
              requestId: 'req-of-the-test',
            }),
          })
        : route.fallback();
    await page.route('**/v1/**', fail);
    const wrong: string[] = [];
    for (const { name, path } of screens()) {
      isBroken = true;
      await visit(page, path);
      const alert = page.locator('main [role="alert"]').first();
      await alert
        .getByText('req-of-the-test')
        .waitFor()
        .catch(() => wrong.push(`${name}: no error`));
      await takeScreenshot(page, `${name}-failed`);
      isBroken = false;
      for (let tries = 0; tries < 5 && (await alert.count()) > 0; tries++) {
        await alert
          .getByRole('button', { name: 'Try again' })
          .click()
          .catch(() => undefined);
        await waitForContent(page);
      }
      if ((await page.locator('main [role="alert"]').count()) > 0)
        wrong.push(`${name}: not tried again`);
    }
    expect(wrong).toEqual([]);
  },
  300_000,
);

inBrowser(
  'a screen of an organization that has nothing says what would be there',
  async () => {
    const owner = await other.client({ permissions: ['*', 'manage'] });
    const person = await app.join('admin', 'Newcomer', owner);
    const page = await app.open('', { as: person });
    const wrong: string[] = [];
    for (const { name, path, isDetail } of screens()) {
      if (isDetail) continue;
      app.complaints.length = 0;
      await page.goto(`${app.stack.url}/console/${other.slug}/development${path}`);
      await waitForContent(page);
      await takeScreenshot(page, `${name}-empty`);
      if ((await page.locator('main h1').count()) !== 1)
        wrong.push(`${name}: ${await page.locator('main').innerText()}`);
      wrong.push(...app.complaints.map((text) => `${name}: ${text}`));
    }
    expect(wrong).toEqual([]);
  },
  300_000,
);

inBrowser(
  'a member is not shown what only an admin may see, and its address says who may',
  async () => {
    const member = await app.join('member', 'Luis Soto');
    const page = await app.open('', { as: member });
    await waitForContent(page);
    const wrong: string[] = [];
    for (const { name, path, isForAdmins } of screens()) {
      await visit(page, path);
      await waitForContent(page);
      const isRefused =
        (await page.getByText('Only an admin of the organization may see this.').count()) > 0;
      if (isRefused !== (isForAdmins === true))
        wrong.push(`${name}: ${isRefused ? 'refused' : 'shown'}`);
      const refused = app.complaints.filter((text) => text.startsWith('403'));
      if (!isForAdmins && refused.length > 0) wrong.push(`${name}: ${refused.join()}`);
      if (
        isForAdmins &&
        (await page.locator(`nav[aria-label="Main"] a[href$="${path}"]`).count()) > 0
      )
        wrong.push(`${name}: in the navigation`);
      await takeScreenshot(page, `${name}-member`);
    }
    expect(wrong).toEqual([]);
  },
  300_000,
);

inBrowser(
  'ids of another organization look like those that do not exist',
  async () => {
    const owner = await other.client({ permissions: ['*', 'manage'] });
    const person = await app.join('admin', 'Eva Ruiz', owner);
    const page = await app.open('', { as: person });
    const wrong: string[] = [];
    for (const { name, path, isDetail } of screens()) {
      // The list of a type and the form of a new entity are lists; credits and raw are
      // views of others.
      if (!isDetail || path.includes('?')) continue;
      const texts = [];
      for (const one of [path, path.replace(/[^/]+$/, 'unknown')]) {
        await page.goto(`${app.stack.url}/console/${other.slug}/development${one}`);
        await page
          .getByRole('heading', { name: 'There is nothing here' })
          .waitFor()
          .catch(() => undefined);
        // The list beside a conversation may still be loading.
        await waitForContent(page);
        texts.push(await page.locator('main').innerText());
      }
      if (texts[0] !== texts[1] || !texts[0]!.includes('There is nothing here'))
        wrong.push(`${name}: ${texts[0]}`);
    }
    expect(wrong).toEqual([]);
  },
  120_000,
);
