import { join } from 'node:path';
import type { Environment, PersonRole } from '@parley/contracts';
import { type ModelServer, type StackOptions, startModelServer } from '@parley/testing';
import type {
  Browser,
  BrowserContext,
  BrowserContextOptions,
  Page,
  Request,
} from 'playwright-core';
import type { Client } from '../client';
import { openBrowser } from '../open-browser';
import { type SharedStack, shared, startOwnStack } from '../stack';
import { type Tenant, createTenant } from '../tenant';

const failures = join(__dirname, '../../../../dist/browser-failures');

/**
 * A person who has joined the organization of the test file, and the session of the
 * person's browser.
 */
export interface Person {
  name: string;
  email: string;
  password: string;
  storageState: NonNullable<BrowserContextOptions['storageState']>;
  /** The headers of requests with the session, without the browser. */
  headers: Record<string, string>;
}

export interface Look {
  /** The person who looks; default: an admin. Null: without a session. */
  as?: Person | null;
  environment?: Environment;
  /** Width in pixels; below 600 a phone with a touch screen. Default: 1440. */
  width?: number;
  colorScheme?: 'light' | 'dark';
  locale?: string;
  /** Lets the test add scripts to the page. */
  bypassCSP?: boolean;
}

/**
 * The console in Chromium, served by the real gateway, with real services behind it. One
 * organization for each file.
 */
export interface ConsoleKit {
  stack: Pick<SharedStack, 'url' | 'databaseUrl'>;
  /** The models of the organization, in both environments. */
  model: ModelServer;
  tenant: Tenant;
  /** A client with all permissions. */
  owner: Client & { key: string };
  browser: Browser;
  admin: Person;
  /**
   * Creates a person who joins the organization of a client by an invitation; default:
   * that of the file.
   */
  join(role: PersonRole, name?: string, owner?: Client): Promise<Person>;
  /**
   * The address of a person, which no other file uses: an address belongs to one person of
   * all organizations.
   */
  emailOf(name: string): string;
  /** The address of the screens of an environment. */
  base(environment?: Environment): string;
  /** Opens a screen in a browser of its own, which is closed after the test. */
  open(path: string, look?: Look): Promise<Page>;
  /** Another tab of the browser of a page. */
  openBeside(page: Page, path: string): Promise<Page>;
  /**
   * What no page may do: errors, warnings, violations of the content security policy, requests to
   * other origins, dialogs. A failed request is a line such as `404 /v1/threads/x`.
   */
  complaints: string[];
}

export interface ConsoleOptions {
  /**
   * A stack of its own, for a file that needs other variables than the shared one has. Called once,
   * before the tests.
   */
  ownStack?: () => Promise<Pick<StackOptions, 'services' | 'environment'>>;
}

/**
 * A test in the browser. It does nothing on a machine without one, which openBrowser
 * says; CI has one.
 */
export function inBrowser(name: string, run: () => Promise<void>, limitMs?: number): void {
  test(
    name,
    async () => {
      if (!hasBrowser) return;
      try {
        await run();
      } catch (error) {
        await saveScreenshots(name);
        throw error;
      }
    },
    limitMs,
  );
}
let hasBrowser = false;
const contexts: BrowserContext[] = [];

/** Saves what every open page shows when a test fails. */
async function saveScreenshots(name: string): Promise<void> {
  const pages = contexts.flatMap((context) => context.pages());
  for (const [index, page] of pages.entries()) {
    const path = join(failures, `${name.replace(/\W+/g, '-').slice(0, 80)}-${index + 1}.png`);
    const isSaved = await page.screenshot({ path, timeout: 5_000 }).then(
      () => true,
      () => false,
    );
    if (isSaved) console.error(`${page.url()}\nis shown in ${path}`);
  }
}

/**
 * Creates an organization with an administrator for the file, in the stack that the files share.
 */
