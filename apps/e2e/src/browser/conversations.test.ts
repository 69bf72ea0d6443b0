import { until } from '@parley/testing';
import type { Route } from 'playwright-core';
import { inBrowser, useConsole } from './console-kit';
import { chatWithShop, pushShop } from './shop';

const app = useConsole();
beforeAll(() => pushShop(app.owner));

inBrowser(
  'a person takes a conversation over, replies, adds a note and hands it back, with the keyboard alone',
  async () => {
    const { threadId } = await chatWithShop(app, 'Do you have tents?', {
      externalThreadId: 'ana-1',
    });
    const page = await app.open('/conversations');
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
    await until(async () => (await contents(threadId)).includes('Likes blue'));
    await page.keyboard.press('Escape');
    await page.getByRole('heading', { name: 'ana-1' }).click();
    await page.keyboard.press('e');
    await page.getByRole('dialog').getByRole('textbox').fill('Offer the blue one');
    await page.getByRole('dialog').getByRole('button', { name: 'Hand back' }).click();
    await page.getByText('If you reply, you take over.').waitFor();
    const { data } = (await app.owner.get(`/v1/threads/${threadId}/messages`)).body as {
      data: { role: string; content: string }[];
    };
    expect(data.map(({ role, content }) => [role, content])).toEqual([
      ['system', 'Offer the blue one'],
      ['note', 'Likes blue'],
      ['assistant', 'Yes, we do.\nAna'],
      ['assistant', 'The answer is 42.'],
      ['user', 'Do you have tents?'],
    ]);
    expect(app.complaints).toEqual([]);
  },
);

inBrowser('a long message is cut, and a button shows all of it', async () => {
  const { threadId } = await chatWithShop(app, `Begin ${'word '.repeat(14_000)} the very end`);
  const page = await app.open(`/conversations/${threadId}`);
  await page.getByText('Begin word').first().waitFor();
  expect(await page.getByText('the very end').count()).toBe(0);
  await page.getByRole('button', { name: 'Show all of the text' }).click();
  await page.getByText('the very end').waitFor();
  expect(await page.getByRole('button', { name: 'Show all of the text' }).count()).toBe(0);
  expect(app.complaints).toEqual([]);
});

