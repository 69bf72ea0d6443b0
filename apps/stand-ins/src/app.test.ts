import { type Server, createServer } from 'node:http';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createKapsoClient, readInbound } from '@parley/channels';
import { silentLogger } from '@parley/service';
import { until } from '@parley/testing';
import { signBody } from '@parley/webhooks';
import { createFlowClient } from '../../../libs/payments/src/flow/flow-client';
import { createStandIns } from './app';
import { kept, openStore } from './store';

const scope = { organizationId: 'org_1', tenant: 1, environment: 'development' } as const;
const apiKey = 'offline-org_1';
const folder = mkdtempSync(join(tmpdir(), 'parley-stand-ins-'));

/** A server that listens on a free port of this machine. */
async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://localhost:${(server.address() as AddressInfo).port}`;
}

/** What Parley receives, and the status with which it answers. */
const received: { path: string; headers: Record<string, unknown>; body: string }[] = [];
let answerStatus = 200;
const parley = createServer((request, response) => {
  let body = '';
  request.on('data', (chunk) => (body += chunk));
  request.on('end', () => {
    received.push({ path: request.url!, headers: request.headers, body });
    response.writeHead(answerStatus).end('{}');
  });
});
let parleyUrl = '';
let url = '';
let server: Server;

/** Starts the stand-ins with what is in the folder, as after a restart. */
async function start(): Promise<void> {
  server = createServer((request, response) => app(request, response));
  url = await listen(server);
  const app = createStandIns({
    store: openStore(folder),
    address: url,
    gatewayUrl: parleyUrl,
    projectSecret: 'project',
    log: silentLogger(),
    replyWaitMs: 300,
  });
}
const stop = (): Promise<unknown> =>
  new Promise((done) => {
    server.closeAllConnections();
    server.close(done);
  });

beforeAll(async () => {
  parleyUrl = await listen(parley);
  await start();
});
afterAll(async () => {
  await stop();
  await new Promise((done) => {
    parley.closeAllConnections();
    parley.close(done);
  });
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  received.length = 0;
  answerStatus = 200;
});

const get = async (path: string, headers: Record<string, string> = {}) => {
  const response = await fetch(url + path, { headers, redirect: 'manual' });
  return { status: response.status, text: await response.text(), headers: response.headers };
};
const press = async (
  path: string,
  fields: Record<string, string>,
  headers: Record<string, string> = {},
) => {
  const body = new URLSearchParams(fields);
  const response = await fetch(url + path, { method: 'POST', body, headers, redirect: 'manual' });
  return {
    status: response.status,
    text: await response.text(),
    location: response.headers.get('location'),
  };
};

