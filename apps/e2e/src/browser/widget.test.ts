import { execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type ModelServer, type ModelServerReply, startModelServer, until } from '@parley/testing';
import { SignJWT } from 'jose';
import type { Browser, BrowserContext, Page, Route } from 'playwright-core';
import { openBrowser } from '../open-browser';
import { type Client, push } from '../client';
import { installPackages, packPackages, root } from '../install-packages';
import { shared } from '../stack';
import { type Tenant, createTenant } from '../tenant';

jest.setTimeout(90_000);

/** The chat for websites in Chromium, on a page of another origin, through the real gateway. */
let model: ModelServer;
let tenant: Tenant;
let owner: Client;
let site: Server;
let origin: string;
let browser: Browser | null;
let context: BrowserContext;
/** What `/` of the site answers. */
let html = '';
let identity: { status: number; body: string } = { status: 204, body: '' };

const hostile = `* { all: unset !important; color: red !important; display: inline !important; position: static !important; }
parley-chat { display: none !important; opacity: 0 !important; }`;

beforeAll(async () => {
  [model, browser] = await Promise.all([startModelServer(), openBrowser()]);
  site = createServer((request, response) => answer(request, response)).listen(0, '127.0.0.1');
  await new Promise((listening) => site.once('listening', listening));
  origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  tenant = await createTenant();
  owner = await tenant.client({ permissions: ['*', 'manage'] });
  const settings = { apiKey: 'sk-test', baseUrl: model.urls.openai };
  await owner.post('/v1/integrations', { provider: 'openai', settings });
  await push(owner, {
    agents: [
      {
        slug: 'shop',
        name: 'Shop',
        systemPrompt: 'Plan {{threadContext.params.plan}}.',
        model: 'openai/gpt-5-mini',
      },
    ],
  });
});
afterAll(async () => {
  await browser?.close();
  await tenant?.close();
  site?.close();
  await model?.stop();
});
beforeEach(async () => {
  context = (await browser?.newContext())!;
  identity = { status: 204, body: '' };
  play({ text: 'The answer is **42**.' });
});
afterEach(() => context?.close());

const play = (...replies: (ModelServerReply | ((message: string) => ModelServerReply))[]) => {
  let at = 0;
  model.play((request) => {
    const reply = replies[Math.min(at++, replies.length - 1)]!;
    return typeof reply === 'function' ? reply(request.messages.at(-1)!.text) : reply;
  });
};

function answer({ url }: IncomingMessage, response: ServerResponse): void {
  if (url === '/identity')
    response.writeHead(identity.status, { 'Content-Type': 'text/plain' }).end(identity.body);
  else if (url === '/page.css')
    response.writeHead(200, { 'Content-Type': 'text/css' }).end(hostile);
  else {
    const policy = `default-src 'none'; script-src 'self' ${shared.url}; style-src 'self'; connect-src 'self' ${shared.url}; require-trusted-types-for 'script'`;
    response
      .writeHead(200, { 'Content-Type': 'text/html', 'Content-Security-Policy': policy })
      .end(html);
  }
}

async function createKey(
  more: object = {},
): Promise<{ id: string; key: string; identitySecret: string }> {
  const made = await owner.post('/v1/publishable-keys', {
    name: 'site',
    agentSlug: 'shop',
    origins: [origin],
    ...more,
  });
  expect(made.status).toBe(201);
  return made.body as never;
}

/** Opens a page with the chat. `complaints` are violations of the policy, errors and warnings. */
async function visit(
  key: string,
  { attributes = '', lang = 'en', dir = 'ltr', colors = 'light dark', sheet = '' } = {},
) {
  html = `<!doctype html><html lang="${lang}" dir="${dir}"><head><meta charset="utf-8"><title>Shop</title>
    <meta name="color-scheme" content="${colors}"><meta name="viewport" content="width=device-width">${sheet}
    <script src="${shared.url}/widget/v1.js" defer></script></head>
    <body><main><h1>Shop</h1></main><parley-chat publishable-key="${key}" ${attributes}></parley-chat></body></html>`;
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    if (/^(error|warning)$/.test(message.type())) complaints.push(message.text());
  });
  await page.goto(origin);
  await page.waitForFunction("customElements.get('parley-chat') !== undefined");
  return { page, complaints };
}

