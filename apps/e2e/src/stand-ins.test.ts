import { join } from 'node:path';
import { until } from '@parley/testing';
import { type Client, push } from './client';
import { type CommandLine, openCommandLine, runFile } from './command-line';
import { shared, startOwnStack } from './stack';
import { type RunningStandIns, startStandIns } from './stand-ins';
import { type Tenant, createTenant } from './tenant';

jest.setTimeout(120_000);

let standIns: RunningStandIns;
let url: string;
let stack: Awaited<ReturnType<typeof startOwnStack>>;
let tenant: Tenant;
let client: Client;
let line: CommandLine;

/** A stack without an account at any provider, as `npm start` starts it, and the stand-ins. */
beforeAll(async () => {
  standIns = await startStandIns(() => stack.url);
  url = standIns.url;
  stack = await startOwnStack({ environment: { ...shared.webhookSecrets, STAND_INS_URL: url } });
  tenant = await createTenant(stack);
  client = await tenant.client();
  const definitions = {
    agents: [
      {
        slug: 'seller',
        name: 'Seller',
        systemPrompt: 'You sell.',
        tools: ['payment.create', 'payment.getStatus'],
      },
    ],
    triggers: ['paid', 'failed'].map((status) => ({
      slug: `report-${status}`,
      name: `Report ${status}`,
      on: { entityType: 'payment', action: 'updated', condition: { 'data.status': status } },
      actions: [
        {
          tool: 'whatsapp.send',
          args: { to: '56911111111', text: `${status}: {{trigger.data.description}}` },
        },
        {
          tool: 'email.send',
          args: {
            to: '{{trigger.data.customerEmail}}',
            subject: `${status}`,
            text: '{{trigger.data.amount}} CLP',
          },
        },
      ],
    })),
  };
  await push(client, definitions);
  await push(await tenant.client({ environment: 'production' }), definitions);
  line = openCommandLine({
    PARLEY_URL: stack.url,
    PARLEY_API_KEY: (await tenant.client({ permissions: ['manage'] })).key,
    STAND_INS_URL: url,
    ...shared.webhookSecrets,
  });
}, 90_000);
afterAll(async () => {
  line?.close();
  await tenant?.close();
  await stack?.stop();
  await standIns?.stop();
});

const textsOf = async (from?: string) =>
  JSON.parse(
    await line.parley(['whatsapp', 'messages', '--json', ...(from ? ['--from', from] : [])]),
  ).messages.map(
    ({ direction, text }: Record<string, string>) => `${direction}: ${text}`,
  ) as string[];

/** Asks the agent for a payment link, as the customer, and returns it. */
async function askForLink(description: string): Promise<string> {
  const args = JSON.stringify({ amount: 9_900, description, customerEmail: 'ana@example.com' });
  const unknown = await line.run(['whatsapp', 'send', 'Hello', '--agent', 'missing']);
  expect(unknown).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('There is no agent "missing" in '),
  });
  const reply = await line.parley(['whatsapp', 'send', `/tool payment.create ${args}`]);
  const link = /http:\/\/localhost:\d+\/flow\/pay\?token=\w+/.exec(reply)?.[0];
  if (link === undefined) throw new Error(`no link in: ${reply}`);
  return link;
}

async function press(link: string, choice: string): Promise<number> {
  const token = new URL(link).searchParams.get('token')!;
  const response = await fetch(`${url}/flow/pay`, {
    method: 'POST',
    body: new URLSearchParams({ token, choice }),
  });
  await response.text();
  return response.status;
}

test.each([
  ['pay', 'paid'],
  ['refuse', 'failed'],
])('message, link, %s, trigger and reply, with nothing configured', async (choice, status) => {
  const subject = `Tent ${choice}`;
  const link = await askForLink(subject);
  const page = await (await fetch(link)).text();
  expect(page).toContain(subject);
  expect(await press(link, choice)).toBe(200);
  const texts = await until(() => textsOf(), {
    isThere: (all) => all.includes(`outbound: ${status}: ${subject}`),
  });
  for (const again of ['pay', 'refuse']) expect(await press(link, again)).toBe(200);
  const payments = await client.post('/v1/data/payment/query', {
    filters: { 'data.description': subject },
  });
  expect(payments.body.data).toEqual([
    expect.objectContaining({ data: expect.objectContaining({ status }) }),
  ]);
  expect(texts.filter((text) => text.endsWith(`${status}: ${subject}`))).toHaveLength(1);

  const { data: emails } = JSON.parse(
    await until(() => line.parley(['emails', 'list', '--json']), {
      isThere: (text) => text.includes(`"${status}"`),
    }),
  ) as { data: { id: string; subject: string }[] };
  const { id } = emails.find((email) => email.subject === status)!;
  const shown = JSON.parse(await line.parley(['emails', 'show', id, '--json']));
  expect(shown).toMatchObject({ to: ['ana@example.com'], subject: status, text: '9900 CLP' });
  expect(await line.parley(['emails', 'show'])).toContain('9900 CLP');
});