describe('payments', () => {
  const flow = (key = apiKey, secretKey = 'offline') =>
    createFlowClient(
      { apiUrl: `${url}/flow`, apiKey: key, secretKey, scope },
      { statusTimeoutMs: 2_000 },
    );
  const create = async (subject = 'A "tent" & <b>more</b>', key = apiKey) => {
    const made = await flow(key).createPayment({
      commerceOrder: 'ent_1',
      subject,
      amount: 12_500,
      currency: 'CLP',
      email: 'ana@example.com',
      urlConfirmation: `${parleyUrl}/webhook/flow`,
      urlReturn: `${parleyUrl}/thanks`,
    });
    if (!made.ok) throw new Error(made.message);
    return made.order;
  };
  const codeOf = async (token: string) => {
    const answer = await flow().getStatus(token);
    return answer.ok ? answer.status.code : answer.message;
  };

  test('the link leads to a page without scripts that shows the order and says that no money moves', async () => {
    const { link, token } = await create();
    const page = await get(link.slice(url.length));
    expect(page.status).toBe(200);
    expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'/);
    expect(page.text).toContain('A &#34;tent&#34; &#38; &#60;b&#62;more&#60;/b&#62;');
    expect(page.text).toContain('CLP&nbsp;12,500'.replace('&nbsp;', '\u00a0'));
    expect(page.text).toContain('No money moves');
    expect(page.text).not.toMatch(/<script|<b>more/);
    expect(await codeOf(token)).toBe(1);
  });

  test.each([
    ['pay', 2, 'Paid'],
    ['refuse', 3, 'Refused'],
  ])(
    '%s sets the status and sends Flow’s callback once, however often it is pressed',
    async (choice, code, shown) => {
      const { token } = await create();
      const other = choice === 'pay' ? 'refuse' : 'pay';
      const first = await press('/flow/pay', { token, choice });
      expect(first).toMatchObject({ status: 303, location: `/flow/pay?token=${token}` });
      await Promise.all([
        press('/flow/pay', { token, choice }),
        press('/flow/pay', { token, choice: other }),
      ]);
      expect(received).toEqual([
        expect.objectContaining({
          path: '/webhook/flow',
          body: `token=${token}`,
          headers: expect.objectContaining({
            'content-type': 'application/x-www-form-urlencoded;charset=UTF-8',
          }),
        }),
      ]);
      expect(await codeOf(token)).toBe(code);
      const { text } = await get(first.location!);
      expect(text).toContain(shown);
      expect(text).not.toContain('value="pay"');
      expect(text).toContain('Return to the shop');
    },
  );

  test('a callback that Parley refuses is shown, and can be sent again', async () => {
    const { token } = await create();
    answerStatus = 503;
    const failed = await press('/flow/pay', { token, choice: 'pay' });
    expect([failed.status, failed.text.includes('answered 503'), await codeOf(token)]).toEqual([
      200,
      true,
      2,
    ]);
    answerStatus = 200;
    expect(await press('/flow/pay', { token, choice: 'pay' })).toMatchObject({ status: 303 });
    expect((await get(`/flow/pay?token=${token}`)).text).toContain(
      'Parley has received the result',
    );
  });

  test('tokens that no order has, and hostile ones, find nothing and are not repeated on the page', async () => {
    for (const token of [
      '',
      'F1C7',
      '"><script>alert(1)</script>',
      '../../etc/passwd',
      '%00',
      'x'.repeat(5_000),
    ]) {
      const shown = await get(`/flow/pay?token=${encodeURIComponent(token)}`);
      expect([shown.status, shown.text.includes('alert')]).toEqual([404, false]);
      const pressed = await press('/flow/pay', { token, choice: 'pay' });
      expect(pressed.location === null || (await get(pressed.location)).status === 404).toBe(true);
    }
    const { token } = await create();
    expect(await press('/flow/pay', { token, choice: 'steal' })).toMatchObject({ status: 400 });
    expect(await codeOf(token)).toBe(1);
    expect(received).toEqual([]);
  });

  test('an account sees its own orders only, and requests without its signature are refused', async () => {
    const { token } = await create('Tent', 'offline-org_2');
    expect(await codeOf(token)).toBe('Transaction not found');
    expect(await flow(apiKey, 'other').getStatus(token)).toMatchObject({
      message: 'Invalid signature',
    });
    for (const key of ['', 'KEY', 'offline-../../x', `offline-${'x'.repeat(200)}`])
      expect(await flow(key).getStatus(token)).toMatchObject({
        ok: false,
        message: 'Invalid apiKey',
      });
  });

  test('what Flow refuses is refused: small amounts, decimals of CLP and addresses that are none', async () => {
    const order = { commerceOrder: 'x', subject: 'x', currency: 'CLP', urlReturn: parleyUrl };
    const urlConfirmation = parleyUrl;
    const email = 'ana@example.com';
    for (const [wrong, message] of [
      [{ amount: 349, email, urlConfirmation }, 'The minimum amount is 350 CLP'],
      [{ amount: 400.5, email, urlConfirmation }, 'Amount can not contain decimals'],
      [{ amount: 400, email: 'ana', urlConfirmation }, 'The userEmail: ana is not valid.'],
      [
        { amount: 400, email, urlConfirmation: 'javascript:alert(1)' },
        'urlConfirmation or urlReturn',
      ],
      [
        { amount: 400, email, urlConfirmation, subject: 'x'.repeat(2_049) },
        'Longer than 2048 characters: subject',
      ],
    ] as const)
      expect(await flow().createPayment({ ...order, ...wrong })).toMatchObject({
        reason: 'refused',
        message,
      });
  });

  test('orders survive a restart; the oldest are dropped beyond the limit', async () => {
    const first = await create('First');
    await stop();
    await start();
    expect(await codeOf(first.token)).toBe(1);
    for (let i = 0; i < kept.orders; i += 1) await create(`Order ${i}`);
    expect(await codeOf(first.token)).toBe('Transaction not found');
    expect((await get('/')).text).toContain(`Order ${kept.orders - 1}`);
  });
});