const launcher = (page: Page) => page.getByRole('button', { name: /^Open chat/ });
const open = (page: Page) => launcher(page).click();
const input = (page: Page) => page.getByRole('textbox', { name: 'Your message' });
const entries = (page: Page) => page.locator('.entry:visible .text').allInnerTexts();
const status = (page: Page) => page.locator('.status');
async function say(page: Page, text: string): Promise<void> {
  await input(page).fill(text);
  await input(page).press('Enter');
}
const threads = async () =>
  (await owner.get('/v1/threads?channel=widget&limit=100')).body.data as { id: string }[];

const inBrowser = (name: string, run: () => Promise<void>) =>
  test(name, async () => {
    if (browser !== null) await run();
  });

describe('the script', () => {
  const get = (headers: Record<string, string> = {}) =>
    fetch(`${shared.url}/widget/v1.js`, { headers });

  test('is small, may be loaded by any page, and is asked for again only when it has changed', async () => {
    const response = await get({ 'Accept-Encoding': 'gzip' });
    expect(Number(response.headers.get('content-length'))).toBeLessThan(20_000);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'content-encoding': 'gzip',
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
      'cache-control': 'public, max-age=300, stale-while-revalidate=86400',
      'x-content-type-options': 'nosniff',
      vary: 'Accept-Encoding',
    });
    const text = await response.text();
    expect(await (await get({ 'Accept-Encoding': 'identity' })).text()).toBe(text);
    expect(text).not.toMatch(
      /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function/,
    );
    expect((await get({ 'If-None-Match': response.headers.get('etag')! })).status).toBe(304);
    expect((await fetch(`${shared.url}/widget/v1.js`, { method: 'POST' })).status).toBe(405);
  });
});

test('the package has types, and a server that renders a page can import it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-widget-'));
  try {
    writeFileSync(join(folder, 'package.json'), '{"private":true}');
    await installPackages(folder, await packPackages('widget'));
    const installed = join(folder, 'node_modules', '@parley', 'widget');
    expect(JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'))).toMatchObject({
      sideEffects: true,
    });
    expect(gzipSync(readFileSync(join(installed, 'index.mjs'))).length).toBeLessThan(20_000);
    writeFileSync(
      join(folder, 'a.mjs'),
      `import { ParleyChat } from '@parley/widget'; console.log(typeof ParleyChat);`,
    );
    expect(execFileSync(process.execPath, ['a.mjs'], { cwd: folder, encoding: 'utf8' })).toBe(
      'function\n',
    );
    writeFileSync(
      join(folder, 'b.mts'),
      `import '@parley/widget';
       document.querySelector('parley-chat')?.open();
       // @ts-expect-error -- no such method
       document.createElement('parley-chat').explode();`,
    );
    const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
    const compilerOptions = {
      noEmit: true,
      strict: true,
      module: 'nodenext',
      lib: ['es2022', 'dom'],
      types: [],
    };
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ compilerOptions, files: ['b.mts'] }),
    );
    execFileSync(process.execPath, [tsc, '-p', '.'], { cwd: folder, encoding: 'utf8' });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

