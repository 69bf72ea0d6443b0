import { type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createGuardedFetch } from '@parley/outbound';
import { type ProviderServer, startFlowServer, startProviderServer } from '@parley/testing';
import { type TestApi, type World, createTestApi } from './testing/create-test-api';

let api: TestApi;
let world: World;
let provider: ProviderServer;
/** The status with which the provider answers. */
let status = 200;
beforeAll(async () => {
  provider = await startProviderServer(() => ({ status, body: { data: [] } }));
  const guard = createGuardedFetch({ allowedPrivateHosts: ['127.0.0.1', 'localhost'] });
  api = await createTestApi({ guards: { mcp: guard, providers: guard }, testLimitMs: 2_000 });
});
beforeEach(async () => {
  world = await api.world();
});
afterAll(async () => {
  await api.deps.guards.mcp.close();
  await provider.stop();
  await api.close();
});

const create = (name: string, settings: unknown) =>
  world.call('post', '/v1/integrations', { body: { provider: name, settings } });
const update = (name: string, body: unknown, as = world) =>
  as.call('patch', `/v1/integrations/${name}`, { body });
const valuesOf = ({ fields }: { fields: { name: string; value: unknown }[] }) =>
  Object.fromEntries(fields.flatMap(({ name, value }) => (value === null ? [] : [[name, value]])));
const audit = async () =>
  (await world.call('get', '/v1/audit-log?limit=100')).body.data.map(
    ({ action, before, after }: { action: string; before: unknown; after: unknown }) => ({
      action,
      before,
      after,
    }),
  );

test('an integration is created, merged, switched and removed; secrets are masked everywhere', async () => {
  const { body: listed } = await world.call('get', '/v1/integrations').expect(200);
  expect(
    listed.data.map(
      ({ provider: name, isConfigured }: { provider: string; isConfigured: boolean }) => [
        name,
        isConfigured,
      ],
    ),
  ).toEqual(
    ['anthropic', 'flow', 'google', 'kapso', 'ollama', 'openai', 'resend'].map((name) => [
      name,
      false,
    ]),
  );
  const { body: created } = await create('flow', {
    apiKey: 'flow-key-1234',
    secretKey: 'short',
  }).expect(201);
  expect(created).toMatchObject({
    provider: 'flow',
    kind: 'payments',
    isConfigured: true,
    enabled: true,
  });
  expect(valuesOf(created)).toEqual({
    apiKey: '••••1234',
    secretKey: '••••',
    apiUrl: 'https://www.flow.cl/api',
  });
  expect(Object.keys(created.fields[0])).toEqual([
    'name',
    'isRequired',
    'isSecret',
    'description',
    'value',
  ]);
  expect((await create('flow', { apiKey: 'a', secretKey: 'b' }).expect(409)).body.code).toBe(
    'already_configured',
  );
  const { body: merged } = await update('flow', {
    settings: { defaultCurrency: 'usd', secretKey: 'second-secret-9' },
  });
  expect(valuesOf(merged)).toMatchObject({
    apiKey: '••••1234',
    secretKey: '••••et-9',
    defaultCurrency: 'USD',
  });
  const { body: off } = await update('flow', {
    settings: { defaultCurrency: null },
    enabled: false,
  }).expect(200);
  expect([off.enabled, valuesOf(off).defaultCurrency]).toEqual([false, undefined]);
  expect((await update('flow', { enabled: true }).expect(200)).body.enabled).toBe(true);
  await world.call('delete', '/v1/integrations/flow').expect(200);
  await world.call('get', '/v1/integrations/flow').expect(404);
  const entries = await audit();
  expect(entries.map(({ action }: { action: string }) => action)).toEqual([
    'integration.removed',
    'integration.enabled',
    'integration.updated',
    'integration.updated',
    'integration.created',
  ]);
  expect(entries[3]).toMatchObject({
    before: { secretKey: '••••' },
    after: { secretKey: '••••et-9' },
  });
  expect(JSON.stringify([entries, merged, listed])).not.toMatch(/flow-key|second-secret|short/);
  const { rows } = await api.db.pool.query('select slug from entity_types where tenant = $1', [
    world.scope.tenant,
  ]);
  expect(rows).toEqual([{ slug: 'payment' }]);
});

