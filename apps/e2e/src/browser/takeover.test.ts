import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '@parley/testing';
import { inBrowser } from './console-kit';
import { useWhatsappShop } from './whatsapp-shop';

/** A person answers customers on WhatsApp, from the console. */
const shop = useWhatsappShop();
const { app } = shop;

const picture = readFileSync(join(__dirname, '../../../../apps/console/public/icon-192.png'));
/** The texts that a customer has received, in order. */
const received = (customer: string) =>
  shop
    .kapso()
    .sent.filter(({ body }) => body.to === customer)
    .map(({ body }) => (body.text as { body: string } | undefined)?.body ?? String(body.type));
const sentId = (customer: string, text: string) =>
  shop
    .kapso()
    .sent.find(
      ({ body }) => body.to === customer && (body.text as { body?: string })?.body === text,
    )!.id;

inBrowser(
  'a conversation that waits is taken over by a reply, which is sent once; its ticks are those of WhatsApp; the agent gets it back with a note',
  async () => {
    const customer = shop.newCustomer();
    app.model.play(({ messages }) =>
      messages.some(({ role }) => role === 'tool')
        ? { text: 'A person will answer you.' }
        : {
            toolCalls: [
              { id: 'call_1', name: 'thread_handoff', args: { reason: 'asks for a refund' } },
            ],
          },
    );
    await shop.write(customer, 'My order 1042 is broken');
    const threadId = await shop.threadOf(customer);
    const page = await app.open('/conversations');
    const row = page.getByRole('link', { name: new RegExp('asks for a refund') });
    await row.waitFor({ timeout: 30_000 });
    expect(await row.innerText()).toMatch(/waiting 1 min/);
    await row.click();
    await page.getByText('Waiting for a person: asks for a refund').waitFor();
    await page.getByLabel('Reply').fill('I am sorry. We send a new one.');
    await page.keyboard.press('Control+Enter');
    await page.keyboard.press('Control+Enter');
    await page.getByText('You are answering').waitFor();
    await until(() => received(customer).includes('I am sorry. We send a new one.'));
    const bubble = page.getByRole('log').locator('li', { hasText: 'I am sorry.' });
    await bubble.getByText('sent', { exact: true }).waitFor();
    for (const status of ['delivered', 'read'] as const) {
      await shop.report(sentId(customer, 'I am sorry. We send a new one.'), customer, status);
      await bubble.getByText(status, { exact: true }).waitFor({ timeout: 15_000 });
    }

    // During the takeover the agent stays silent, and what the contact writes is shown.
    await shop.write(customer, 'Thank you! https://shop.example/order/1042 or javascript:alert(1)');
    const link = page
      .getByRole('log')
      .getByRole('link', { name: 'https://shop.example/order/1042' });
    await link.waitFor({ timeout: 15_000 });
    expect(await link.getAttribute('rel')).toBe('noopener noreferrer');
    expect(await page.getByRole('log').getByRole('link').count()).toBe(1);

    app.model.play(() => ({ text: 'The refund is on its way.' }));
    app.model.requests.length = 0;
    await page.getByRole('button', { name: 'Hand back' }).click();
    await page.getByRole('dialog').getByRole('textbox').fill('Refund of 24.990 was approved');
    await page.getByRole('dialog').getByRole('button', { name: 'Hand back' }).click();
    await page.getByText('If you reply, you take over.').waitFor();
    await until(() => received(customer).includes('The refund is on its way.'), {
      limitMs: 20_000,
    });
    expect(JSON.stringify(app.model.requests.at(-1)!.messages)).toContain(
      'Refund of 24.990 was approved',
    );
    await page.getByRole('log').getByText('The refund is on its way.').waitFor({ timeout: 15_000 });
    expect(received(customer).filter((text) => text.startsWith('I am sorry'))).toHaveLength(1);
    expect(
      (await shop.messagesOf(threadId)).filter(({ content }) => content.startsWith('I am sorry')),
    ).toHaveLength(1);

    // The messages can be loaded before the reply is in the outbox, and those of the
    // channel after it.
    await page.route(/\/v1\/threads\/[^/]+\/messages/, async (route) => {
      const response = await route.fetch();
      const list = (await response.json()) as { data: object[] };
      await route.fulfill({
        response,
        json: { ...list, data: list.data.map((one) => ({ ...one, delivery: null })) },
      });
    });
    await bubble.getByText('read', { exact: true }).waitFor({ state: 'hidden', timeout: 15_000 });
    expect(await page.getByRole('log').getByText('The refund is on its way.').count()).toBe(1);
    expect(app.complaints).toEqual([]);
  },
  120_000,
);

