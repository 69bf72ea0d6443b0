import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createOrganizationKeys } from '@parley/agents';
import { createAccounts, webhookSecretOf } from '@parley/channels';
import type { Scope } from '@parley/contracts';
import type { Db } from '@parley/db';
import { type KapsoServer, seedOrganization, startKapsoServer } from '@parley/testing';
import {
  createInbox,
  loadWebhookSamples,
  verifyBodySignature,
  verifyStandardWebhook,
} from '@parley/webhooks';
import { type Cli, openCli } from './testing/run-command';
import { type ManageUnderTest, startManage } from './testing/manage-under-test';

let stack: ManageUnderTest;
let db: Db;
/** Commands that use the management API get no DATABASE_URL. */
let remote: Record<string, string>;
let cli: Cli;
let kapso: KapsoServer;
let scope: Scope;
let env: Record<string, string>;
/** The environment of commands about deliveries without an organization. */
let onDatabase: Record<string, string>;
const secrets = {
  IDENTITY_WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 1).toString('base64')}`,
  MESSAGING_WEBHOOK_SECRET: 'kapso',
  BILLING_WEBHOOK_SECRET: 'polar_whs_x',
  EMAIL_WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 2).toString('base64')}`,
};

beforeAll(async () => {
  cli = openCli();
  stack = await startManage();
  ({ db } = stack);
  kapso = await startKapsoServer();
  const agents = [{ slug: 'helper' }];
  const seeded = await seedOrganization(db.pool, { slug: 'demo', agents, permissions: ['manage'] });
  ({ scope } = seeded);
  remote = stack.envOf(seeded.key);
  env = { ...remote, ...secrets };
  onDatabase = { DATABASE_URL: stack.databaseUrl };
});
afterAll(async () => {
  await kapso.stop();
  await stack.close();
  cli.remove();
});

const envOf = (args: string[]) =>
  args[0] === 'integrations' ? remote : args.includes('--unattributed') ? onDatabase : env;
const parley = (args: string[], input?: string) => cli.parley(args, { env: envOf(args), input });
const succeed = (args: string[], input?: string) => cli.succeed(args, { env: envOf(args), input });

