import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ModelServer, type Stack, startModelServer, until } from '@parley/testing';
import type { Browser, BrowserContext, Page, Route } from 'playwright-core';
import { openBrowser } from './browser';
import { type Client, push } from './client';
import { startOwnStack } from './stack';
import { type Tenant, createTenant } from './tenant';

jest.setTimeout(90_000);

/** The console in Chromium, served by the real gateway, with real services behind it. */
let model: ModelServer;
let stack: Stack & { databaseUrl: string };
let tenant: Tenant;
let owner: Client & { key: string };
let browser: Browser | null;
let context: BrowserContext;
let session: Awaited<ReturnType<BrowserContext['storageState']>>;
let base: string;
let complaints: string[];

const person = { name: 'Ana Pérez', email: 'ana@example.com', password: 'a long password' };
/** Texts that break pages that do not escape them. */
const hostile = [
  '<img src=x onerror="window.hurt=1">',
  '"><script>window.hurt=1</script>',
  "javascript:/*--></title></style></textarea></script><svg/onload='window.hurt=1'>",
  '{{constructor.constructor("window.hurt=1")()}}',
  '${window.hurt=1}',
  '\u202Egnirts\u202C \u200B\uFEFF z̸̢̛a͝l͞g̶o',
  'x'.repeat(3_000),
].join('\n');

beforeAll(async () => {
  [model, browser] = await Promise.all([startModelServer(), openBrowser()]);
  stack = await startOwnStack({
    services: ['data', 'chat', 'worker', 'manage', 'gateway'],
    environment: {
      ...{ OPENAI_BASE_URL: model.urls.openai, OPENAI_API_KEY: 'sk-test' },
      ...{ RATE_LIMIT_PER_KEY: '10000', RATE_LIMIT_PER_ORGANIZATION: '10000', PEOPLE_RATE_LIMIT_PER_PERSON: '10000' },
    },
  });
  tenant = await createTenant({ url: stack.url, databaseUrl: stack.databaseUrl });
  owner = await tenant.client({ permissions: ['*', 'manage'] });
  base = `${stack.url}/console/${tenant.slug}/development`;
  await push(owner, {
    agents: [
      {
        slug: 'shop',
        name: 'Shop',
        systemPrompt: 'You sell tents.',
        model: 'openai/gpt-5-mini',
        tools: ['entity.query'],
      },
    ],
    entityTypes: [
      {
        slug: 'product',
        name: 'Product',
        schema: { name: 'string', price: 'number', tags: 'array', active: 'boolean' },
        searchFields: ['name'],
      },
    ],
  });
  const data = [
    { name: 'Tent', price: 100, tags: ['new'], active: true },
    { name: hostile, price: 5 },
  ];
  for (const one of data) expect((await owner.post('/v1/data/product', { data: one })).status).toBe(201);
  if (browser !== null) session = await joinOnce();
});
afterAll(async () => {
  await browser?.close();
  await tenant?.close();
  await stack?.stop();
  await model?.stop();
});
beforeEach(async () => {
  model.play(() => ({ text: 'The answer is 42.' }));
  context = (await browser?.newContext({ storageState: session, locale: 'en-US' }))!;
});
afterEach(() => context?.close());

const inBrowser = (name: string, run: () => Promise<void>) =>
  test(name, async () => {
    if (browser !== null) await run();
  });

/** Accepts an invitation in the browser, and returns the session. */
async function joinOnce() {
  const { body, status } = await owner.post('/v1/invitations', { role: 'admin' });
  expect(status).toBe(201);
  const link = new URL((body as { link: string }).link);
  const joining = await browser!.newContext({ locale: 'en-US' });
  const page = await joining.newPage();
  await page.goto(stack.url + link.pathname + link.hash);
  await page.getByLabel('Your name').fill(person.name);
  await page.getByLabel('E-mail address').fill(person.email);
  await page.getByLabel('Password').fill(person.password);
  await page.getByRole('button', { name: /^Join/ }).click();
  await page.waitForURL(`${base}*`);
  await page.goto(stack.url + link.pathname + link.hash);
  await page.getByText('This link does not work any more').waitFor();
  const state = await joining.storageState();
  await joining.close();
  return state;
}