inBrowser(
  'what a customer sends is shown: a picture, a voice note with its transcript, a document, a place, a reaction, a contact',
  async () => {
    const customer = shop.newCustomer();
    const file = (name: string) => `${shop.kapso().url}/media/${name}`;
    Object.assign(shop.kapso().media, {
      'photo.png': { status: 200, body: picture, headers: { 'Content-Type': 'image/png' } },
      'voice.ogg': {
        status: 200,
        body: Buffer.from('OggS voice'),
        headers: { 'Content-Type': 'audio/ogg' },
      },
      'bill.pdf': {
        status: 200,
        body: Buffer.from('%PDF-1.4 bill'),
        headers: { 'Content-Type': 'application/pdf' },
      },
    });
    await shop.write(customer, 'Hello');
    const threadId = await shop.threadOf(customer);
    await until(() => received(customer).length > 0);
    await app.owner.post(`/v1/threads/${threadId}/takeover`, {});
    await shop.send(
      customer,
      'image',
      { caption: 'My receipt' },
      { media_url: file('photo.png'), media_data: { filename: 'photo.png' } },
    );
    await shop.send(
      customer,
      'image',
      {},
      { media_url: file('photo.png'), media_data: { filename: 'second.png' } },
    );
    await shop.send(
      customer,
      'audio',
      { voice: true },
      { media_url: file('voice.ogg'), transcript: { text: 'Where is my order?' } },
    );
    await shop.send(
      customer,
      'document',
      {},
      { media_url: file('bill.pdf'), media_data: { filename: 'bill.pdf' } },
    );
    await shop.send(customer, 'location', {
      latitude: -33.4372,
      longitude: -70.6506,
      name: 'Plaza',
    });
    await shop.send(customer, 'contacts', [
      { name: { formatted_name: 'Luis' }, phones: [{ phone: '+56 9 7' }] },
    ]);
    const answer = shop.kapso().sent.find(({ body }) => body.to === customer)!;
    await shop.send(customer, 'reaction', { message_id: answer.id, emoji: '👍' });

    const page = await app.open(`/conversations/${threadId}`);
    const log = page.getByRole('log');
    await log.getByRole('img', { name: 'photo.png' }).waitFor({ timeout: 30_000 });
    await log.getByRole('img', { name: 'second.png' }).waitFor({ timeout: 30_000 });
    await log.getByText('My receipt', { exact: true }).waitFor();
    expect(await log.innerText()).not.toContain('/media/');
    await log.locator('audio').waitFor({ timeout: 30_000 });
    await log.getByText('Where is my order?').waitFor();
    await log.getByText('Plaza').waitFor();
    expect(await log.getByRole('link', { name: 'Open the map' }).getAttribute('rel')).toBe(
      'noopener noreferrer',
    );
    await log.getByText('Luis').waitFor();
    await log.getByText('Reacted with 👍').waitFor();
    // Pictures got their height after the end was reached, and the end is still shown.
    const belowEnd =
      '(({ scrollHeight, scrollTop, clientHeight }) => scrollHeight - scrollTop - clientHeight)';
    await until(
      async () =>
        ((await page.evaluate(`${belowEnd}(document.querySelector('[role="log"]'))`)) as number) <
        2,
    );
    const download = page.waitForEvent('download');
    await log.getByTitle('Download bill.pdf').click();
    expect((await download).suggestedFilename()).toBe('bill.pdf');
    expect(app.complaints).toEqual([]);
  },
  120_000,
);