inBrowser(
  'a visitor talks to the agent with the keyboard alone, on a page with a strict policy and hostile styles',
  async () => {
    const { key } = await createKey();
    let release = () => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    model.play(async ({ messages }) => {
      await released;
      return {
        text: `You said ${messages.at(-1)!.text}. See [the shop](https://shop.example/a) <b>now</b>.`,
        pieceEveryMs: 20,
      };
    });
    const { page, complaints } = await visit(key, {
      sheet: '<link rel="stylesheet" href="/page.css">',
    });
    expect(
      await page
        .locator('.launcher')
        .evaluate((node) => (node as never as { offsetWidth: number }).offsetWidth),
    ).toBe(56);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await until(
      async () =>
        (await page.evaluate('document.activeElement.shadowRoot.activeElement.localName')) ===
        'textarea',
    );
    await page.keyboard.type('hello');
    await page.keyboard.press('Shift+Enter');
    await page.keyboard.type('there');
    await page.keyboard.press('Enter');
    await until(async () => await page.locator('.dots').isVisible());
    expect(await page.locator('.log').getAttribute('aria-busy')).toBe('true');
    expect(await page.getByRole('status').innerText()).toBe('The assistant is typing');
    release();
    await until(async () => (await page.locator('.log').getAttribute('aria-busy')) === 'false');
    expect(await entries(page)).toEqual([
      'hello\nthere',
      'You said hello\nthere. See the shop <b>now</b>.',
    ]);
    expect(await page.getByRole('link').getAttribute('href')).toBe('https://shop.example/a');
    const box = (await page.locator('.panel').boundingBox())!;
    expect([box.width, box.y + box.height < 720]).toEqual([380, true]);

    await page.keyboard.press('Escape');
    expect(await page.locator('.panel').isVisible()).toBe(false);
    expect(await page.evaluate('document.activeElement.shadowRoot.activeElement.className')).toBe(
      'launcher',
    );
    // No trap: the page's own order continues after the chat.
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement === document.body')).toBe(true);

    await launcher(page).click();
    await page.reload();
    await until(async () => (await entries(page)).length === 2);
    expect(complaints).toEqual([]);
  },
);

inBrowser('words appear as they are written, and a reload in between loses none', async () => {
  const { key } = await createKey();
  const text = Array.from({ length: 60 }, (_, n) => `w${n}`).join(' ');
  play({ text, pieceEveryMs: 60 });
  const { page } = await visit(key);
  await open(page);
  await say(page, 'Hello');
  const seen = new Set<number>();
  await until(async () => {
    seen.add(((await entries(page))[1] ?? '').length);
    return seen.size > 3;
  });
  await page.reload();
  await until(async () => (await entries(page))[1] === text, { limitMs: 20_000 });
  expect(await entries(page)).toEqual(['Hello', text]);
});

inBrowser('messages that are sent during an answer are answered in their order', async () => {
  const { key } = await createKey();
  play((message) => ({ text: `re ${message}`, pieceEveryMs: 50 }));
  const { page } = await visit(key);
  await open(page);
  for (const text of ['one', 'two', 'three']) await say(page, text);
  await until(async () => (await entries(page)).length === 6, { limitMs: 20_000 });
  expect((await entries(page)).filter((text) => text.startsWith('re'))).toEqual([
    're one',
    're two',
    're three',
  ]);
});

inBrowser(
  'a message is kept without a connection, and sent once when there is one again',
  async () => {
    const { key } = await createKey();
    const { page } = await visit(key);
    await open(page);
    await say(page, 'first');
    await until(async () => (await entries(page)).length === 2);
    await context.setOffline(true);
    await say(page, 'second');
    await until(async () =>
      /^No connection\. Trying again in \d+ s$/.test(await status(page).innerText()),
    );
    expect(await page.locator('.note').innerText()).toBe('Sending…');
    await context.setOffline(false);
    await until(async () => (await entries(page)).length === 4, { limitMs: 30_000 });
    expect(await entries(page)).toEqual([
      'first',
      'The answer is 42.',
      'second',
      'The answer is 42.',
    ]);
    expect(await status(page).innerText()).toBe('');
  },
);

/**
 * Answers requests of the page to the gateway, `messages` or `sessions`, as this function does,
 * until it returns null.
 */
async function intercept(
  page: Page,
  method: string,
  name: string,
  answer: (route: Route) => Promise<unknown> | null,
) {
  await page.route(
    (url) => url.pathname === `/v1/widget/${name}`,
    (route) => (route.request().method() === method ? answer(route) : null) ?? route.fallback(),
  );
}