test('samples are sent signed to the endpoint of their provider, with the ids of this environment', async () => {
  const received: { path: string; isSigned: boolean; body: string }[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const path = request.url!;
    const signed = { headers: request.headers, body, nowMs: Date.now() };
    const verdict = path.includes('kapso')
      ? verifyBodySignature({ ...signed, secrets: ['kapso'] })
      : verifyStandardWebhook({
          ...signed,
          secrets: Object.values(secrets),
          families: ['svix', 'webhook'],
        });
    received.push({ path, isSigned: verdict.ok, body: body.toString() });
    response.writeHead(200).end('{"received":true}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const names = (await succeed(['webhooks', 'trigger'])).split('\n');
  expect(names).toEqual(Object.keys(await loadWebhookSamples()));
  expect(names.length).toBeGreaterThan(60);
  for (const name of ['order.paid', 'whatsapp.message.received', 'email.delivered', 'user.created'])
    await succeed(['webhooks', 'trigger', name, '--url', url]);
  await succeed([
    'webhooks',
    'trigger',
    'order.paid',
    '--url',
    url,
    '--set',
    'data.subtotal_amount=900',
  ]);
  const unknown = await parley([
    'webhooks',
    'trigger',
    'whatsapp.message.received.unknown-number',
    '--url',
    url,
  ]);
  expect(unknown).toMatchObject({
    exitCode: 0,
    stderr: expect.stringContaining('has no connection'),
  });
  server.close();
  expect(JSON.parse(received[1]!.body).phone_number_id).toMatch(/^simulated-/);
  expect(JSON.parse(received.pop()!.body)).toMatchObject({
    phone_number_id: '999999999999999',
    conversation: { phone_number_id: '999999999999999' },
    message: { id: expect.not.stringContaining('FIXT') },
  });
  expect(received.map(({ path, isSigned }) => [path, isSigned])).toEqual([
    ['/webhook/polar', true],
    ['/webhook/kapso/messages', true],
    ['/webhook/resend', true],
    ['/webhook/clerk', true],
    ['/webhook/polar', true],
  ]);
  expect(received[0]!.body).toContain(scope.organizationId);
  expect(JSON.parse(received[4]!.body)).toMatchObject({ data: { subtotal_amount: 900 } });
  expect(await parley(['webhooks', 'trigger', 'order.nope', '--url', url])).toMatchObject({
    exitCode: 1,
  });
});

test('samples of the identity provider name the organization of --org', async () => {
  const bodies: { data: Record<string, unknown> }[] = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    bodies.push(JSON.parse(text));
    response.writeHead(200).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { key } = await seedOrganization(db.pool, { slug: 'acme', permissions: ['manage'] });
  const envs = { acme: { ...secrets, ...stack.envOf(key) }, demo: env };
  const trigger = (name: string, ...[option, slug]: [] | ['--org', keyof typeof envs]) =>
    cli.parley(['webhooks', 'trigger', name, '--url', url, ...(slug ? [option!, slug] : [])], {
      env: slug ? envs[slug] : secrets,
    });
  await db.pool.query(
    `update organizations set external_id = 'org_2acme', name = 'Acme' where slug = 'acme'`,
  );
  for (const name of [
    'organization.updated',
    'organization.deleted',
    'organizationMembership.created',
  ])
    expect(await trigger(name, '--org', 'acme')).toMatchObject({ exitCode: 0 });
  const [updated, deleted, membership] = bodies;
  expect(updated!.data).toMatchObject({ id: 'org_2acme', slug: 'acme', name: 'Acme' });
  expect(deleted!.data).toMatchObject({ id: 'org_2acme', slug: 'acme' });
  expect(deleted!.data).not.toHaveProperty('name');
  expect(membership!.data).toMatchObject({
    id: expect.stringMatching(/^orgmem_/),
    organization: { id: 'org_2acme' },
  });
  // Without --org no key is needed.
  expect(await trigger('organization.updated')).toMatchObject({ exitCode: 0 });
  expect(bodies[3]!.data.id).toMatch(/Fixt/);
  expect(await trigger('user.created', '--org', 'acme')).toMatchObject({
    exitCode: 2,
    stderr: 'error: user.created names no organization. Omit --org\n',
  });
  expect(await trigger('organization.updated', '--org', 'demo')).toMatchObject({
    exitCode: 1,
    stderr: 'error: demo was created here, so the identity provider sends nothing about it\n',
  });
  expect(bodies).toHaveLength(4);
  server.close();
  await db.pool.query(`delete from organizations where slug = 'acme'`);
});

test('the refusal of an unsigned Clerk delivery is explained', async () => {
  const server = createServer((_request, response) =>
    response.writeHead(401).end('{"error":"Invalid signature"}'),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { IDENTITY_WEBHOOK_SECRET: _, ...unsigned } = env;
  const trigger = (variables: Record<string, string>) =>
    cli.parley(['webhooks', 'trigger', 'user.created', '--url', url], { env: variables });
  const refused = await trigger(unsigned);
  expect(refused).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('Invalid signature'),
  });
  expect(refused.stderr).toMatch(
    /IDENTITY_WEBHOOK_SECRET is not set here.*IDENTITY_WEBHOOK_UNSIGNED=true\n$/,
  );
  expect((await trigger(env)).stderr).not.toContain('IDENTITY_WEBHOOK_SECRET');
  server.close();
});

test('deliveries are listed, shown with masked secrets, and replayed', async () => {
  const inbox = createInbox(db);
  const store = (
    deliveryId: string,
    status: 'failed' | 'rejected' | 'processed' | 'unattributed',
    body: string,
  ) =>
    inbox.store({
      provider: 'polar',
      deliveryId,
      path: '/webhook/polar',
      eventType: 'order.paid',
      headers: { 'webhook-id': deliveryId },
      body: Buffer.from(body),
      tenant: status === 'unattributed' ? null : scope.tenant,
      environment: null,
      isSigned: true,
      status,
      reason: status === 'processed' ? null : 'secret: no signature fits',
    });
  const failed = await store(
    'evt_1',
    'failed',
    '{"type":"order.paid","data":{"client_secret":"topsecret","id":"order_1"}}',
  );
  const rejected = await store('evt_2', 'rejected', 'token=topsecret');
  const processed = await store('evt_3', 'processed', '{}');
  const lost = await store('evt_4', 'unattributed', 'token=topsecret');
  const run = (...args: string[]) => cli.succeed(['webhooks', ...args], { env: remote });
  const refused = (...args: string[]) => cli.parley(['webhooks', ...args], { env: remote });
  const idsIn = (text: string) => JSON.parse(text).data.map(({ id }: { id: string }) => id);
  expect(idsIn(await run('list', '--json')).sort()).toEqual(
    [failed, rejected, processed].map(({ id }) => id).sort(),
  );
  expect(await run('list', '--status', 'failed')).toContain('no signature fits');
  const shown = await run('show', failed.id);
  expect(shown).toContain('order_1');
  expect(shown).toMatch(/^signed +yes$/m);
  expect(shown + (await run('show', rejected.id))).not.toContain('topsecret');
  expect(await run('replay', failed.id)).toContain('1 delivery will be processed again');
  const { rows } = await db.pool.query(
    'select status, reason from webhook_deliveries where id = $1',
    [failed.id],
  );
  expect(rows).toEqual([{ status: 'received', reason: null }]);
  expect(await refused('replay', rejected.id)).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('rejected'),
  });
  expect(await refused('replay')).toMatchObject({ exitCode: 2 });
  expect(await refused('replay', processed.id, 'nope')).toMatchObject({
    exitCode: 1,
    stdout: '1 delivery will be processed again.\n',
    stderr: 'error: nope: Webhook delivery not found\n',
  });
  expect(await run('replay', '--status', 'failed', '--provider', 'polar')).toBe(
    'No delivery matches.',
  );

  // Deliveries without an organization are read from the database.
  expect(idsIn(await succeed(['webhooks', 'list', '--unattributed', '--json']))).toEqual([lost.id]);
  expect(await succeed(['webhooks', 'show', lost.id, '--unattributed'])).toMatch(
    /^status +unattributed$/m,
  );
  expect(await succeed(['webhooks', 'show', 'evt_4', '--unattributed'])).not.toContain('topsecret');
  expect(await parley(['webhooks', 'show', failed.id, '--unattributed'])).toMatchObject({
    exitCode: 1,
  });
  expect(await parley(['webhooks', 'replay', failed.id, '--unattributed'])).toMatchObject({
    exitCode: 1,
  });
  expect(
    await parley(['webhooks', 'replay', lost.id, '--unattributed', '--status', 'failed']),
  ).toMatchObject({
    exitCode: 2,
  });
  expect(await succeed(['webhooks', 'replay', 'evt_4', '--unattributed'])).toContain(
    '1 delivery will be processed again',
  );
  await db.pool.query(`update webhook_deliveries set status = 'unattributed' where id = $1`, [
    lost.id,
  ]);
  expect(await succeed(['webhooks', 'replay', '--unattributed'])).toContain(
    '1 delivery will be processed again',
  );
  expect(await succeed(['webhooks', 'list', '--unattributed', '--status', 'received'])).toContain(
    lost.id,
  );
});