test.each([
  ['openai', {}, 'invalid_settings', 'settings.apiKey: is required'],
  ['openai', { apiKey: 5 }, 'invalid_body', 'settings.apiKey'],
  ['openai', { apiKey: '' }, 'invalid_body', 'settings.apiKey: must not be empty'],
  [
    'openai',
    { apiKey: 'x'.repeat(4_097) },
    'invalid_body',
    'settings.apiKey: must have at most 4096 characters',
  ],
  [
    'openai',
    { apiKey: 'sk\r\nX-Admin: 1' },
    'invalid_body',
    'settings.apiKey: must not contain line breaks',
  ],
  [
    'openai',
    { apiKey: 'sk\u00e9' },
    'invalid_body',
    'settings.apiKey: must have ASCII characters only',
  ],
  [
    'openai',
    { apiKey: 'k', from: 'a@b.cl' },
    'invalid_settings',
    'settings.from: is not a field of openai',
  ],
  ['openai', { apiKey: 'k', admin: true }, 'invalid_body', 'settings.admin: is not a known field'],
  [
    'openai',
    { apiKey: 'k', baseUrl: 'file:///etc/passwd' },
    'invalid_body',
    'settings.baseUrl: must be an http',
  ],
  [
    'openai',
    { apiKey: 'k', baseUrl: 'http://a:b@c.example' },
    'invalid_body',
    'without a user name and password',
  ],
  ['mcp.crm', { apiKey: 'k' }, 'invalid_settings', 'settings.url: is required'],
  [
    'mcp.crm',
    { url: 'https://a.cl', headers: { 'X-A': 'b\r\nHost: c' } },
    'invalid_body',
    'must not contain line breaks',
  ],
  [
    'mcp.crm',
    { url: 'https://a.cl', headers: { Host: 'b' } },
    'invalid_body',
    'settings.headers: must have names',
  ],
  [
    'mcp.crm',
    { url: 'https://a.cl', headers: { 'a b': 'b' } },
    'invalid_body',
    'settings.headers: must have names',
  ],
  [
    'mcp.crm',
    { url: 'https://a.cl', headers: { A: '' } },
    'invalid_body',
    'settings.headers.A: must not be empty',
  ],
  ['resend', { apiKey: 'k', from: 'A <a@b.cl>\nBcc: c@d.cl' }, 'invalid_body', 'settings.from'],
  [
    'flow',
    { apiKey: 'k', secretKey: 's', defaultCurrency: 'pesos' },
    'invalid_body',
    'settings.defaultCurrency',
  ],
  ['clerk', { apiKey: 'k' }, 'unknown_provider', 'clerk is reserved'],
  ['mcp.', { url: 'https://a.cl' }, 'unknown_provider', 'mcp. is not a provider'],
  ['__proto__', { apiKey: 'k' }, 'unknown_provider', '__proto__ is not a provider'],
  ['constructor', { apiKey: 'k' }, 'invalid_settings', 'settings.baseUrl: is required'],
  ['openai', null, 'invalid_body', 'settings'],
])('refuses %s %j with %s, naming the field', async (name, settings, code, text) => {
  const { body } = await create(name, settings).expect(400);
  expect(body).toMatchObject({ code, error: expect.stringContaining(text) });
  expect(body.error).not.toMatch(/x{9}|X-Admin|Host: c/);
  expect(await audit()).toEqual([]);
});

test('secrets that no key decrypts are given again; the settings stay', async () => {
  await create('resend', { apiKey: 're_key_1234567', from: 'a@b.cl' }).expect(201);
  await api.db.pool.query("update integrations set secrets = '\\x00' where tenant = $1", [
    world.scope.tenant,
  ]);
  expect((await world.call('get', '/v1/integrations/resend')).body).toMatchObject({
    isReadable: false,
  });
  const { body } = await update('resend', { settings: { from: 'c@d.cl' } }).expect(400);
  expect(body.error).toBe('settings.apiKey: is required');
  expect((await update('resend', { enabled: false }).expect(200)).body).toMatchObject({
    enabled: false,
    isReadable: false,
  });
  const { body: repaired } = await update('resend', {
    settings: { apiKey: 're_key_7654321' },
    enabled: true,
  });
  expect(repaired).toMatchObject({ isReadable: true });
  expect(valuesOf(repaired)).toEqual({ apiKey: '••••4321', from: 'a@b.cl' });
});