inBrowser('a message whose answer is lost is stored once, however often it is sent', async () => {
  const { key } = await createKey();
  const { page } = await visit(key);
  let lost = 2;
  await intercept(page, 'POST', 'messages', (route) => {
    if (lost-- <= 0) return null;
    return route
      .fetch()
      .then(() => route.fulfill({ status: 502, headers: { 'Access-Control-Allow-Origin': '*' } }));
  });
  await open(page);
  await say(page, 'once');
  for (const _ of [1, 2]) await page.getByRole('button', { name: 'Try again' }).click();
  await until(async () => (await entries(page)).length === 2);
  await page.reload();
  await until(async () => (await entries(page)).length === 2);
  expect(await entries(page)).toEqual(['once', 'The answer is 42.']);
});

inBrowser(
  'a failed read ends nothing, an unknown language is none, and a browser without storage keeps its thread',
  async () => {
    const { key } = await createKey();
    await context.addInitScript(() => {
      Object.defineProperty(globalThis, 'localStorage', {
        get: () => {
          throw new Error('refused');
        },
      });
    });
    const { page, complaints } = await visit(key, { attributes: 'lang="en_US"' });
    let failures = 1;
    await intercept(page, 'GET', 'messages', (route) => {
      if (failures-- <= 0) return null;
      return route.fulfill({
        status: 500,
        headers: { 'Access-Control-Allow-Origin': '*' },
        body: '{"error":"x"}',
      });
    });
    await open(page);
    await say(page, 'first');
    await until(async () => (await entries(page)).length === 2);
    expect(await status(page).innerText()).toBe('');
    failures = 1;
    await page.keyboard.press('Escape');
    await open(page);
    await say(page, 'second');
    await until(async () => (await entries(page)).length === 4);
    expect(await entries(page)).toEqual([
      'first',
      'The answer is 42.',
      'second',
      'The answer is 42.',
    ]);
    expect(complaints.filter((text) => /RangeError|Uncaught/.test(text))).toEqual([]);
  },
);

inBrowser('a limit is shown with the time of the next try', async () => {
  const { key } = await createKey({ limits: { perVisitor: 3, perAddress: 100, perKey: 100 } });
  const { page } = await visit(key);
  await open(page);
  await say(page, 'hello');
  await until(async () =>
    /^Too many messages\. Trying again in \d+ s$/.test(await status(page).innerText()),
  );
  const seconds = async () => Number(/\d+/.exec(await status(page).innerText())![0]);
  const before = await seconds();
  await until(async () => (await seconds()) < before);
  expect(await page.getByRole('status').innerText()).toBe('Too many messages.');
});

inBrowser('a failed answer can be asked for again', async () => {
  const { key } = await createKey();
  play({ status: 400, message: 'a secret of the provider' });
  const { page } = await visit(key);
  await open(page);
  await say(page, 'hello');
  await until(async () =>
    (await status(page).innerText()).startsWith('The assistant could not answer.'),
  );
  expect(await page.locator('.panel').innerText()).not.toContain('secret');
  play({ text: 'Now.' });
  await page.getByRole('button', { name: 'Try again' }).click();
  await until(async () => (await entries(page)).at(-1) === 'Now.');
  expect(await status(page).innerText()).toBe('');
});