/** Opens a screen. `complaints` are errors, warnings, violations of the policy and requests to other origins. */
async function open(path: string): Promise<Page> {
  const page = await context.newPage();
  complaints = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('dialog', (dialog) => (complaints.push(dialog.message()), void dialog.dismiss()));
  page.on('console', (message) => {
    if (/^(error|warning)$/.test(message.type())) complaints.push(message.text());
  });
  page.on('request', (request) => {
    if (!/^(blob|data):/.test(request.url()) && new URL(request.url()).origin !== stack.url)
      complaints.push(request.url());
  });
  await page.goto(base + path);
  return page;
}

async function chat(message: string, more: object = {}): Promise<{ threadId: string; executionId: string }> {
  const { body } = await owner.post('/v1/agents/shop/chat', { message, ...more });
  const { threadId } = body as { threadId: string };
  const { data } = (await owner.get(`/v1/executions?thread=${threadId}`)).body as { data: { id: string }[] };
  return { threadId, executionId: data[0]!.id };
}

const signIn = async (page: Page) => {
  await page.getByLabel('E-mail address').fill(person.email);
  await page.getByLabel('Password').fill(person.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
};

test('the first load has at most 250 kB, and each further screen at most 120 kB', () => {
  const folder = join(process.cwd(), 'dist', 'e2e', 'gateway', 'console');
  const sizeOf = (name: string) => readFileSync(join(folder, `${name}.gz`)).length;
  const html = readFileSync(join(folder, 'index.html'), 'utf8');
  const first = [...html.matchAll(/(?:src|href)="\/console\/(assets\/[^"]+)"/g)].map(([, name]) => name!);
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

inBrowser('a session that has ended is begun again on the same screen, and what was typed is still there', async () => {
  const { threadId } = await chat('hello');
  const page = await open(`/conversations/${threadId}`);
  await page.getByLabel('Reply').fill('half a reply');
  await context.clearCookies();
  await page.getByText('Your session has ended.').waitFor({ timeout: 15_000 });
  expect(page.url()).toContain(threadId);
  await page.getByLabel('E-mail address').fill(person.email);
  await page.getByLabel('Password').fill('a wrong password');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('alert').getByText('Wrong e-mail address or password').waitFor();
  await signIn(page);
  await until(async () => (await page.getByLabel('Reply').inputValue()) === 'half a reply');
});

inBrowser('addresses without an organization, and of unknown ones', async () => {
  const page = await open('');
  await page.goto(`${stack.url}/`, { waitUntil: 'commit' });
  await page.waitForURL(`${base}*`);
  for (const path of ['/console/another/development', `/console/${tenant.slug}/staging`]) {
    await page.goto(stack.url + path);
    await page.getByRole('heading', { name: 'There is nothing here' }).waitFor();
  }
  for (const path of ['/conversations/thread_unknown', '/executions/1', '/data/unknown']) {
    await page.goto(base + path);
    await page.getByRole('heading', { name: 'There is nothing here' }).waitFor();
  }
});

inBrowser(
  'a person takes a conversation over, replies, adds a note and hands it back, with the keyboard alone',
  async () => {
    const { threadId } = await chat('Do you have tents?', { externalThreadId: 'ana-1' });
    const page = await open('/conversations');
    await page.getByRole('link', { name: /ana-1/ }).waitFor();
    await page.keyboard.press('j');
    await page.getByText('The answer is 42.').waitFor();
    await page.keyboard.press('t');
    await page.getByText('You are answering').waitFor();
    await page.keyboard.press('r');
    await page.keyboard.type('Yes, we do.\nAna');
    await page.keyboard.press('Control+Enter');
    await page.getByText('Yes, we do.').waitFor();
    await page.getByRole('button', { name: 'Note' }).click();
    await page.getByRole('textbox', { name: 'Note' }).fill('Likes blue');
    await page.getByRole('button', { name: 'Add note' }).click();
    await page.getByText('Likes blue').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('heading', { name: 'ana-1' }).click();
    await page.keyboard.press('e');
    await page.getByRole('dialog').getByRole('textbox').fill('Offer the blue one');
    await page.getByRole('dialog').getByRole('button', { name: 'Hand back' }).click();
    await page.getByText('A reply takes the conversation over.').waitFor();
    const { data } = (await owner.get(`/v1/threads/${threadId}/messages`)).body as {
      data: { role: string; content: string }[];
    };
    expect(data.map(({ role, content }) => [role, content])).toEqual([
      ['system', 'Offer the blue one'],
      ['note', 'Likes blue'],
      ['assistant', 'Yes, we do.\nAna'],
      ['assistant', 'The answer is 42.'],
      ['user', 'Do you have tents?'],
    ]);
    expect(complaints).toEqual([]);
  },
);

inBrowser(
  'a reply whose answer is lost is stored once, over a reload; one to a thread that has changed is not sent',
  async () => {
    const { threadId } = await chat('hello');
    const page = await open(`/conversations/${threadId}`);
    await page.getByText('The answer is 42.').waitFor();
    let lost = 2;
    const lose = async (route: Route) => {
      if (route.request().method() !== 'POST' || lost-- <= 0) return route.fallback();
      await route.fetch();
      return route.abort();
    };
    await page.route(`**/v1/threads/${threadId}/messages`, lose);
    await page.getByLabel('Reply').fill('once');
    await page.keyboard.press('Control+Enter');
    await page.getByText('Sending…').waitFor();
    await page.reload();
    await until(
      async () =>
        (await page.getByText('once', { exact: true }).count()) === 1 &&
        (await page.getByText('Sending…').count()) === 0,
      { limitMs: 20_000 },
    );
    const stored = async () =>
      ((await owner.get(`/v1/threads/${threadId}/messages`)).body as { data: { content: string }[] }).data.map(
        ({ content }) => content,
      );
    expect((await stored()).filter((content) => content === 'once')).toHaveLength(1);

    await page.route(`**/v1/threads/${threadId}/messages**`, (route) =>
      route.request().method() === 'GET' ? route.abort() : route.fallback(),
    );
    await owner.post(`/v1/threads/${threadId}/resume`, {});
    await owner.post('/v1/agents/shop/chat', { threadId, message: 'wait!' });
    await page.getByLabel('Reply').fill('too late');
    await page.keyboard.press('Control+Enter');
    await page.getByText('The contact has written since.').waitFor();
    expect(await stored()).not.toContain('too late');
    await page.unroute(`**/v1/threads/${threadId}/messages**`);
    await page.getByRole('log').getByText('wait!').waitFor({ timeout: 15_000 });
    await page.getByRole('button', { name: 'Try again' }).click();
    await until(async () => (await stored()).includes('too late'));
  },
);

inBrowser(
  'an execution shows its steps, why a call was denied, the prompt and the messages, at an address of each',
  async () => {
    model.play((_request, index) =>
      index === 0
        ? {
            toolCalls: [
              { id: 'c1', name: 'entity_query', args: { type: 'product' } },
              { id: 'c2', name: 'payment_create', args: { amount: 1 } },
            ],
          }
        : { text: 'Found it.' },
    );
    model.requests.length = 0;
    const { executionId } = await chat('find');
    const page = await open('/executions');
    await page.getByRole('link', { name: /find/ }).click();
    await page.waitForURL(`**/executions/${executionId}*`);
    // The failed step is shown first.
    await page.getByText('permission_denied').waitFor();
    await page.getByRole('button', { name: /entity\.query/ }).click();
    await page.getByText('allowed').waitFor();
    expect(await page.getByRole('region', { name: 'Result' }).innerText()).toContain('"price": 100');
    await page.reload();
    expect(await page.getByRole('region', { name: 'Result' }).innerText()).toContain('"price": 100');
    await page.getByRole('link', { name: 'Prompt as sent' }).click();
    await page.getByText('You sell tents.').waitFor();
    await page.getByRole('link', { name: 'Steps' }).click();
    await page.getByRole('link', { name: 'Conversation', exact: true }).click();
    await page.getByRole('button', { name: /agent · 2 tools/ }).click();
    await page.getByRole('link', { name: 'Open execution' }).click();
    await page.waitForURL(`**/executions/${executionId}*`);
    expect(complaints).toEqual([]);
  },
);

inBrowser('entities are filtered, created, changed, deleted and restored; filters stay in the address', async () => {
  const page = await open('/data');
  await page.getByRole('link', { name: /Product/ }).click();
  await page.getByText('Tent', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Create entity' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('name').fill('Mat');
  await dialog.getByLabel('price').fill('cheap');
  await dialog.getByRole('button', { name: 'Create entity' }).click();
  await dialog.getByRole('alert').waitFor();
  await dialog.getByLabel('price').fill('12.5');
  await dialog.getByLabel('tags').fill('["a"]');
  await dialog.getByRole('button', { name: 'Create entity' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByText('Mat', { exact: true }).waitFor();
  const created = async () =>
    (
      (await owner.post('/v1/data/product/query', { filters: { 'data.name': { $in: ['Mat', 'Soft mat'] } } })).body as {
        data: { data: object }[];
      }
    ).data.map((one) => one.data);
  expect(await created()).toEqual([{ name: 'Mat', price: 12.5, tags: ['a'] }]);

  await page.getByRole('button', { name: 'Add filter' }).click();
  await page.getByLabel('Field').selectOption('price');
  await page.getByLabel('Operator').selectOption('lt');
  await page.getByLabel('Value').fill('50');
  await page.getByLabel('Value').press('Enter');
  await until(async () => (await page.getByText('Tent', { exact: true }).count()) === 0);
  await page.getByRole('button', { name: 'As code' }).click();
  await page.getByText(`'{"filters":{"data.price":{"$lt":50}}}'`).waitFor();
  await page.keyboard.press('Escape');
  await page.reload();
  await page.getByText('Mat', { exact: true }).click();
  await dialog.getByLabel('name').fill('Soft mat');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Soft mat', { exact: true }).waitFor();
  expect(await created()).toEqual([{ name: 'Soft mat', price: 12.5, tags: ['a'] }]);

  await page.getByRole('listitem').filter({ hasText: 'Soft mat' }).getByRole('checkbox').check();
  await page.getByRole('button', { name: 'Delete 1 entity' }).click();
  await page.getByText('Delete 1 of product? They can be restored.').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete 1 entity' }).click();
  await until(async () => (await created()).length === 0);
  await page.getByRole('button', { name: 'Deleted' }).click();
  await page.getByText('Soft mat', { exact: true }).click();
  await dialog.getByRole('button', { name: 'Restore' }).click();
  await until(async () => (await created()).length === 1);
  expect(complaints.filter((text) => !text.includes('400'))).toEqual([]);
});

inBrowser('hostile texts are shown as they are, on every screen', async () => {
  model.play(() => ({ text: hostile }));
  const { threadId, executionId } = await chat(hostile);
  for (const path of [
    '',
    '/conversations',
    `/conversations/${threadId}`,
    '/executions',
    `/executions/${executionId}`,
    `/executions/${executionId}?tab=raw`,
    '/data/product',
  ]) {
    const page = await open(path);
    await page.waitForLoadState('networkidle');
    expect([path, await page.evaluate('window.hurt'), complaints]).toEqual([path, undefined, []]);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    await page.close();
  }
});

inBrowser('without a connection the page says so and keeps what it shows', async () => {
  const { threadId } = await chat('still here');
  const page = await open(`/conversations/${threadId}`);
  await page.getByText('The answer is 42.').waitFor();
  await context.setOffline(true);
  await page.getByText(/^No connection\. Trying again in \d+ s\.$/).waitFor({ timeout: 20_000 });
  expect(await page.getByText('The answer is 42.').count()).toBe(1);
  await context.setOffline(false);
  await page.getByText(/^No connection/).waitFor({ state: 'detached', timeout: 20_000 });
});

describe('looks', () => {
  const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
  const views = [
    [1440, 'light', 'en-US'],
    [1440, 'dark', 'es-CL'],
    [390, 'light', 'es-CL'],
    [390, 'dark', 'en-US'],
  ] as const;
  test.each(views)(
    'at %i px, %s, in %s, axe finds nothing serious and nothing is wider than the page',
    async (width, colorScheme, locale) => {
      if (browser === null) return;
      await context.close();
      context = await browser.newContext({
        storageState: session,
        viewport: { width, height: 844 },
        colorScheme,
        locale,
        bypassCSP: true,
      });
      const { threadId, executionId } = await chat('A message');
      const screens = [
        '',
        '/conversations',
        `/conversations/${threadId}`,
        '/executions',
        `/executions/${executionId}`,
        '/data',
        '/data/product',
        '/data/product?entity=new',
      ];
      for (const path of screens) {
        const page = await open(path);
        await page.waitForLoadState('networkidle');
        await page.evaluate(axe);
        const { violations } = (await page.evaluate('axe.run()')) as {
          violations: { id: string; impact: string; nodes: { html: string; failureSummary: string }[] }[];
        };
        const grave = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
        expect([
          path,
          grave.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html + node.failureSummary).join('\n')}`),
        ]).toEqual([path, []]);
        expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
        if (process.env.PARLEY_SCREENSHOTS) {
          mkdirSync(process.env.PARLEY_SCREENSHOTS, { recursive: true });
          const name = path.replace(threadId, 'open').replace(executionId, 'open').replaceAll(/\W+/g, '-');
          await page.screenshot({
            path: join(process.env.PARLEY_SCREENSHOTS, `console${name}-${width}-${colorScheme}.png`),
          });
        }
        await page.close();
      }
    },
  );
});