test('the balance of credits is the sum of the ledger', async () => {
  for (const [id, amount] of [
    ['c1', 5000],
    ['c2', -2000],
  ])
    await db.pool.query(
      'insert into credit_entries (id, tenant, amount_cents, reason, cause) values ($1, $2, $3, $1, $1)',
      [id, scope.tenant, amount],
    );
  expect(await cli.succeed(['credits', 'show'], { env: remote })).toMatch(
    /^balance: 30\.00\nWHEN .*\n.* -20\.00 +c2 +c2$/m,
  );
  expect(
    JSON.parse(await cli.succeed(['credits', 'show', '--json'], { env: remote })),
  ).toMatchObject({
    balanceCents: 3000,
    data: [{}, {}],
  });
});

test('an integration is stored encrypted, tested, and listed with its key masked', async () => {
  await succeed(
    ['integrations', 'set', 'kapso', '--api-key', '-', '--api-url', kapso.url],
    kapso.apiKey,
  );
  expect(await succeed(['integrations', 'test', 'kapso'])).toBe('kapso: accepts the key');
  const list = await succeed(['integrations', 'list']);
  expect(list).toContain('••••-key');
  expect(list).not.toContain(kapso.apiKey);
  const { rows } = await db.pool.query('select secrets from integrations');
  expect(rows[0].secrets.toString('latin1')).not.toContain(kapso.apiKey);
  await succeed(['integrations', 'set', 'kapso', '--api-key', 'wrong-key-of-kapso']);
  expect(await parley(['integrations', 'test', 'kapso'])).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('refuses the key'),
  });
  expect(await parley(['integrations', 'set', 'flow', '--api-key', 'x'])).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('--secret-key'),
  });
  const flow = ['integrations', 'set', 'flow', '--api-key', 'x', '--secret-key', 'y'];
  expect(await parley([...flow, '--currency', 'pesos'])).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining(
      '--currency must be a code of three letters such as CLP, not pesos',
    ),
  });
  expect(await parley(['integrations', 'set', 'nope', '--api-key', 'x'])).toMatchObject({
    exitCode: 2,
  });
  expect(await parley(['integrations', 'test', 'resend'])).toMatchObject({ exitCode: 1 });
  expect(await parley(['integrations', 'test', 'nope'])).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('nope is not configured in development'),
  });
  expect(await parley(['integrations', 'set', 'mcp.crm', '--api-key', 'x'])).toMatchObject({
    exitCode: 2,
  });
  await succeed([
    'integrations',
    'set',
    'mcp.crm',
    '--api-url',
    'http://10.0.0.1/mcp',
    '--header',
    'X-Team: north',
  ]);
  expect(await succeed(['integrations', 'list'])).toMatch(
    /mcp\.crm .*headers=\{"X-Team":"••••"\} .*url=http:\/\/10\.0\.0\.1\/mcp/,
  );
  expect(await parley(['integrations', 'test', 'mcp.crm'])).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('10.0.0.1 is not on the public internet'),
  });
  await succeed(['integrations', 'set', 'kapso', '--api-key', kapso.apiKey]);
});