inBrowser(
  'a person takes over, and the visitor reads the reply, also while the chat is closed',
  async () => {
    const { key } = await createKey();
    const before = new Set((await threads()).map(({ id }) => id));
    const { page } = await visit(key);
    await open(page);
    await say(page, 'hello');
    await until(async () => (await entries(page)).length === 2);
    const thread = (await threads()).find(({ id }) => !before.has(id))!;
    expect((await owner.post(`/v1/threads/${thread.id}/takeover`, {})).status).toBe(200);
    await say(page, 'are you there?');
    await until(
      async () => (await status(page).innerText()) === 'Someone from our team will reply here.',
    );
    expect(
      (await owner.post(`/v1/threads/${thread.id}/messages`, { text: 'Ana here.' })).status,
    ).toBeLessThan(300);
    await until(async () => (await entries(page)).at(-1) === 'Ana here.', { limitMs: 20_000 });
    expect(await page.locator('.person .note').innerText()).toBe('Team member');
    await page.keyboard.press('Escape');
    expect(await launcher(page).getAttribute('aria-label')).toBe('Open chat');
    await owner.post(`/v1/threads/${thread.id}/messages`, { text: 'One more thing.' });
    await until(
      async () => (await launcher(page).getAttribute('aria-label')) === 'Open chat, new message',
      {
        limitMs: 75_000,
      },
    );
    await open(page);
    expect((await entries(page)).at(-1)).toBe('One more thing.');
  },
);

inBrowser(
  'when another visitor signs in on the site, the chat shows their thread and sends nothing of the one before',
  async () => {
    const { key, identitySecret } = await createKey();
    const sign = (sub: string) =>
      new SignJWT({ sub })
        .setProtectedHeader({ alg: 'HS256' })
        .setIssuedAt()
        .sign(new TextEncoder().encode(identitySecret));
    identity = { status: 200, body: await sign('user-1') };
    const { page } = await visit(key, { attributes: 'identity-url="/identity"' });
    await open(page);
    await say(page, 'of the first');
    await until(async () => (await entries(page)).length === 2);
    identity = { status: 200, body: await sign('user-2') };
    // The session has expired.
    let expired = 1;
    await intercept(page, 'POST', 'messages', (route) => {
      if (expired-- <= 0) return null;
      return route.fulfill({
        status: 401,
        headers: { 'Access-Control-Allow-Origin': '*' },
        body: '{"code":"no_session"}',
      });
    });
    await say(page, 'written before');
    await until(async () => (await entries(page)).length === 0);
    await say(page, 'of the second');
    await until(async () => (await entries(page)).length === 2);
    expect(await entries(page)).toEqual(['of the second', 'The answer is 42.']);

    // An error of the site makes no visitor anonymous.
    identity = { status: 404, body: '' };
    await page.reload();
    await until(async () =>
      (await status(page).innerText()).startsWith(
        'The chat is not available at the moment. Trying',
      ),
    );
    identity = { status: 200, body: await sign('user-2') };
    await until(async () => (await entries(page)).length === 2, { limitMs: 15_000 });
  },
);

inBrowser(
  'a visitor who is signed in on the site has a thread of their own, and the agent knows the claims',
  async () => {
    const { key, identitySecret } = await createKey();
    const systems: string[] = [];
    model.play(({ system }) => {
      systems.push(system);
      return { text: 'ok' };
    });
    const { page } = await visit(key, { attributes: 'identity-url="/identity"' });
    await open(page);
    await say(page, 'as anyone');
    await until(async () => (await entries(page)).length === 2);
    const jwt = await new SignJWT({ sub: 'user-1', plan: 'gold' })
      .setProtectedHeader({ alg: 'HS256' })
      .setIssuedAt()
      .sign(new TextEncoder().encode(identitySecret));
    identity = { status: 200, body: jwt };
    await page.reload();
    await until(async () => (await page.locator('.log').getAttribute('aria-busy')) === 'false');
    await say(page, 'as myself');
    await until(async () => (await entries(page)).length === 2);
    expect(await entries(page)).toEqual(['as myself', 'ok']);
    expect(systems[1]).toContain('Plan gold.');

    const [head, payload] = jwt.split('.');
    const forged = createHmac('sha256', 'another secret')
      .update(`${head}.${payload}`)
      .digest('base64url');
    identity = { status: 200, body: `${head}.${payload}.${forged}` };
    await page.reload();
    await until(
      async () => (await status(page).innerText()) === 'The chat is not available at the moment.',
    );
    expect(await entries(page)).toEqual([]);
  },
);