test('a token of another order settles nothing, and a forged callback of a token that exists settles nothing', async () => {
  const link = await askForLink('Stove');
  const token = new URL(link).searchParams.get('token')!;
  for (const forged of [token, `${token}x`, '', "' or 1=1 --"]) {
    const body = new URLSearchParams({ token: forged });
    expect((await fetch(`${stack.url}/webhook/flow`, { method: 'POST', body })).status).toBe(200);
  }
  await press(await askForLink('Lamp'), 'pay');
  await until(() => textsOf(), { isThere: (all) => all.includes('outbound: paid: Lamp') });
  const payments = await client.post('/v1/data/payment/query', {
    filters: { 'data.description': 'Stove' },
  });
  expect(payments.body.data[0].data.status).toBe('pending');
});

test('the link of channels connect leads to a page that connects a simulated number', async () => {
  const link = await line.parley(['channels', 'connect', '--agent', 'seller', '--name', 'Shop']);
  expect(await (await fetch(link)).text()).toContain('Connect a simulated number');
  const customer = new URL(link).searchParams.get('customer')!;
  const connected = await fetch(`${url}/connect`, {
    method: 'POST',
    body: new URLSearchParams({ customer }),
  });
  const [, number] = /The number is \+(\d+)/.exec(await connected.text())!;
  const list = async () =>
    JSON.parse(await line.parley(['channels', 'list', '--json'])).data as Record<string, unknown>[];
  await until(list, {
    isThere: (all) => all.some((one) => one.phoneNumberId === number && one.status === 'connected'),
  });
  // Parley registers the webhook of the number after it has acknowledged the event.
  const send = () =>
    line.run(['whatsapp', 'send', 'Hello', '--to', number!, '--from', '+56 9 2222 2222']);
  const { stdout } = await until(send, { isThere: ({ code }) => code === 0 });
  expect(stdout).toContain('No model provider is configured');
  expect((await textsOf('56922222222'))[0]).toBe('inbound: Hello');
});

test('a production environment never uses the stand-ins', async () => {
  const production = await tenant.client({ environment: 'production' });
  const run = async (toolName: string, args: object) =>
    (await production.post('/v1/run-tool', { toolName, args })).body.error as string;
  const payment = { amount: 9_900, description: 'Tent', customerEmail: 'ana@example.com' };
  expect(await run('payment.create', payment)).toContain(
    'Payments are not configured in production',
  );
  expect(await run('email.send', { to: 'ana@example.com', subject: 'x', text: 'x' })).toContain(
    'not configured',
  );
  const { code, stderr } = await line.run(['integrations', 'test', 'flow'], {
    env: {
      PARLEY_API_KEY: (await tenant.client({ environment: 'production', permissions: ['manage'] }))
        .key,
    },
  });
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining('flow is not configured in production'),
  ]);
});

test('in production the stand-ins do not start, nor do services that have their address', async () => {
  const start = (name: string) =>
    runFile(process.execPath, [join(shared.bundles, name, 'main.cjs')], {
      timeout: 30_000,
      env: {
        PATH: process.env.PATH,
        NODE_ENV: 'production',
        HOST: '127.0.0.1',
        PORT: '0',
        INTERNAL_PORT: '0',
        DATABASE_URL: stack.databaseUrl,
        REDIS_URL: stack.redisUrl,
        SECRETS_KEY: stack.secretsKey,
        STAND_INS_URL: url,
        STAND_INS_FOLDER: line.folder,
        GATEWAY_URL: stack.url,
        MESSAGING_WEBHOOK_SECRET: 's',
      },
    });
  expect(await start('stand-ins')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('only run in development'),
  });
  for (const name of ['chat', 'worker'])
    expect(await start(name)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('STAND_INS_URL is for development only'),
    });
});