describe('WhatsApp', () => {
  const number = '15550001111';
  const client = (key = apiKey) =>
    createKapsoClient({ organizationId: 'org_1', apiUrl: `${url}/kapso`, apiKey: key });
  const events = ['whatsapp.message.received', 'whatsapp.message.delivered'];

  test('a number is connected, and what a customer writes is delivered with the signature of its webhook', async () => {
    expect(await client().getPhoneNumber(number)).toMatchObject({
      ok: true,
      value: { phoneNumber: number },
    });
    expect(await client().getPhoneNumber('simulated')).toMatchObject({ ok: false, status: 404 });
    const webhook = { url: `${parleyUrl}/webhook/kapso/messages`, secretKey: 'own', events };
    const made = await client().createWebhook(number, webhook);
    expect(await client().listWebhooks(number)).toMatchObject({
      ok: true,
      value: [{ id: made.ok && made.value }],
    });
    const [written] = await Promise.all([
      press('/whatsapp', { number, customer: '+56 9 1234 5678', text: 'Hi <there>' }),
      until(() => received[0]).then(() =>
        client().sendMessage(number, {
          to: '56912345678',
          type: 'text',
          text: { body: 'Pay at http://localhost:1/flow/pay?token=A.' },
        }),
      ),
    ]);
    expect(written).toMatchObject({ status: 303 });
    const { headers, body } = received[0]!;
    expect(headers).toMatchObject({
      'x-webhook-event': 'whatsapp.message.received',
      'x-webhook-signature': signBody(Buffer.from(body), 'own'),
    });
    expect(readInbound(JSON.parse(body))).toMatchObject({
      text: 'Hi <there>',
      type: 'text',
      handling: 'agent',
      identity: { phone: '56912345678' },
    });
    const { text } = await get(written.location!);
    expect(text).toContain('Hi &#60;there&#62;');
    expect(text).toContain('<a href="http://localhost:1/flow/pay?token=A"');
    await until(() =>
      received.find((one) => one.headers['x-webhook-event'] === 'whatsapp.message.delivered'),
    );
  });

  test('buttons of the agent can be pressed', async () => {
    const buttons = ['Green', 'Red'].map((title, at) => ({
      type: 'reply',
      reply: { id: String(at), title },
    }));
    const interactive = { type: 'button', body: { text: 'Which colour?' }, action: { buttons } };
    expect(
      await client().sendMessage(number, { to: '56900000001', type: 'interactive', interactive }),
    ).toMatchObject({
      ok: true,
    });
    const path = `/whatsapp?number=${number}&customer=56900000001`;
    expect((await get(path)).text).toMatch(/Which colour\?.*Green.*Red/s);
    await press('/whatsapp', { number, customer: '56900000001', choice: 'Red' });
    const { body } = await until(() => received.find((one) => one.body.includes('button_reply')));
    expect(readInbound(JSON.parse(body))).toMatchObject({ text: 'Red', handling: 'agent' });
  });

  test('a message that Parley refuses is not kept, and the reason is shown with the text', async () => {
    answerStatus = 500;
    const refused = await press('/whatsapp', { number, customer: '56900000002', text: 'Lost?' });
    expect(refused.text).toContain('answered 500');
    expect(refused.text).toContain('Lost?</textarea>');
    for (const [customer, text] of [
      ['12', 'Hi'],
      ['56900000002', ' '],
      ['56900000002', 'x'.repeat(4_097)],
    ] as const)
      expect((await press('/whatsapp', { number, customer, text })).status).toBe(200);
    expect(
      (await press('/whatsapp', { number: '999', customer: '56900000002', text: 'Hi' })).text,
    ).toContain('999 is not connected');
  });

  test('the setup link connects one number, signed as the project', async () => {
    const made = await client().createCustomer({ name: 'n', externalId: 'e' });
    const link = await client().createSetupLink(made.ok ? made.value : '');
    const page = await get(link.ok ? link.value.slice(url.length) : '');
    expect(page.text).toContain('Connect a simulated number');
    for (let i = 0; i < 2; i += 1) await press('/connect', { customer: made.ok ? made.value : '' });
    const reports = received.filter(({ path }) => path === '/webhook/kapso/project');
    expect(reports).toHaveLength(2);
    expect(reports[0]!.body).toBe(reports[1]!.body);
    expect(reports[0]!.headers['x-webhook-signature']).toBe(
      signBody(Buffer.from(reports[0]!.body), 'project'),
    );
    expect(JSON.parse(reports[0]!.body)).toMatchObject({
      phone_number_id: expect.stringMatching(/^1555\d{7}$/),
    });
  });

  test('the command line gets the messages of its account only', async () => {
    const read = async (key: string) => get('/api/messages', { 'X-API-Key': key });
    expect(JSON.parse((await read(apiKey)).text).messages.length).toBeGreaterThan(0);
    expect(JSON.parse((await read('offline-org_9')).text)).toEqual({ messages: [] });
    expect((await read('other')).status).toBe(401);
  });
});