inBrowser(
  'a page of another site learns what is wrong, and its visitors see no error of ours',
  async () => {
    const { key } = await createKey({ origins: ['https://elsewhere.example'] });
    const { page, complaints } = await visit(key);
    await open(page);
    await until(async () =>
      /^The chat is not available at the moment\. Trying/.test(await status(page).innerText()),
    );
    expect(complaints.join('\n')).toContain(`its origins must include ${origin}.`);
  },
);

inBrowser('nothing is requested before the chat is opened', async () => {
  const { key } = await createKey();
  const requests: string[] = [];
  context.on('request', (request) => requests.push(new URL(request.url()).pathname));
  const { page } = await visit(key);
  await page.waitForTimeout(500);
  expect(requests.filter((path) => path !== '/favicon.ico')).toEqual(['/', '/widget/v1.js']);
});

describe('accessibility', () => {
  const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
  const violations = async (page: Page) => {
    await page.evaluate(axe);
    const { violations: found } = (await page.evaluate('axe.run()')) as {
      violations: { id: string; nodes: { html: string; failureSummary: string }[] }[];
    };
    return found.map(
      ({ id, nodes }) =>
        `${id}: ${nodes.map(({ failureSummary, html: at }) => at + failureSummary).join()}`,
    );
  };
  const rich =
    'Text with `code` and [a link](https://a.example).\n\n- one\n- two\n\n```\ncode\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> quote';

  test.each([
    ['light, English', 'light', 'en', 'ltr', 1440],
    ['dark, Spanish', 'dark', 'es', 'ltr', 1440],
    ['light, right to left', 'light', 'ar', 'rtl', 390],
    ['dark, on a phone', 'dark', 'en', 'ltr', 390],
  ] as const)('axe finds nothing: %s', async (_name, scheme, lang, dir, width) => {
    if (browser === null) return;
    await context.close();
    context = await browser.newContext({
      colorScheme: scheme,
      viewport: { width, height: 800 },
      bypassCSP: true,
    });
    const { key } = await createKey();
    play({ text: rich });
    const { page } = await visit(key, {
      lang,
      dir,
      attributes: 'greeting="Hello! Ask **anything**." heading="Shop"',
    });
    expect(await violations(page)).toEqual([]);
    await page.locator('.launcher').click();
    await page.locator('textarea').fill('hello');
    await page.locator('textarea').press('Enter');
    await until(async () => (await entries(page)).length === 3);
    await until(async () => (await page.locator('.log').getAttribute('aria-busy')) === 'false');
    expect(await violations(page)).toEqual([]);
    const box = (await page.locator('.panel').boundingBox())!;
    if (width === 390) expect(box).toEqual({ x: 0, y: 0, width: 390, height: 800 });
    else expect(dir === 'ltr' && box.x > 1000).toBe(true);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    if (process.env.PARLEY_SCREENSHOTS)
      await page.screenshot({
        path: join(process.env.PARLEY_SCREENSHOTS, `widget-${width}-${scheme}-${lang}.png`),
      });
  });
});

inBrowser('the demo page of the gateway shows the chat of a key', async () => {
  const { key } = await createKey({ origins: [shared.url] });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
  await page.goto(`${shared.url}/widget/demo?key=${key}`);
  await open(page);
  await say(page, 'hello');
  await until(async () => (await entries(page)).at(-1) === 'The answer is 42.');
  await page.reload();
  await until(async () => (await entries(page)).length === 2);
  expect(complaints.filter((text) => !text.includes('favicon'))).toEqual([]);
  expect(await page.locator('pre').innerText()).toContain(`publishable-key="${key}"`);

  await page.goto(`${shared.url}/widget/demo?key=%22%3E%3Cscript%3Ealert(1)%3C/script%3E`);
  expect(await page.content()).not.toContain('alert(1)');
  expect(await page.locator('pre').innerText()).toContain(`--origins ${shared.url}`);
});