inBrowser(
  'a picture is sent with a text after a preview; a file that is too large is refused with its size',
  async () => {
    const customer = shop.newCustomer();
    await shop.write(customer, 'Do you have a picture?');
    const threadId = await shop.threadOf(customer);
    await until(() => received(customer).length > 0);
    const page = await app.open(`/conversations/${threadId}`);
    await page.getByLabel('Reply').fill('Here it is');
    const input = page.locator('input[type="file"]:not([capture])');
    await input.setInputFiles({
      name: 'huge.bin',
      mimeType: 'application/octet-stream',
      buffer: Buffer.alloc(11_000_000),
    });
    await page
      .getByRole('alert')
      .getByText('huge.bin is 11 MB. At most 10.5 MB can be sent.')
      .waitFor();
    await input.setInputFiles({ name: 'tent.png', mimeType: 'image/png', buffer: picture });
    await page.getByRole('img', { name: 'Preview of tent.png' }).waitFor();
    await page.getByRole('button', { name: 'Remove the file' }).click();
    // Pasted, as from a screenshot.
    await page.evaluate(`{
    const data = new DataTransfer();
    data.items.add(new File([new Uint8Array(${JSON.stringify([...picture])})], 'pasted.png', { type: 'image/png' }));
    const paste = new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true });
    document.querySelector('textarea').dispatchEvent(paste);
  }`);
    await page.getByRole('img', { name: 'Preview of pasted.png' }).waitFor();
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await until(() => received(customer).includes('image'), { limitMs: 20_000 });
    const sent = shop
      .kapso()
      .sent.find(({ body }) => body.to === customer && body.type === 'image')!;
    expect(sent.body.image).toMatchObject({ caption: 'Here it is' });
    const upload = shop.kapso().uploads.at(-1)!;
    expect([upload.contentType, upload.bytes.equals(picture)]).toEqual(['image/png', true]);
    await page
      .getByRole('log')
      .getByRole('img', { name: 'pasted.png' })
      .waitFor({ timeout: 15_000 });
    await page.getByRole('img', { name: /^Preview/ }).waitFor({ state: 'detached' });
    expect(app.complaints).toEqual([]);
  },
);