describe('e-mails', () => {
  const send = async (body: object, key: string) => {
    const headers = {
      Authorization: `Bearer ${apiKey}`,
      'Idempotency-Key': key,
      'Content-Type': 'application/json',
    };
    const response = await fetch(`${url}/resend/emails`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    return {
      status: response.status,
      body: (await response.json()) as { id: string; name?: string },
    };
  };
  const email = {
    from: 'a@b.cl',
    to: ['c@d.cl'],
    subject: 'Order <1>',
    html: '<h1>Hi</h1><script>alert(1)</script>',
  };

  test('an e-mail is kept once for its key, and its HTML is shown without scripts', async () => {
    const sent = await send(email, 'k1');
    expect(await send(email, 'k1')).toEqual(sent);
    expect(await send({ ...email, subject: 'Other' }, 'k1')).toMatchObject({ status: 409 });
    expect(await send({ from: 'a@b.cl' }, 'k2')).toMatchObject({
      status: 422,
      body: { name: 'validation_error' },
    });
    const page = await get(`/emails/${sent.body.id}`);
    expect(page.text).toContain('Order &#60;1&#62;');
    expect(page.text).not.toContain('alert');
    const html = await get(`/emails/${sent.body.id}/html`);
    expect(html.headers.get('content-security-policy')).toMatch(/^sandbox; default-src 'none'/);
    expect((await get('/')).text).toContain(`/emails/${sent.body.id}`);
    expect((await get('/emails/none')).status).toBe(404);
  });

  test('an account keeps 4 MiB at most, and its file is readable by its owner only', async () => {
    for (let i = 0; i < 12; i += 1) await send({ ...email, text: 'x'.repeat(600_000) }, `big-${i}`);
    expect((await send({ ...email, text: 'x'.repeat(1_100_000) }, 'too big')).status).toBe(413);
    const file = readFileSync(join(folder, `${apiKey}.json`));
    expect(file.length).toBeLessThanOrEqual(4 * 1024 * 1024);
    expect(readdirSync(folder).every((name) => /^offline-[\w-]+\.json$/.test(name))).toBe(true);
  });
});

test('the largest list of an account is shortened to 4 MiB, and the others are kept', async () => {
  const own = mkdtempSync(join(tmpdir(), 'parley-stand-ins-'));
  try {
    const store = openStore(own);
    const account = store.find('offline-large')!;
    account.emails.push({ id: 'e', key: 'k', request: {}, at: '' });
    const webhook = { number: '1', url: 'x'.repeat(600_000), secretKey: '', events: [] };
    account.webhooks = Array.from({ length: 12 }, (_, at) => ({ id: String(at), ...webhook }));
    store.save(account);
    expect(readFileSync(join(own, 'offline-large.json')).length).toBeLessThanOrEqual(
      4 * 1024 * 1024,
    );
    expect([account.emails.length, account.webhooks.at(-1)?.id]).toEqual([1, '11']);
  } finally {
    rmSync(own, { recursive: true });
  }
});

test('names of other hosts and forms of other sites are refused', async () => {
  const { port } = new URL(url);
  const send = (headers: string, method = 'GET') =>
    new Promise<string>((resolve) => {
      void import('node:net').then(({ connect }) => {
        const socket = connect(Number(port), '127.0.0.1');
        let text = '';
        socket
          .on('data', (chunk) => (text += chunk))
          .on('close', () => resolve(text.split('\r\n')[0]!));
        socket.write(
          `${method} / HTTP/1.1\r\n${headers}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
        );
      });
    });
  expect(await send(`Host: evil.example:${port}`)).toContain('421');
  expect(await send(`Host: localhost:${port}`)).toContain('200');
  const form = { number: '15550001111', customer: '56900000003', text: 'Hi' };
  const foreign = [
    { Origin: 'https://evil.example' },
    { 'Sec-Fetch-Site': 'cross-site' },
    { Origin: 'null' },
    { 'Sec-Fetch-Site': 'same-origin', Origin: 'https://evil.example' },
  ];
  for (const headers of foreign)
    expect((await press('/whatsapp', form, headers as never)).status).toBe(403);
});
