import { until } from '@parley/testing';
import type { Route } from 'playwright-core';
import { inBrowser, useConsole } from './console-kit';
import { chatWithShop, pushShop } from './shop';

const app = useConsole();
beforeAll(() => pushShop(app.owner));

inBrowser(
  'a person takes a conversation over, replies, adds a note and hands it back, with the keyboard alone',
  async () => {
    const { threadId } = await chatWithShop(app, 'Do you have tents?', { externalThreadId: 'ana-1' });
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
    await page.getByText('Likes blue').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('heading', { name: 'ana-1' }).click();
    await page.keyboard.press('e');
    await page.getByRole('dialog').getByRole('textbox').fill('Offer the blue one');
    await page.getByRole('dialog').getByRole('button', { name: 'Hand back' }).click();
    await page.getByText('A reply takes the conversation over.').waitFor();
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

inBrowser(
  'a reply whose answer is lost is stored once, over a reload; one to a thread that has changed is not sent',
  async () => {
    const { threadId } = await chatWithShop(app, 'hello');
    const page = await app.open(`/conversations/${threadId}`);
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
      ((await app.owner.get(`/v1/threads/${threadId}/messages`)).body as { data: { content: string }[] }).data.map(
        ({ content }) => content,
      );
    expect((await stored()).filter((content) => content === 'once')).toHaveLength(1);

    await page.route(`**/v1/threads/${threadId}/messages**`, (route) =>
      route.request().method() === 'GET' ? route.abort() : route.fallback(),
    );
    await app.owner.post(`/v1/threads/${threadId}/resume`, {});
    await app.owner.post('/v1/agents/shop/chat', { threadId, message: 'wait!' });
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