inBrowser(
  'after 24 hours only a template can be sent, with its values, and half a reply is kept',
  async () => {
    shop.kapso().templates = [
      {
        name: 'order_ready',
        language: 'es',
        status: 'APPROVED',
        components: [
          { type: 'BODY', text: 'Hola {{1}}, su pedido {{2}} está listo.' },
          {
            type: 'BUTTONS',
            buttons: [{ type: 'URL', text: 'Ver', url: 'https://shop.example/{{1}}' }],
          },
        ],
      },
      { name: 'refused', language: 'es', status: 'REJECTED', components: [] },
    ];
    const customer = shop.newCustomer();
    await shop.write(customer, 'When is it ready?');
    const threadId = await shop.threadOf(customer);
    await until(() => received(customer).length > 0);
    await app.tenant.query(
      "update messages set created_at = created_at - interval '25 hours' where tenant = $1 and contact = $2",
      [app.tenant.scope.tenant, customer],
    );
    const page = await app.open(`/conversations/${threadId}`);
    await page.getByText('WhatsApp accepts only templates').waitFor();
    await page.getByLabel('Reply').fill('Is anyone there?');
    expect(await page.getByRole('button', { name: 'Send', exact: true }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Choose a template' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Hola {{1}}, su pedido {{2}} está listo.').waitFor();
    expect(await dialog.getByRole('option').allInnerTexts()).toEqual(['order_ready (es)']);
    await dialog.getByLabel('Value 1').first().fill('Ana');
    await dialog.getByLabel('Value 2').fill('1042');
    await dialog.getByText('Hola Ana, su pedido 1042 está listo.').waitFor();
    await dialog.getByLabel('Value 1').last().fill('o/1042');
    await dialog.getByRole('button', { name: 'Send template' }).click();
    await until(() => received(customer).includes('template'), { limitMs: 20_000 });
    const { body } = shop
      .kapso()
      .sent.find((one) => one.body.to === customer && one.body.type === 'template')!;
    expect(body.template).toMatchObject({
      name: 'order_ready',
      components: [
        { type: 'body', parameters: [{ text: 'Ana' }, { text: '1042' }] },
        { type: 'button', sub_type: 'url', index: '0', parameters: [{ text: 'o/1042' }] },
      ],
    });
    await page.getByRole('log').getByText('Template: order_ready').waitFor({ timeout: 15_000 });
    expect(await page.getByLabel('Reply').inputValue()).toBe('Is anyone there?');
  },
);

inBrowser(
  'a message that WhatsApp refuses stays with its reason, and is sent again; one in doubt says that it may arrive twice',
  async () => {
    const customer = shop.newCustomer();
    await shop.write(customer, 'Hello');
    const threadId = await shop.threadOf(customer);
    await until(() => received(customer).length > 0);
    const page = await app.open(`/conversations/${threadId}`);
    shop.kapso().faults.push('refused');
    await page.getByLabel('Reply').fill('first');
    await page.keyboard.press('Control+Enter');
    const first = page.getByRole('log').locator('li', { hasText: 'first' });
    await first.getByText(/^Not delivered: .*undeliverable/).waitFor({ timeout: 20_000 });
    await first.getByRole('button', { name: 'Try again' }).click();
    await until(() => received(customer).includes('first'), { limitMs: 20_000 });
    await first.getByText('sent', { exact: true }).waitFor({ timeout: 15_000 });

    await page.getByLabel('Reply').fill('second');
    await page.keyboard.press('Control+Enter');
    await until(() => received(customer).includes('second'), { limitMs: 20_000 });
    const second = page.getByRole('log').locator('li', { hasText: 'second' });
    await second.getByText('sent', { exact: true }).waitFor({ timeout: 15_000 });
    await app.tenant.query(
      "update messages set status = 'unknown', message_id = null where tenant = $1 and text = 'second'",
      [app.tenant.scope.tenant],
    );
    await second.getByText('Sending it again may deliver it twice.').waitFor({ timeout: 15_000 });
    await second.getByRole('button', { name: 'Send again' }).click();
    await until(() => received(customer).filter((text) => text === 'second').length === 2, {
      limitMs: 20_000,
    });
    expect(await page.getByRole('log').getByText('second', { exact: true }).count()).toBe(1);
  },
);

inBrowser(
  'the card shows who the contact is: number, entity and its orders, and leads to them in Data',
  async () => {
    const customer = shop.newCustomer();
    const { body } = await app.owner.post('/v1/data/customer', {
      data: { name: 'Camila Rojas', phone: `+${customer}` },
    });
    const { id } = body as { id: string };
    await app.owner.post('/v1/data/order', { data: { number: 'A-1042', customer: id } });
    await shop.write(customer, 'Hello');
    const page = await app.open(`/conversations/${await shop.threadOf(customer)}`);
    const card = page.getByRole('complementary', { name: 'Contact' });
    await card.getByText(`+${customer}`).first().waitFor();
    await card.getByText('Camila Rojas').waitFor();
    await card.getByLabel('Add a label').fill('vip');
    await card.getByLabel('Add a label').press('Enter');
    await card.getByRole('button', { name: 'Remove vip' }).waitFor();
    await card.getByLabel('Assigned to').selectOption({ label: 'Ana Pérez' });
    await until(async () => {
      const thread = (await app.owner.get(`/v1/threads/whatsapp:${customer}`)).body as {
        assigneeId: string | null;
        labels: string[];
      };
      return thread.assigneeId !== null && thread.labels.includes('vip');
    });
    await card.getByRole('link', { name: /A-1042/ }).click();
    await page.waitForURL('**/data/order?*');
    expect(app.complaints).toEqual([]);
  },
);