test('a server of models is stored by any name with its address and an optional key, and tested', async () => {
  const keys: unknown[] = [];
  const server = createServer((request, response) => {
    keys.push([request.url, request.headers.authorization]);
    response.writeHead(request.headers.authorization === 'Bearer wrong' ? 401 : 200).end('{}');
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    await succeed(
      ['integrations', 'set', 'my-server', '--api-url', `${url}/v1`, '--api-key', '-'],
      'own-key',
    );
    expect(await succeed(['integrations', 'test', 'my-server'])).toBe('my-server: accepts the key');
    expect(
      await parley(['integrations', 'set', 'my-server', '--api-url', 'https://other.example']),
    ).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining(
        '--api-key must be given again, because the address has changed',
      ),
    });
    await succeed(['integrations', 'set', 'my-server', '--api-key', 'wrong']);
    expect(await parley(['integrations', 'test', 'my-server'])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('refuses the key'),
    });
    await succeed(['integrations', 'set', 'ollama', '--api-url', url]);
    expect(await succeed(['integrations', 'test', 'ollama'])).toBe('ollama: answers without a key');
    const table = await createOrganizationKeys(db, stack.api.deps.box, console)(scope);
    expect(table).toMatchObject({
      'my-server': { apiKey: 'wrong', baseUrl: `${url}/v1` },
      ollama: { apiKey: undefined, baseUrl: url },
    });
    expect(keys).toEqual([
      ['/v1/models', 'Bearer own-key'],
      ['/v1/models', 'Bearer wrong'],
      ['/api/tags', undefined],
    ]);
  } finally {
    server.close();
  }
  for (const name of ['offline', 'clerk', 'My_Server'])
    expect(await parley(['integrations', 'set', name, '--api-url', url])).toMatchObject({
      exitCode: 2,
    });
});

