import { until } from '@parley/testing';
import { inBrowser, useConsole } from './console-kit';
import { waitForContent } from './looks';
import { chatWithShop, pushShop } from './shop';

/** A tour with the keyboard alone. */
const app = useConsole();
beforeAll(async () => {
  await pushShop(app.owner);
  await chatWithShop(app, 'Do you have tents?');
});

/** The focused element as text, with whether its focus can be seen. */
const focused = `(() => {
  const at = document.activeElement;
  const style = getComputedStyle(at);
  const isSeen = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0;
  return { name: at.tagName + ' ' + (at.getAttribute('aria-label') ?? at.textContent ?? '').slice(0, 40), isSeen };
})()`;

inBrowser(
  'a person signs in, reaches every screen by its keys or the palette, and never loses the focus',
  async () => {
    const page = await app.open('', { as: null });
    await page.getByLabel('E-mail address').waitFor();
    await page.keyboard.type(app.admin.email);
    await page.keyboard.press('Tab');
    await page.keyboard.type(app.admin.password);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    const byKeys = {
      i: 'Conversations',
      p: 'Playground',
      x: 'Executions',
      d: 'Data',
      t: 'Triggers',
      w: 'Webhooks',
      a: 'Agents',
      h: 'Home',
    };
    for (const [key, name] of Object.entries(byKeys)) {
      // The playground begins in its text field, which Escape leaves.
      await page.keyboard.press('Escape');
      await page.keyboard.press('g');
      await page.keyboard.press(key);
      await page.getByRole('heading', { name, level: 1 }).waitFor();
      await waitForContent(page);
    }
    for (const name of [
      'Routers',
      'Roles',
      'Tools',
      'Payments',
      'E-mails',
      'Keys',
      'Members',
      'Integrations',
      'Channels',
      'Tool secrets',
      'Audit log',
      'Settings',
    ]) {
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: 'Go to…' }).waitFor();
      await page.keyboard.type(name);
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name, level: 1 }).waitFor();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    }
    const unseen = new Set<string>();
    for (const key of ['h', 'i', 'd']) {
      await page.keyboard.press('Escape');
      await page.keyboard.press('g');
      await page.keyboard.press(key);
      await waitForContent(page);
      for (let tab = 0; tab < 40; tab++) {
        await page.keyboard.press('Tab');
        const { name, isSeen } = (await page.evaluate(focused)) as {
          name: string;
          isSeen: boolean;
        };
        // At the end the focus leaves the page for the browser, where it is the body.
        if (!isSeen && !name.startsWith('BODY')) unseen.add(`${key}: ${name}`);
      }
    }
    expect([...unseen]).toEqual([]);
    expect(app.complaints).toEqual(expect.not.arrayContaining([expect.stringMatching(/^(?!401)/)]));
  },
);

inBrowser(
  'what a button opens is closed with Escape, and the focus returns to the button',
  async () => {
    const page = await app.open('/data/product');
    for (const [button, opened] of [
      ['Import', page.getByRole('dialog')],
      ['Export', page.getByRole('dialog')],
      ['Create entity', page.getByRole('heading', { name: 'New: Product' })],
    ] as const) {
      const opener = page.getByRole('button', { name: button }).first();
      await opener.focus();
      await page.keyboard.press('Enter');
      await opened.waitFor();
      expect(await opener.evaluate((element) => element === document.activeElement)).toBe(false);
      await page.keyboard.press('Escape');
      // In a form beside the screen the first one leaves its field.
      if (button === 'Create entity') await page.keyboard.press('Escape');
      await opened.waitFor({ state: 'detached' });
      await until(() => opener.evaluate((element) => element === document.activeElement));
      expect(new URL(page.url()).pathname).toMatch(/\/data\/product$/);
    }
    expect(app.complaints).toEqual([]);
  },
);
