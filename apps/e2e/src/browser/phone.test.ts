import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '@parley/testing';
import { chromium } from 'playwright-core';
import { push } from '../client';
import { browserArgs, executablePath } from '../open-browser';
import { inBrowser, useConsole } from './console-kit';
import { chatWithShop, pushShop } from './shop';

/** The console as an app of a phone. */
const app = useConsole();
beforeAll(async () => {
  await pushShop(app.owner);
  await push(app.owner, {
    agents: [
      {
        slug: 'helper',
        name: 'Helper',
        systemPrompt: 'You help.',
        model: 'openai/gpt-5-mini',
        tools: ['thread.handoff'],
      },
    ],
  });
});
const phone = { width: 390, locale: 'es-CL' } as const;

inBrowser('Chromium finds nothing that prevents the installation', async () => {
  // A private window cannot install anything, so this one has a profile.
  const profile = mkdtempSync(join(tmpdir(), 'parley-profile-'));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath,
    args: browserArgs,
  });
  try {
    const [page] = context.pages();
    await page!.goto(app.base());
    const session = await context.newCDPSession(page!);
    const manifest = await session.send('Page.getAppManifest');
    expect(manifest.errors).toEqual([]);
    const { installabilityErrors } = await session.send('Page.getInstallabilityErrors');
    expect(installabilityErrors).toEqual([]);
    const { start_url, shortcuts, icons } = JSON.parse(manifest.data!) as {
      start_url: string;
      shortcuts: { url: string }[];
      icons: { src: string; type: string }[];
    };
    for (const { src, type } of [...icons, { src: 'apple-touch-icon.png', type: 'image/png' }]) {
      const response = await fetch(new URL(src, manifest.url));
      expect([src, response.status, response.headers.get('content-type')]).toEqual([
        src,
        200,
        type,
      ]);
    }
    const opened = await app.open('', phone);
    for (const url of [start_url, ...shortcuts.map((one) => one.url)]) {
      await opened.goto(app.stack.url + url);
      await opened.waitForURL(`${app.base()}**`);
    }
  } finally {
    await context.close();
    rmSync(profile, { recursive: true, force: true });
  }
});

inBrowser(
  'list, conversation and contact are pages; back, a swipe and the arrow lead from one to the other',
  async () => {
    await chatWithShop(app, '¿Tienen carpas?', { externalThreadId: 'carpas-1' });
    const page = await app.open('/conversations', phone);
    const row = page.getByRole('link', { name: /carpas-1/ });
    await row.tap();
    const reply = page.getByRole('textbox', { name: 'Respuesta' });
    await reply.waitFor();
    expect(await row.isVisible()).toBe(false);
    expect(await page.getByRole('navigation', { name: 'Principal' }).count()).toBe(0);
    // The box is at the end of the page, and nothing hides it.
    const box = (await page.getByRole('button', { name: 'Enviar' }).boundingBox())!;
    expect(box.height).toBeGreaterThanOrEqual(44);
    expect(box.y + box.height).toBeLessThanOrEqual(844);
    expect(box.y).toBeGreaterThan(750);
    const fontSize = "getComputedStyle(document.querySelector('textarea')).fontSize";
    expect(await page.evaluate(fontSize)).toBe('16px');
    await page.getByRole('button', { name: 'Contacto' }).tap();
    await page.getByRole('complementary', { name: 'Contacto' }).waitFor();
    expect(await reply.isVisible()).toBe(false);
    await page.reload();
    await page.getByRole('complementary', { name: 'Contacto' }).waitFor();
    await page.getByRole('button', { name: 'Volver a la conversación' }).tap();
    await reply.waitFor();

    const session = await page.context().newCDPSession(page);
    const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', x: number, y = 400) =>
      session.send('Input.dispatchTouchEvent', {
        type,
        touchPoints: type === 'touchEnd' ? [] : [{ x, y }],
      });
    // What the page prevents is not also a swipe of the browser, which would go back a second time.
    await page.evaluate(
      "moves = []; addEventListener('touchmove', (event) => moves.push(event.defaultPrevented))",
    );
    await touch('touchStart', 60);
    for (const x of [100, 160, 220]) await touch('touchMove', x);
    expect(new Set(await page.evaluate<boolean[]>('moves'))).toEqual(new Set([true]));
    await touch('touchEnd', 220);
    await row.waitFor();
    await page.goForward();
    await reply.waitFor();
    await page.getByRole('button', { name: 'Volver a la lista' }).tap();
    await row.waitFor();
    expect(await page.getByRole('navigation', { name: 'Principal' }).isVisible()).toBe(true);
    expect(app.complaints).toEqual([]);
  },
);