test('concurrent changes of different fields are all kept, and two creations make one', async () => {
  const created = await Promise.all([1, 2, 3].map(() => create('resend', { apiKey: 'k' })));
  expect(created.map((answer) => answer.status).sort()).toEqual([201, 409, 409]);
  // A new address is given with the key.
  const moved = { apiUrl: 'https://mail.example', apiKey: 'other-key-5678' };
  const changes = [{ from: 'a@b.cl' }, moved];
  await Promise.all(changes.map((settings) => update('resend', { settings }).expect(200)));
  const { body } = await world.call('get', '/v1/integrations/resend');
  expect(valuesOf(body)).toEqual({
    apiKey: '••••5678',
    from: 'a@b.cl',
    apiUrl: 'https://mail.example',
  });
});

type Moved = [name: string, settings: object, change: object, again: string[]];
const stored = { apiKey: 'a-stored-key', secretKey: 'a-stored-secret' };
const headers = { 'X-Key': 'a-stored-header' };
const moves: Moved[] = [
  ['flow', stored, { apiUrl: 'https://evil.example/api' }, ['apiKey', 'secretKey']],
  ['flow', stored, { apiUrl: 'https://evil.example/api', apiKey: 'given' }, ['secretKey']],
  ['flow', { ...stored, apiUrl: 'https://own.example' }, { apiUrl: null }, ['apiKey', 'secretKey']],
  ['kapso', { apiKey: 'k' }, { apiUrl: 'https://evil.example' }, ['apiKey']],
  ['resend', { apiKey: 'k' }, { apiUrl: 'https://evil.example' }, ['apiKey']],
  [
    'resend',
    { apiKey: 'k', apiUrl: 'https://mail.example' },
    { apiUrl: 'http://mail.example' },
    ['apiKey'],
  ],
  [
    'resend',
    { apiKey: 'k', apiUrl: 'https://mail.example' },
    { apiUrl: 'https://mail.example:8443' },
    ['apiKey'],
  ],
  ['resend', { apiKey: 'k', apiUrl: 'https://mail.example' }, { apiUrl: null }, ['apiKey']],
  ['openai', { apiKey: 'k' }, { baseUrl: 'https://evil.example/v1' }, ['apiKey']],
  [
    'my-server',
    { baseUrl: 'https://a.example', apiKey: 'k' },
    { baseUrl: 'https://b.example' },
    ['apiKey'],
  ],
  ['mcp.crm', { url: 'https://a.example', headers }, { url: 'https://b.example' }, ['headers']],
  [
    'mcp.crm',
    { url: 'https://a.example', apiKey: 'k', headers },
    { url: 'https://a.example.evil.example' },
    ['apiKey', 'headers'],
  ],
];
test.each(moves)(
  'a new address of %s %j with %j needs the stored secrets again',
  async (name, settings, change, again) => {
    const { body: before } = await create(name, settings).expect(201);
    for (const enabled of [undefined, false]) {
      const { body } = await update(name, { settings: change, enabled }).expect(400);
      expect([body.code, body.details.map(({ path }: { path: string }) => path)]).toEqual([
        'secrets_required',
        again.map((field) => `settings.${field}`),
      ]);
      expect(body.error).toBe(
        `settings.${again[0]}: must be given again, because the address has changed`,
      );
    }
    expect((await world.call('get', `/v1/integrations/${name}`)).body).toEqual(before);
    const given = Object.fromEntries(
      again.map((field) => [field, field === 'headers' ? { 'X-Key': 'new' } : 'given-again']),
    );
    await update(name, { settings: { ...change, ...given } }).expect(200);
  },
);

test('secrets stay when the host, port and protocol do, when they are removed, and when none is stored', async () => {
  await create('my-server', { baseUrl: 'https://a.example/v1', apiKey: 'a-stored-key' }).expect(
    201,
  );
  for (const baseUrl of [
    'https://a.example/v1',
    'https://a.example:443/v1/',
    'https://A.example/v2',
  ])
    expect(
      valuesOf((await update('my-server', { settings: { baseUrl } }).expect(200)).body).apiKey,
    ).toBe('••••-key');
  const moved = { baseUrl: 'https://b.example', apiKey: null };
  expect(valuesOf((await update('my-server', { settings: moved }).expect(200)).body)).toEqual({
    baseUrl: 'https://b.example',
  });
  await update('my-server', { settings: { baseUrl: 'https://c.example' } }).expect(200);
});