test.each([
  ['kapso', ['--secret-key', 'z'], '--secret-key is not a field of kapso'],
  [
    'kapso',
    ['--media-reply', '', '--return-url', 'https://shop.example'],
    '--return-url is not a field of kapso',
  ],
  ['flow', ['--media-reply', 'Hola'], '--media-reply is not a field of flow'],
  ['mcp.crm', ['--currency', 'CLP'], '--currency is not a field of mcp.crm'],
  ['openai', ['--header', 'X-Team: north'], '--header is not a field of openai'],
  ['mcp.crm', ['--header', 'bad'], '--header must be "Name: value", not "bad"'],
  ['mcp.crm', ['--header', 'Host: x'], '--header must have names of headers'],
  [
    'resend',
    ['--api-url', 'http://user:key@x.example'],
    '--api-url must be an http or https address without a user',
  ],
  ['openai', ['--api-key', 'sk one'], '--api-key must have ASCII characters only, without spaces'],
  ['resend', ['--from', 'notanemail'], '--from must be an address or "Name <address>"'],
])('integrations set %s %j is refused with status 2', async (provider, args, message) => {
  const run = await parley(['integrations', 'set', provider, '--api-key', 'x', ...args]);
  expect(run).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(message) });
});

test('an integration keeps its settings when it is disabled, and loses them when it is removed', async () => {
  await succeed([
    'integrations',
    'set',
    'resend',
    '--api-key',
    're_key',
    '--from',
    'Acme <hello@acme.example>',
  ]);
  const account = () =>
    createAccounts(db, stack.api.deps.box, { KAPSO_API_URL: '', RESEND_API_URL: '' }).resend(scope);
  expect(await account()).toMatchObject({ apiKey: 're_key' });
  expect(await succeed(['integrations', 'disable', 'resend'])).toBe('resend is disabled.');
  expect(await account()).toBeNull();
  expect(await succeed(['integrations', 'list'])).toMatch(/^resend +disabled /m);
  expect(await succeed(['integrations', 'enable', 'resend'])).toBe('resend is enabled.');
  expect(await account()).toMatchObject({ apiKey: 're_key', from: 'Acme <hello@acme.example>' });
  expect(await parley(['integrations', 'enable', 'nope'])).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('nope is not configured in development'),
  });
  expect(await succeed(['integrations', 'remove', 'resend'])).toBe('Removed resend.');
  expect(await account()).toBeNull();
  expect(
    (await db.pool.query("select 1 from integrations where provider = 'resend'")).rows,
  ).toEqual([]);
  expect(await parley(['integrations', 'remove', 'resend'])).toMatchObject({ exitCode: 1 });
});

test('channels connect creates a pending connection, or uses a number that is already connected', async () => {
  expect(await succeed(['channels', 'connect', '--agent', 'helper', '--env', 'development'])).toBe(
    'https://setup.example/1',
  );
  expect(
    await succeed([
      'channels',
      'connect',
      '--agent',
      'helper',
      '--phone-number-id',
      '109876543210987',
    ]),
  ).toContain('15551234567');
  const { data: connections } = JSON.parse(await succeed(['channels', 'list', '--json']));
  const { id } = connections.find(
    (one: { phoneNumberId: string }) => one.phoneNumberId === '109876543210987',
  );
  // The owner of the account can read this secret, so it is derived for the connection and is not
  // the installation's.
  expect(kapso.webhooks).toMatchObject([
    {
      url: 'https://parley.example/webhook/kapso/messages',
      secretKey: webhookSecretOf('kapso', id),
    },
  ]);
  expect(connections).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ status: 'pending', agent: 'helper' }),
      expect.objectContaining({ phoneNumber: '15551234567' }),
    ]),
  );
  expect(await parley(['channels', 'connect', '--agent', 'unknown'])).toMatchObject({
    exitCode: 1,
  });
  expect(await parley(['channels', 'connect'])).toMatchObject({ exitCode: 2 });
});