inBrowser('a link to a conversation has a way back to the list', async () => {
  const { threadId } = await chatWithShop(app, 'Hola', { externalThreadId: 'enlace-1' });
  const page = await app.open(`/conversations/${threadId}?contact=true`, phone);
  await page.getByRole('button', { name: 'Volver a la conversación' }).tap();
  await page.getByRole('textbox', { name: 'Respuesta' }).waitFor();
  await page.getByRole('button', { name: 'Volver a la lista' }).tap();
  await page.getByRole('link', { name: /enlace-1/ }).waitFor();
});

inBrowser(
  'a keyboard that hides a part of the page leaves the box of the reply above it',
  async () => {
    const { threadId } = await chatWithShop(app, 'Hola');
    const page = await app.open(`/conversations/${threadId}`, phone);
    const send = page.getByRole('button', { name: 'Enviar' });
    await send.waitFor();
    const hide = (hiddenPx: number) =>
      page.evaluate(`Object.defineProperty(visualViewport, 'height', { value: innerHeight - ${hiddenPx}, configurable: true });
      visualViewport.dispatchEvent(new Event('resize'))`);
    await hide(300);
    await until(async () => (await send.boundingBox())!.y < 844 - 300 - 40);
    await hide(0);
    await until(async () => (await send.boundingBox())!.y > 750);
  },
);

inBrowser('the app shows how many conversations wait, as a badge of its icon', async () => {
  app.model.play(({ messages }) =>
    messages.some(({ role }) => role === 'tool')
      ? { text: 'Un momento.' }
      : {
          toolCalls: [
            { id: 'call_1', name: 'thread_handoff', args: { reason: 'quiere un reembolso' } },
          ],
        },
  );
  await app.owner.post('/v1/agents/helper/chat', { message: 'Quiero mi dinero' });
  const page = await app.open('', phone);
  await page.addInitScript('navigator.setAppBadge = async (count) => void (window.badge = count)');
  await page.reload();
  await until(async () => (await page.evaluate('window.badge')) === 1, { limitMs: 15_000 });
  await page.goto(`${app.stack.url}/console/?screen=waiting`);
  await page.getByText('quiere un reembolso').waitFor();
});

inBrowser('a session is kept for 30 days on a phone, unless the person declines', async () => {
  const person = await app.join('member', 'Luis Soto');
  const page = await app.open('', { ...phone, as: null });
  await page.getByLabel('Correo electrónico').fill(person.email);
  await page.getByLabel('Contraseña').fill('otra contraseña');
  const keep = page.getByRole('checkbox', { name: /30 días/ });
  expect(await keep.isChecked()).toBe(true);
  await page.getByRole('button', { name: 'Iniciar sesión' }).click();
  await page
    .getByRole('alert')
    .getByText('El correo electrónico o la contraseña no son correctos.')
    .waitFor();
  await page.getByLabel('Contraseña').fill(person.password);
  const sent = page.waitForRequest(
    (request) => request.method() === 'POST' && request.url().endsWith('/v1/sessions'),
  );
  await page.getByRole('button', { name: 'Iniciar sesión' }).click();
  expect((await sent).postDataJSON()).toMatchObject({ keepSignedIn: true });
  await page.waitForURL(`${app.base()}**`);
  await page.getByRole('navigation', { name: 'Principal' }).first().waitFor({ state: 'attached' });
  const [cookie] = (await page.context().cookies()).filter(({ name }) => name === 'parley_session');
  const daysLeft = (cookie!.expires - Date.now() / 1_000) / 86_400;
  expect(daysLeft).toBeGreaterThan(29.9);

  const desk = await app.open('', { as: null });
  expect(await desk.getByRole('checkbox', { name: /30 days/ }).isChecked()).toBe(false);
});