export function useConsole({ ownStack }: ConsoleOptions = {}): ConsoleKit {
  const kit = { complaints: [] as string[] } as ConsoleKit;
  let own: Awaited<ReturnType<typeof startOwnStack>> | undefined;
  beforeAll(async () => {
    const [model, browser] = await Promise.all([startModelServer(), openBrowser()]);
    hasBrowser = browser !== null;
    if (browser !== null) kit.browser = browser;
    kit.model = model;
    if (ownStack !== undefined) own = await startOwnStack(await ownStack());
    kit.stack = own ?? shared;
    kit.tenant = await createTenant(kit.stack);
    kit.owner = await kit.tenant.client({ permissions: ['*', 'manage'] });
    const inProduction = await kit.tenant.client({
      permissions: ['manage'],
      environment: 'production',
    });
    const settings = { apiKey: 'sk-test', baseUrl: model.urls.openai };
    for (const client of [kit.owner, inProduction])
      await client.post('/v1/integrations', { provider: 'openai', settings });
    kit.admin = await kit.join('admin', 'Ana Pérez');
  });
  afterAll(async () => {
    await kit.browser?.close();
    await kit.tenant?.close();
    await own?.stop();
    await kit.model?.stop();
  });
  beforeEach(() => {
    kit.complaints.length = 0;
    kit.model.play(() => ({ text: 'The answer is 42.' }));
  });
  afterEach(async () => {
    await Promise.all(contexts.splice(0).map((context) => context.close()));
  });

  kit.base = (place = 'development') => `${kit.stack.url}/console/${kit.tenant.slug}/${place}`;
  kit.emailOf = (name) => {
    const local = name.replace(/\W+/g, '.').toLowerCase();
    return `${local}@${kit.tenant.organizationId.slice(-8)}.example.com`;
  };
  kit.join = (role, name = role, owner = kit.owner) => acceptInvitation(kit, owner, role, name);
  kit.open = async (path, look = {}) => {
    const {
      as = kit.admin,
      width = 1440,
      colorScheme = 'light',
      locale = 'en-US',
      bypassCSP,
    } = look;
    const context = await kit.browser.newContext({
      viewport: { width, height: 844 },
      colorScheme,
      locale,
      bypassCSP,
      ...(width < 600 && { hasTouch: true, isMobile: true }),
      ...(as !== null && { storageState: as.storageState }),
    });
    contexts.push(context);
    const page = await context.newPage();
    watch(kit, page);
    await page.goto(kit.base(look.environment) + path);
    return page;
  };
  kit.openBeside = async (page, path) => {
    const other = await page.context().newPage();
    watch(kit, other);
    await other.goto(kit.base() + path);
    return other;
  };
  return kit;
}

const underWay = new WeakMap<Page, Set<Request>>();

/** The number of requests of a page that have no answer yet. */
export const requestsUnderWay = (page: Page): number => underWay.get(page)?.size ?? 0;

function watch({ complaints, stack }: ConsoleKit, page: Page): void {
  const requests = new Set<Request>();
  underWay.set(page, requests);
  page.on('request', (request) => requests.add(request));
  page.on('requestfinished', (request) => requests.delete(request));
  page.on('requestfailed', (request) => requests.delete(request));
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('dialog', (dialog) => {
    complaints.push(dialog.message());
    void dialog.dismiss();
  });
  page.on('console', (message) => {
    // Chromium's line about a failed request does not name the request; the response below does.
    if (
      /^(error|warning)$/.test(message.type()) &&
      !message.text().startsWith('Failed to load resource')
    )
      complaints.push(message.text());
  });
  page.on('request', (request) => {
    if (!/^(blob|data):/.test(request.url()) && new URL(request.url()).origin !== stack.url)
      complaints.push(request.url());
  });
  page.on('response', (response) => {
    if (response.status() >= 400)
      complaints.push(`${response.status()} ${new URL(response.url()).pathname}`);
  });
}

async function acceptInvitation(
  kit: ConsoleKit,
  owner: Client,
  role: PersonRole,
  name: string,
): Promise<Person> {
  const { body } = await owner.post('/v1/invitations', { role });
  const token = (body as { link: string }).link.split('/').at(-1)!;
  const email = kit.emailOf(name);
  const password = 'a long password';
  const response = await fetch(`${kit.stack.url}/v1/invitations/accept`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Origin: kit.stack.url },
    body: JSON.stringify({ token, name, email, password }),
  });
  const cookie = response.headers.getSetCookie()[0];
  if (cookie === undefined) throw new Error(`The invitation was refused: ${await response.text()}`);
  const value = cookie.slice(cookie.indexOf('=') + 1, cookie.indexOf(';'));
  const { hostname: domain } = new URL(kit.stack.url);
  return {
    name,
    email,
    password,
    headers: {
      Cookie: `parley_session=${value}`,
      Origin: kit.stack.url,
      'Parley-Organization': kit.tenant.organizationId,
      'Parley-Environment': 'development',
    },
    storageState: {
      cookies: [
        {
          name: 'parley_session',
          value,
          domain,
          path: '/',
          expires: -1,
          httpOnly: true,
          secure: false,
          sameSite: 'Lax' as const,
        },
      ],
      origins: [],
    },
  };
}