inBrowser(
  'a reply whose answer is lost is stored once, over a reload; one to a thread that has changed is not sent',
  async () => {
    const { threadId } = await chatWithShop(app, 'hello');
    const page = await app.open(`/conversations/${threadId}`);
    await page.getByText('The answer is 42.').waitFor();
    let attempts = 0;
    const isSeen = Promise.withResolvers<void>();
    const lose = async (route: Route) => {
      if (route.request().method() !== 'POST') return route.fallback();
      attempts += 1;
      if (attempts <= 2) {
        await route.fetch();
        return route.abort();
      }
      await isSeen.promise;
      return route.fallback();
    };
    await page.route(`**/v1/threads/${threadId}/messages`, lose);
    await page.getByLabel('Reply').fill('once');
    await page.keyboard.press('Control+Enter');
    await page.getByText('Sending…').waitFor();
    await page.reload();
    // Stored after it, the reply would take the conversation over again.
    await page.getByRole('button', { name: 'Hand back' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Your replies are being sent first.').waitFor();
    expect(await dialog.getByRole('button', { name: 'Hand back' }).isDisabled()).toBe(true);
    isSeen.resolve();
    await dialog.getByText('The agent answers again.').waitFor();
    await page.keyboard.press('Escape');
    await until(
      async () =>
        (await page.getByText('once', { exact: true }).count()) === 1 &&
        (await page.getByText('Sending…').count()) === 0,
      { limitMs: 20_000 },
    );
    const stored = () => contents(threadId);
    expect((await stored()).filter((content) => content === 'once')).toHaveLength(1);

    await page.route(`**/v1/threads/${threadId}/messages**`, (route) =>
      route.request().method() === 'GET' ? route.abort() : route.fallback(),
    );
    await app.owner.post(`/v1/threads/${threadId}/resume`, {});
    await app.owner.post('/v1/agents/shop/chat', { threadId, message: 'wait!' });
    await page.getByLabel('Reply').fill('too late');
    await page.keyboard.press('Control+Enter');
    await page.getByText('There is a newer message.').waitFor();
    expect(await stored()).not.toContain('too late');
    await page.unroute(`**/v1/threads/${threadId}/messages**`);
    await page.getByRole('log').getByText('wait!').waitFor({ timeout: 15_000 });
    await page.getByRole('button', { name: 'Try again' }).click();
    await until(async () => (await stored()).includes('too late'));
  },
);

const contents = async (threadId: string) =>
  (
    (await app.owner.get(`/v1/threads/${threadId}/messages`)).body as {
      data: { content: string }[];
    }
  ).data.map(({ content }) => content);

inBrowser('two replies that are written quickly are stored in their order', async () => {
  const { threadId } = await chatWithShop(app, 'hello');
  const page = await app.open(`/conversations/${threadId}`);
  await page.getByText('The answer is 42.').waitFor();
  let release = () => {};
  const areWritten = new Promise<void>((resolve) => (release = resolve));
  await page.route(`**/v1/threads/${threadId}/messages`, async (route) => {
    if (route.request().method() === 'POST') await areWritten;
    await route.fallback();
  });
  for (const text of ['one', 'two', 'three']) {
    await page.getByLabel('Reply').fill(text);
    await page.keyboard.press('Control+Enter');
  }
  await page.getByText('Queued').nth(1).waitFor();
  release();
  await until(async () => (await contents(threadId)).length === 5, { limitMs: 20_000 });
  expect((await contents(threadId)).slice(0, 3)).toEqual(['three', 'two', 'one']);
  expect(app.complaints).toEqual([]);
});

inBrowser(
  'a reply that is written while the session has ended is sent after the next sign-in; a note stays a note over a reload',
  async () => {
    const { threadId } = await chatWithShop(app, 'hello');
    const page = await app.open(`/conversations/${threadId}`);
    await page.getByText('The answer is 42.').waitFor();
    await page.route('**/v1/**', (route) =>
      route.request().method() === 'GET' ? route.abort() : route.fallback(),
    );
    await page.context().clearCookies();
    await page.getByLabel('Reply').fill('after the session');
    await page.keyboard.press('Control+Enter');
    await page.getByText('Sending…').waitFor();
    await page.unroute('**/v1/**');
    await page.getByText('Your session has ended.').waitFor({ timeout: 20_000 });
    expect(await contents(threadId)).not.toContain('after the session');
    await page.getByLabel('E-mail address').fill(app.admin.email);
    await page.getByLabel('Password').fill(app.admin.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await until(async () => (await contents(threadId)).includes('after the session'), {
      limitMs: 20_000,
    });
    await until(
      async () => (await page.getByRole('log').getByText('after the session').count()) === 1,
    );

    await page.getByRole('button', { name: 'Note' }).click();
    await page.getByRole('textbox', { name: 'Note' }).fill('only for us');
    await page.reload();
    expect(await page.getByRole('textbox', { name: 'Note' }).inputValue()).toBe('only for us');
    await page.getByRole('button', { name: 'Add note' }).waitFor();
  },
);

inBrowser(
  'two people see each other typing, and the second of two answers is held back',
  async () => {
    const { threadId } = await chatWithShop(app, 'Is it open today?');
    const luis = await app.join('member', 'Luis Soto');
    const [mine, theirs] = [
      await app.open(`/conversations/${threadId}`),
      await app.open(`/conversations/${threadId}`, { as: luis }),
    ];
    await mine.getByText('Also here: Luis Soto').waitFor({ timeout: 20_000 });
    await theirs.getByLabel('Reply').pressSequentially('Yes, until eight', { delay: 30 });
    await mine.getByText('Luis Soto is typing…').waitFor({ timeout: 15_000 });
    await mine.getByLabel('Reply').fill('Yes, until eight o’clock');
    // The page of the first person does not show the answer yet.
    await mine.route(`**/v1/threads/${threadId}/messages**`, (route) =>
      route.request().method() === 'GET' ? route.abort() : route.fallback(),
    );
    await theirs.keyboard.press('Control+Enter');
    await until(async () => (await contents(threadId)).includes('Yes, until eight'));
    await mine.keyboard.press('Control+Enter');
    await mine.getByText('There is a newer message.').waitFor();
    expect(await contents(threadId)).not.toContain('Yes, until eight o’clock');
    await mine.unroute(`**/v1/threads/${threadId}/messages**`);
    await mine
      .getByRole('log')
      .getByText('Yes, until eight', { exact: true })
      .waitFor({ timeout: 15_000 });
    await mine.getByText('Luis Soto is answering.').waitFor();
    // What was not sent is changed, or given up.
    await mine.getByRole('button', { name: 'Edit' }).click();
    expect(await mine.getByLabel('Reply').inputValue()).toBe('Yes, until eight o’clock');
    expect(await mine.getByText('There is a newer message.').count()).toBe(0);
  },
);

inBrowser(
  'a new message waits behind a button while a finger may be about to press a row, and rows change in their place',
  async () => {
    for (const name of ['steady-1', 'steady-2', 'steady-3'])
      await chatWithShop(app, `I am ${name}`, { externalThreadId: name });
    const page = await app.open('/conversations?q=steady', { width: 390 });
    const names = () =>
      page
        .getByRole('list', { name: 'Conversations' })
        .getByRole('link')
        .locator('span > span.text-base')
        .allInnerTexts();
    await until(async () => (await names()).length === 3);
    expect(await names()).toEqual(['steady-3', 'steady-2', 'steady-1']);
    await chatWithShop(app, 'A second message', { externalThreadId: 'steady-1' });
    await page.getByRole('button', { name: 'Show 1 new message' }).waitFor({ timeout: 15_000 });
    await page.getByText('A second message').waitFor();
    await page
      .getByRole('status')
      .getByText('New message from steady-1')
      .waitFor({ state: 'attached' });
    expect(await names()).toEqual(['steady-3', 'steady-2', 'steady-1']);
    await page.getByRole('button', { name: 'Show 1 new message' }).click();
    expect(await names()).toEqual(['steady-1', 'steady-3', 'steady-2']);
    expect(app.complaints).toEqual([]);
  },
);

inBrowser(
  'conversations are filtered by view, channel, agent, label and unread, and the address keeps the filters',
  async () => {
    const [one, other] = [
      await chatWithShop(app, 'first', { externalThreadId: 'filter-1' }),
      await chatWithShop(app, 'second', { externalThreadId: 'filter-2' }),
    ];
    await app.owner.patch(`/v1/threads/${one.threadId}`, { labels: ['vip'] });
    await app.owner.patch(`/v1/threads/${other.threadId}`, { status: 'closed' });
    const page = await app.open('/conversations?q=filter-');
    const rows = page.getByRole('list', { name: 'Conversations' }).getByRole('link');
    await page.getByRole('link', { name: /filter-1/ }).waitFor();
    expect(await rows.count()).toBe(1);
    await page.getByRole('link', { name: 'Closed', exact: true }).click();
    await page.getByRole('link', { name: /filter-2/ }).waitFor();
    expect(await rows.count()).toBe(1);
    await page.getByRole('link', { name: 'All', exact: true }).click();
    await until(async () => (await rows.count()) === 2);
    await page.getByRole('button', { name: 'Filters' }).click();
    await page.getByLabel('Label').fill('vip');
    await until(async () => (await rows.count()) === 1);
    await page.getByLabel('Agent', { exact: true }).selectOption('shop');
    await page.reload();
    await until(async () => (await rows.count()) === 1);
    expect(new URL(page.url()).searchParams.get('label')).toBe('vip');
    await page.getByLabel('Channel').selectOption('whatsapp');
    await page.getByText('No conversation matches the filters.').waitFor();
    await page.getByRole('main').getByRole('button', { name: 'Clear the filters' }).last().click();
    await page.getByRole('link', { name: /filter-1/ }).click();
    await page.getByText('The answer is 42.').waitFor();
    await page.goBack();
    await page.getByRole('button', { name: 'Filters' }).waitFor();
    expect(app.complaints).toEqual([]);
  },
);

inBrowser(
  'older messages of a long conversation are loaded without a jump, some at a time, and one button leads to the newest',
  async () => {
    const { threadId, executionId } = await chatWithShop(app, 'the beginning');
    // 600 messages are more than the page holds.
    await app.tenant.query(
      `insert into thread_messages (id, tenant, thread_id, execution_id, position, role, content, created_at)
       select 'msg_long_' || lpad(n::text, 4, '0'), tenant, thread_id, execution_id, 1000 + n, 'user',
              'message ' || n || repeat(E'\\nline', n % 4), now() + n * interval '1 millisecond'
       from thread_messages, generate_series(1, 600) n where execution_id = $1 and role = 'user'`,
      [executionId],
    );
    const page = await app.open(`/conversations/${threadId}`);
    const log = page.getByRole('log');
    await log.getByText('message 600', { exact: true }).waitFor();
    const held = () => log.locator('[data-item]').count();
    // Goes up, and returns how far the first visible message has moved when older ones are there.
    const scrollUp = `(async () => {
      const box = document.querySelector('[role="log"]');
      const items = () => [...box.querySelectorAll('[data-item]')];
      const wait = () => new Promise((resolve) => setTimeout(resolve, 50));
      box.scrollTop = Math.min(box.scrollTop, 400);
      await wait();
      const seen = items().find((item) => item.getBoundingClientRect().bottom > box.getBoundingClientRect().top + 10);
      if (seen === undefined) return 0;
      const [before, first] = [seen.getBoundingClientRect().top, items()[0]];
      for (let waits = 0; waits < 40 && items()[0] === first; waits++) await wait();
      return seen.isConnected ? Math.abs(seen.getBoundingClientRect().top - before) : 1_000;
    })()`;
    expect(await held()).toBeLessThanOrEqual(60);
    const jumps: number[] = [];
    for (
      let tries = 0;
      (await log.getByText('the beginning').count()) === 0 && tries < 60;
      tries++
    ) {
      const moved = (await page.evaluate(scrollUp)) as number;
      jumps.push(moved);
      expect(await held()).toBeLessThanOrEqual(320);
    }
    await log.getByText('the beginning').waitFor();
    expect(Math.max(...jumps)).toBeLessThan(4);
    await page.getByRole('button', { name: 'Newest messages' }).click();
    await log.getByText('message 600', { exact: true }).waitFor();
    expect(await held()).toBeLessThanOrEqual(60);
    expect(app.complaints).toEqual([]);
  },
  120_000,
);

inBrowser(
  'an error of the server leaves the reply in its place, and it is sent when the server answers',
  async () => {
    const { threadId } = await chatWithShop(app, 'hello');
    const member = await app.join('member', 'Camila Rojas');
    const page = await app.open(`/conversations/${threadId}`, { as: member });
    await page.getByText('The answer is 42.').waitFor();
    let isBroken = true;
    await page.route(`**/v1/threads/${threadId}/messages`, (route) =>
      isBroken && route.request().method() === 'POST'
        ? route.fulfill({
            status: 503,
            contentType: 'application/json',
            body: '{"error":"Down","code":"unavailable"}',
          })
        : route.fallback(),
    );
    await page.getByLabel('Reply').fill('when you are back');
    await page.keyboard.press('Control+Enter');
    await page.getByText('Waiting for the connection.').waitFor({ timeout: 20_000 });
    isBroken = false;
    await until(async () => (await contents(threadId)).includes('when you are back'), {
      limitMs: 20_000,
    });
    await page.getByText('Waiting for the connection.').waitFor({ state: 'detached' });
    expect((await contents(threadId)).filter((text) => text === 'when you are back')).toHaveLength(
      1,
    );
  },
);