test('an environment has at most 100 integrations', async () => {
  await api.db.pool.query(
    `insert into integrations (id, tenant, environment, provider, updated_at)
     select 'int' || n || '-' || $1::int, $1::int, 'development', 'mcp.s' || n, now() from generate_series(1, 100) n`,
    [world.scope.tenant],
  );
  expect((await create('openai', { apiKey: 'k' }).expect(400)).body.code).toBe(
    'too_many_integrations',
  );
  expect((await world.call('get', '/v1/integrations')).body.data).toHaveLength(107);
});

describe('a test', () => {
  const run = async (name: string) =>
    (await world.call('post', `/v1/integrations/${name}/test`).expect(200)).body;

  test('sends the key to the provider, and reports a refused one', async () => {
    // `constructor` is a name like others, and not the property of every object.
    for (const name of ['my-server', 'constructor']) {
      await create(name, { baseUrl: `${provider.url}/v1`, apiKey: 'own-key' }).expect(201);
      expect(await run(name)).toEqual({
        ok: true,
        reason: 'accepts the key',
        durationMs: expect.any(Number),
      });
    }
    status = 401;
    expect(await run('my-server')).toMatchObject({ ok: false, reason: 'refuses the key' });
    status = 200;
    expect((await audit())[0]).toMatchObject({
      action: 'integration.tested',
      after: { ok: false },
    });
  });

  test('of flow signs a request for an order that does not exist', async () => {
    const account = { apiKey: 'k1', secretKey: 's1' };
    const flow = await startFlowServer(account);
    await create('flow', { ...account, apiUrl: flow.url }).expect(201);
    expect(await run('flow')).toMatchObject({
      ok: true,
      reason: expect.stringContaining('Flow accepts the keys'),
    });
    await update('flow', { settings: { secretKey: 'wrong' } }).expect(200);
    expect(await run('flow')).toMatchObject({
      ok: false,
      reason: expect.stringContaining('Invalid signature'),
    });
    await flow.stop();
  });

  test('of kapso uses the address of the operator', async () => {
    await create('kapso', { apiKey: api.kapso.apiKey }).expect(201);
    expect(await run('kapso')).toMatchObject({ ok: true, reason: 'accepts the key' });
  });

  test('of an MCP server that is down or switched off says so', async () => {
    await create('mcp.crm', { url: 'http://127.0.0.1:1/mcp' }).expect(201);
    expect(await run('mcp.crm')).toMatchObject({
      ok: false,
      reason: expect.stringContaining('cannot be reached'),
    });
    await update('mcp.crm', { enabled: false }).expect(200);
    expect(await run('mcp.crm')).toMatchObject({ ok: false, reason: 'is switched off' });
  });

  test('ends within its limit when the provider is silent, sends forever, or sends nonsense', async () => {
    const answers: Record<string, (response: ServerResponse) => void> = {
      silent: () => {},
      drip: (response) => {
        const timer = setInterval(() => response.write(' '), 50);
        response.once('close', () => clearInterval(timer));
      },
      huge: (response) => {
        const write = (): void =>
          void (response.write(Buffer.alloc(65_536, 97)) ? setImmediate(write) : 0);
        response.on('drain', write).on('error', () => {});
        write();
      },
      html: (response) => response.end('<html>'),
      redirect: (response) =>
        response.writeHead(302, { location: 'http://169.254.169.254/' }).end(),
      broken: (response) => response.destroy(),
    };
    const server = createServer((request, response) =>
      answers[request.url!.split('/')[1]!]!(response),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const results = await Promise.all(
      Object.keys(answers).map(async (name) => {
        await create(`server-${name}`, { baseUrl: `http://127.0.0.1:${port}/${name}` }).expect(201);
        return [name, await run(`server-${name}`)] as const;
      }),
    );
    server.closeAllConnections();
    server.close();
    expect(Object.fromEntries(results)).toMatchObject({
      silent: { ok: false, reason: 'gave no complete answer within 2000 ms' },
      drip: { ok: false, reason: 'gave no complete answer within 2000 ms' },
      huge: { ok: false, reason: expect.stringContaining('longer than 5242880 bytes') },
      html: { ok: false, reason: expect.stringContaining('is not JSON') },
      redirect: { ok: false, reason: expect.stringContaining('redirect, which is not followed') },
      broken: { ok: false, reason: expect.stringContaining('the connection broke') },
    });
    expect(Math.max(...results.map(([, { durationMs }]) => durationMs))).toBeLessThan(10_000);
  });
});
