import { randomUUID } from 'node:crypto';
import { type LookupFunction } from 'node:net';
import { gzipSync } from 'node:zlib';
import { type Operation, openApiDocument, operationsOf } from '@parley/contracts';
import { saveIntegration } from '@parley/db';
import { createApiKey, revokeApiKey } from '@parley/identity';
import { createGuardedFetch } from '@parley/outbound';
import { closeRedis, connectRedis, createRateLimiter, waitForRedis } from '@parley/redis';
import {
  type ProviderAnswer,
  type ProviderServer,
  startProviderServer,
  until,
} from '@parley/testing';
import {
  type TestGateway,
  type TestUpstream,
  startGateway,
  startRawUpstream,
} from '../../gateway/src/gateway-under-test';
import { findRoute } from '../../gateway/src/routes';
import { createManageApp } from './app';
import { type Method, type TestApi, type World, createTestApi } from './testing/create-test-api';
import { samples } from './testing/samples';
import { insertDefinitions } from './testing/samples/definitions';
import { integration } from './testing/samples/integrations';
import { message } from './testing/samples/messages';
import { payment } from './testing/samples/payments';
import type { ManageOperation, Sample } from './testing/samples/sample';
import { trigger } from './testing/samples/triggers';

/**
 * The OWASP API Security Top 10 of 2023 for the management API, through the gateway. callers.test
 * sends every operation with every kind of caller and the ids of others; fuzz.test sends varied
 * requests to every operation.
 */
let api: TestApi;
let manage: TestUpstream;
let gateway: TestGateway;
let world: World;
/**
 * A provider whose answer the test sets. Guards refuse its address unless it is named
 * `allowed.example.com`.
 */
let provider: ProviderServer;
let answer: () => ProviderAnswer | Promise<ProviderAnswer>;
let hits = 0;

/** Resolves names of the tests to this machine. */
const lookup: LookupFunction = (_name, options, callback) =>
  options.all
    ? callback(null, [{ address: '127.0.0.1', family: 4 }])
    : callback(null, '127.0.0.1', 4);

beforeAll(async () => {
  provider = await startProviderServer(() => {
    hits += 1;
    return answer();
  });
  const guard = createGuardedFetch({ allowedPrivateHosts: ['allowed.example.com'], lookup });
  api = await createTestApi({ guards: { mcp: guard, providers: guard }, testLimitMs: 1_500 });
  manage = await startRawUpstream(createManageApp(api.deps));
  gateway = await startGateway({ manage: manage.url });
});
beforeEach(async () => {
  world = await api.world();
  answer = () => ({ status: 200, body: { data: [] } });
  hits = 0;
});
afterAll(async () => {
  await gateway.close();
  await manage.close();
  await provider.stop();
  await api.close();
});

const operations = Object.entries<Operation>({
  ...operationsOf.manage,
  ...operationsOf.toolSecrets,
}).map(([id, operation]) => [id as ManageOperation, operation] as const);
const keyOf = (of: World) => api.keyOf(of.scope, ['manage', 'sync']);

interface Options {
  key?: string;
  body?: unknown;
  headers?: Record<string, string>;
}

/** Sends a request through the gateway; as the key of `world` unless another is given. */
async function send(
  method: string,
  path: string,
  { key = world.key, body, headers = {} }: Options = {},
) {
  const sent =
    body === undefined || typeof body === 'string' || Buffer.isBuffer(body)
      ? body
      : JSON.stringify(body);
  const response = await fetch(gateway.url + path, {
    method,
    headers: {
      ...(key && { Authorization: `Bearer ${key}` }),
      'Content-Type': 'application/json',
      ...headers,
    },
    ...(sent !== undefined && { body: sent as string }),
    redirect: 'manual',
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json');
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson ? JSON.parse(text) : null,
  };
}
const pathOf = ({ path }: Operation, { params, query }: Sample) =>
  path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params?.[name] ?? '')) +
  (query ? `?${new URLSearchParams(query)}` : '');

describe('API1 object level: what belongs to another organization cannot be named in a body, path or cursor', () => {
  let other: World;
  beforeEach(async () => {
    other = await api.world();
  });

  test.each<[string, () => Promise<[string, string, object]>, number]>([
    [
      'an agent',
      async () => ['POST', '/v1/channels', { agent: await insertDefinitions(other) }],
      400,
    ],
    [
      'a trigger',
      async () => ['POST', '/v1/trigger-runs/retry', { trigger: await trigger(other) }],
      404,
    ],
    [
      'a role',
      async () => ['POST', '/v1/api-keys', { name: 'a', permissions: ['chat'], role: 'clerk' }],
      400,
    ],
    [
      'a channel',
      async () => ['PATCH', `/v1/channels/${(await message(other)).connectionId}`, {}],
      404,
    ],
    [
      'a message',
      async () => ['POST', `/v1/messages/${(await message(other)).id}/retry`, { anyway: true }],
      404,
    ],
    [
      'an integration',
      async () => ['POST', `/v1/integrations/${await integration(other)}/test`, {}],
      404,
    ],
  ])('%s', async (_name, prepare, status) => {
    const [method, path, body] = await prepare();
    expect((await send(method, path, { body })).status).toBe(status);
    const { rows } = await api.db.pool.query('select 1 from audit_log where tenant in ($1, $2)', [
      world.scope.tenant,
      other.scope.tenant,
    ]);
    expect(rows).toEqual([]);
  });

  test.each(['/v1/messages', '/v1/audit-log', '/v1/api-keys'])('a cursor of %s', async (path) => {
    await message(other);
    await api.keyOf(other.scope, ['chat']);
    const { body } = await send('GET', `${path}?limit=1`, { key: other.key });
    if (body.cursor === '') return;
    const foreign = await send('GET', `${path}?limit=1&cursor=${body.cursor}`);
    expect([foreign.status, foreign.body.code]).toEqual([400, 'invalid_cursor']);
  });
});

describe('API2 authentication: only a valid key in the Authorization header is accepted', () => {
  const credentials: Record<string, () => Promise<Record<string, string>>> = {
    'no key': async () => ({}),
    'another scheme': async () => ({
      Authorization: `Basic ${Buffer.from(world.key).toString('base64')}`,
    }),
    'the key as a cookie': async () => ({ Cookie: `key=${world.key}` }),
    'another header': async () => ({ 'X-Api-Key': world.key }),
    'a changed key': async () => ({ Authorization: `Bearer ${world.key.slice(0, -1)}~` }),
    'the hash of a key': async () => ({ Authorization: `Bearer ${'a'.repeat(64)}` }),
    'an expired key': async () => ({
      Authorization: `Bearer ${await api.keyOf(world.scope, ['manage'], { expiresAt: new Date(Date.now() - 1_000) })}`,
    }),
    'a revoked key': async () => {
      const { id, key } = await createApiKey(api.db, {
        ...world.scope,
        name: 'k',
        permissions: ['manage'],
      });
      await revokeApiKey(api.db, world.scope, id);
      return { Authorization: `Bearer ${key}` };
    },
    'a header of a trusted proxy': async () => ({
      'X-Forwarded-User': 'admin',
      'X-Organization-Id': 'org',
    }),
  };
  test.each(Object.keys(credentials))('%s', async (name) => {
    const headers = await credentials[name]!();
    for (const [method, path] of [
      ['GET', '/v1/integrations'],
      ['POST', '/v1/api-keys'],
      ['DELETE', '/v1/channels/x'],
      ['GET', `/v1/integrations?api_key=${world.key}`],
    ] as const) {
      const { status, body } = await send(method, path, { key: '', headers });
      expect([status, body.error]).toEqual([401, 'Unauthorized']);
    }
  });
});

describe('API3 property level: fields that a caller may not set are refused, and secrets are never returned', () => {
  const foreign = {
    tenant: 1,
    organizationId: 'org_1',
    environment: 'production',
    id: 'x',
    createdAt: 1,
    active: true,
    isAdmin: true,
    permission: '*',
    status: 'connected',
    webhookId: 'x',
    config: {},
    secrets: {},
  };
  const withBody = operations.filter(
    ([, { body, bodyType }]) => body !== undefined && bodyType === undefined,
  );
  test.each(withBody)('%s', async (id, operation) => {
    const sample = await samples[id](world);
    // A request with a key is one of its key, whatever cookie it has.
    const key = sample.headers?.Cookie === undefined ? await keyOf(world) : '';
    const known = Object.keys((sample.body as object | undefined) ?? {});
    for (const [name, value] of Object.entries(foreign)) {
      if (known.includes(name)) continue;
      const body = { ...(sample.body as object), [name]: value };
      const response = await send(operation.method.toUpperCase(), pathOf(operation, sample), {
        key,
        body,
        headers: sample.headers,
      });
      expect([name, response.status, response.body?.code]).toEqual([name, 400, 'invalid_body']);
    }
    const text = JSON.stringify(sample.body ?? {}).replace(
      /}$/,
      `${known.length > 0 ? ',' : ''}"__proto__":{"a":1}}`,
    );
    const path = pathOf(operation, sample);
    const { status } = await send(operation.method.toUpperCase(), path, {
      key,
      body: text,
      headers: sample.headers,
    });
    expect(status).toBe(400);
    expect(({} as Record<string, unknown>).a).toBeUndefined();
  });

  test('secrets are in no answer of the API', async () => {
    const secret = 'super-secret-value-9x7';
    await saveIntegration(api.db, api.deps.box, world.scope, {
      provider: 'openai',
      config: {},
      secrets: { apiKey: secret },
    });
    const key = await keyOf(world);
    await send('POST', '/v1/tool-secrets', { key, body: { name: 'CARRIER', value: secret } });
    await send('PATCH', '/v1/integrations/openai', {
      key,
      body: { settings: { apiKey: `${secret}2` } },
    });
    for (const path of [
      '/v1/integrations',
      '/v1/integrations/openai',
      '/v1/tool-secrets',
      '/v1/audit-log',
    ])
      expect((await send('GET', path, { key })).text).not.toContain(secret.slice(0, 12));
  });
});

const manyHeaders = () => Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`X-${n}`, 'a']));

describe('API4 resource consumption: sizes, depth and pages are limited', () => {
  test.each<[string, string, string, unknown, number, Record<string, string>]>([
    [
      'a body above 1 MiB',
      'POST',
      '/v1/integrations',
      `{"provider":"${'x'.repeat(1_100_000)}"}`,
      413,
      {},
    ],
    [
      '100,000 nested arrays',
      'POST',
      '/v1/integrations',
      '['.repeat(100_000) + ']'.repeat(100_000),
      400,
      {},
    ],
    [
      '100 nested objects',
      'POST',
      '/v1/integrations',
      '{"a":'.repeat(100) + '1' + '}'.repeat(100),
      400,
      {},
    ],
    [
      'a compressed body',
      'POST',
      '/v1/api-keys',
      gzipSync('{}'),
      415,
      { 'Content-Encoding': 'gzip' },
    ],
    [
      'a long name',
      'POST',
      '/v1/api-keys',
      { name: 'ñ'.repeat(101), permissions: ['chat'] },
      400,
      {},
    ],
    [
      'many permissions',
      'POST',
      '/v1/api-keys',
      { name: 'a', permissions: Array(1000).fill('chat') },
      400,
      {},
    ],
    [
      'many headers',
      'PATCH',
      '/v1/integrations/mcp.crm',
      { settings: { headers: manyHeaders() } },
      400,
      {},
    ],
    ['a long id', 'GET', `/v1/messages/${'x'.repeat(5_000)}`, undefined, 400, {}],
    ['a long filter', 'GET', `/v1/messages?contact=${'1'.repeat(5_000)}`, undefined, 400, {}],
    ['a negative limit', 'GET', '/v1/messages?limit=-1', undefined, 400, {}],
    ['a limit that is no number', 'GET', '/v1/messages?limit=1e9', undefined, 400, {}],
    ['a long header', 'GET', '/v1/messages', undefined, 431, { 'X-Long': 'x'.repeat(20_000) }],
  ])('%s', async (_name, method, path, body, status, headers) => {
    await integration(world);
    const response = await send(method, path, { body, headers });
    expect(response.status).toBe(status);
    expect(response.text.length).toBeLessThan(20_000);
  });

  test('a page has at most 100 items, whatever the limit', async () => {
    await api.db.pool.query(
      `insert into messages (id, tenant, environment, direction, contact, type, status, payload, updated_at)
       select 'm' || n || '-' || $1::int, $1::int, 'development', 'inbound', '569', 'text', 'stored', '{}', now() from generate_series(1, 150) n`,
      [world.scope.tenant],
    );
    const { body } = await send('GET', '/v1/messages?limit=1000000');
    expect([body.data.length, body.hasMore]).toEqual([100, true]);
  });
});

describe('API5 function level: operations of administrators are for administrators', () => {
  test('settings, keys, channels and the audit log name the role admin', () => {
    const settings = /^\/v1\/(api-keys|integrations|tool-secrets|audit-log)/;
    const ofAdmin = operations.filter(
      ([, { path, method }]) =>
        settings.test(path) || (/^\/v1\/(channels|organization)/.test(path) && method !== 'get'),
    );
    expect(ofAdmin.length).toBeGreaterThan(15);
    expect(ofAdmin.filter(([, { people }]) => people !== 'admin').map(([id]) => id)).toEqual([]);
  });

  test.each([
    [['chat'], undefined],
    [['data', 'sync'], undefined],
    [['*'], undefined],
    [['*'], 'clerk'],
    [['manage'], 'clerk'],
  ] as const)('a key with %j and the role %s', async (permissions, role) => {
    const key = await api.keyOf(world.scope, [...permissions], { role });
    for (const [method, path, body] of [
      ['GET', '/v1/integrations', undefined],
      ['POST', '/v1/api-keys', { name: 'a', permissions: ['manage'] }],
      ['POST', '/v1/integrations', { provider: 'openai', settings: { apiKey: 'k' } }],
      ['POST', '/v1/channels', { agent: 'a' }],
      ['POST', '/v1/payments/reconcile', {}],
      ['GET', '/v1/audit-log', undefined],
    ] as const)
      expect((await send(method, path, { key, body })).status).toBe(403);
  });

  test('a key of one environment does not create keys of another', async () => {
    const { body } = await send('POST', '/v1/api-keys', {
      body: { name: 'a', permissions: ['manage'] },
    });
    const { rows } = await api.db.pool.query('select environment from api_keys where id = $1', [
      body.id,
    ]);
    expect(rows).toEqual([{ environment: 'development' }]);
  });
});

describe('API6 sensitive flows: repetitions and bursts have one effect, or are refused', () => {
  test('connecting a channel with an idempotency key makes one customer', async () => {
    const body = { agent: await insertDefinitions(world) };
    const headers = { 'Idempotency-Key': 'k' };
    const answers = await Promise.all(
      [1, 2, 3].map(() => send('POST', '/v1/channels', { body, headers })),
    );
    expect(answers.filter(({ status }) => status === 201).length).toBeGreaterThan(0);
    expect((await send('GET', '/v1/channels')).body.data).toHaveLength(1);
    const changed = await send('POST', '/v1/channels', {
      body: { ...body, name: 'Other' },
      headers,
    });
    expect(changed.status).toBe(409);
  });

  test('a burst of tests is refused with Retry-After, and leaves places for other organizations', async () => {
    answer = () => new Promise(() => {}); // each test takes as long as it may
    const settings = { baseUrl: `${named(provider.url, 'allowed.example.com')}/v1` };
    await send('POST', '/v1/integrations', { body: { provider: 'slow', settings } });
    const burst = Promise.all(
      Array.from({ length: 40 }, () => send('POST', '/v1/integrations/slow/test')),
    );
    await new Promise((resolve) => setTimeout(resolve, 150));
    const other = await api.world();
    await integration(other);
    expect((await send('POST', '/v1/integrations/mcp.crm/test', { key: other.key })).status).toBe(
      200,
    );
    const answers = await burst;
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(5);
    expect([refused[0]!.body.code, Number(refused[0]!.headers.get('retry-after')) > 0]).toEqual([
      'too_many_tests',
      true,
    ]);
    expect(hits).toBeLessThanOrEqual(answers.length - refused.length);
  });

  test('a key that guesses is slowed down by its rate limit', async () => {
    const redis = connectRedis({ url: api.redisUrl, role: 'limiter' });
    await waitForRedis(redis, 5_000);
    const limits = { perKey: 10, perOrganization: 100 };
    const limiter = createRateLimiter({ redis, name: 'owasp', limits, onSkip: () => {} });
    const upstream = await startRawUpstream(createManageApp({ ...api.deps, limiter }));
    const call = (n: number) =>
      fetch(`${upstream.url}/v1/integrations/guess-${n}`, {
        headers: { Authorization: `Bearer ${world.key}` },
      });
    const statuses = (await Promise.all(Array.from({ length: 20 }, (_, n) => call(n)))).map(
      ({ status }) => status,
    );
    expect(statuses.filter((status) => status === 429)).toHaveLength(10);
    await upstream.close();
    limiter.close();
    await closeRedis(redis);
  });
});

/** The address of a server with another name for its host. */
function named(url: string, host: string): string {
  const { port } = new URL(url);
  return `http://${host}:${port}`;
}

describe('API7 server side request forgery: a test of an integration reaches public addresses only', () => {
  const hosts = [
    'http://169.254.169.254/latest/meta-data',
    'http://[::ffff:169.254.169.254]/',
    'http://metadata.google.internal/',
    'http://localhost:PORT',
    'http://127.0.0.1:PORT',
    'http://127.1:PORT',
    'http://2130706433:PORT',
    'http://0x7f000001:PORT',
    'http://[::1]:PORT',
    'http://0.0.0.0:PORT',
    // A public name whose address is this machine (DNS rebinding).
    'http://rebound.example.com:PORT',
    'http://10.0.0.1/',
    'http://chat:4002/',
    'http://kubernetes.default.svc/',
  ];
  test.each(hosts)('%s', async (host) => {
    const address = host.replace('PORT', new URL(provider.url).port);
    for (const [name, settings] of [
      ['my-models', { baseUrl: address, apiKey: 'k' }],
      ['mcp.crm', { url: address, apiKey: 'k' }],
      ['flow', { apiUrl: address, apiKey: 'k', secretKey: 's' }],
      ['kapso', { apiUrl: address, apiKey: 'k' }],
    ] as const) {
      expect(
        (await send('POST', '/v1/integrations', { body: { provider: name, settings } })).status,
      ).toBe(201);
      const { status, body } = await send('POST', `/v1/integrations/${name}/test`);
      expect([name, status, body]).toMatchObject([name, 200, { ok: false }]);
      expect(body.reason).toMatch(
        /not on the public internet|Port not allowed|MCP server "crm" cannot be reached/,
      );
    }
    const settings = { apiUrl: address, apiKey: 'k', from: 'shop@example.com' };
    expect(
      (await send('POST', '/v1/integrations', { body: { provider: 'resend', settings } })).status,
    ).toBe(201);
    const invited = await send('POST', '/v1/invitations', {
      body: { role: 'member', email: 'ben@example.com' },
    });
    expect([invited.status, invited.body.isEmailed]).toEqual([201, false]);
    expect(hits).toBe(0);
  });

  test('connecting a channel, templates and the status of payments do not call a private address of an organization', async () => {
    const save = (name: string, secrets: Record<string, string>) =>
      saveIntegration(api.db, api.deps.box, world.scope, {
        provider: name,
        config: { apiUrl: provider.url },
        secrets: { apiKey: 'k', ...secrets },
      });
    await save('kapso', {});
    await save('flow', { secretKey: 's' });
    const { connectionId } = await message(world);
    const paymentId = await payment(world);
    await api.db.pool.query(
      `update entities set data = data || '{"status": "pending", "providerReference": "7"}' where tenant = $1 and id = $2`,
      [world.scope.tenant, paymentId],
    );
    const agent = await insertDefinitions(world);
    for (const [method, path, body] of [
      ['POST', '/v1/channels', { agent }],
      ['POST', '/v1/channels', { agent, phoneNumberId: '1' }],
      ['GET', `/v1/channels/${connectionId}/templates`, undefined],
      ['DELETE', `/v1/channels/${connectionId}`, undefined],
      ['POST', `/v1/payments/${paymentId}/reconcile`, {}],
    ] as const) {
      const { status, body: failed } = await send(method, path, { body });
      expect([path, status, failed.error]).toEqual([
        path,
        502,
        expect.stringContaining('not on the public internet'),
      ]);
    }
    expect(hits).toBe(0);
  });

  test('e-mails about accounts do not go to a private address of an organization, and it learns nothing', async () => {
    const { id, email, password, headers } = await api.person(world, 'member');
    await api.db.pool.query('update passwords set email_proved_at = null where user_id = $1', [id]);
    await saveIntegration(api.db, api.deps.box, world.scope, {
      provider: 'resend',
      config: { apiUrl: provider.url, from: 'shop@example.com' },
      secrets: { apiKey: 'k' },
    });
    const secure = { ...headers, 'X-Forwarded-Proto': 'https' };
    const changed = await send('POST', '/v1/me/email', {
      key: '',
      headers: secure,
      body: { email, password },
    });
    expect([changed.status, changed.body.isConfirmationSent]).toEqual([200, false]);
    const reset = await send('POST', '/v1/sign-in/password-reset', {
      key: '',
      headers: secure,
      body: { email },
    });
    expect(reset.status).toBe(202);
    const links = 'select from person_links where user_id = $1';
    await until(async () => (await api.db.pool.query(links, [id])).rowCount === 2);
    expect(hits).toBe(0);
  });

  test.each([
    'file:///etc/passwd',
    'gopher://127.0.0.1:6379/_x',
    'http://user:pass@example.com',
    'ftp://a.cl',
  ])('%s is not stored', async (baseUrl) => {
    const body = { provider: 'my-models', settings: { baseUrl } };
    expect((await send('POST', '/v1/integrations', { body })).status).toBe(400);
  });

  test('a redirect to a private address is not followed', async () => {
    answer = () => ({
      status: 307,
      body: {},
      headers: { Location: 'http://169.254.169.254/latest/meta-data' },
    });
    const settings = { baseUrl: named(provider.url, 'allowed.example.com'), apiKey: 'k' };
    await send('POST', '/v1/integrations', { body: { provider: 'my-models', settings } });
    const { body } = await send('POST', '/v1/integrations/my-models/test');
    expect([body.ok, body.reason, hits]).toEqual([
      false,
      expect.stringContaining('redirect, which is not followed'),
      1,
    ]);
  });
});

describe('API8 misconfiguration: headers, methods and errors', () => {
  test.each<[string, string, string, Options, number]>([
    ['an answer', 'GET', '/v1/integrations', {}, 200],
    ['a refused body', 'POST', '/v1/integrations', { body: '{' }, 400],
    ['a missing key', 'GET', '/v1/integrations', { key: '' }, 401],
    ['a missing permission', 'GET', '/v1/tool-secrets', {}, 403],
    ['an unknown path', 'GET', '/v1/integrations/a/b/c', {}, 404],
    ['a wrong method', 'PUT', '/v1/integrations', { body: {} }, 405],
    [
      'a preflight',
      'OPTIONS',
      '/v1/api-keys',
      { headers: { Origin: 'https://evil.example' } },
      405,
    ],
    [
      'a foreign origin',
      'GET',
      '/v1/api-keys',
      { headers: { Origin: 'https://evil.example' } },
      200,
    ],
  ])('%s', async (_name, method, path, options, status) => {
    const response = await send(method, path, options);
    expect(response.status).toBe(status);
    const { headers } = response;
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('x-request-id')).toMatch(/./);
    for (const name of [
      'access-control-allow-origin',
      'access-control-allow-credentials',
      'x-powered-by',
      'server',
    ])
      expect([name, headers.get(name)]).toEqual([name, null]);
    if (status === 405) expect(headers.get('allow')).toMatch(/GET/);
    if (status >= 400)
      expect(response.body).toMatchObject({ error: expect.any(String), code: expect.any(String) });
  });

  test.each(['TRACE', 'CONNECT', 'PROPFIND', 'get'])(
    'the method %s has no effect',
    async (method) => {
      const status = await fetch(`${gateway.url}/v1/integrations`, { method }).then(
        (response) => response.status,
        () => 0,
      );
      expect([0, 400, 401, 404, 405, 501]).toContain(status);
    },
  );

  test('a failure of the database shows neither SQL nor a stack', async () => {
    const broken = {
      ...api.db,
      query: () => Promise.reject(new Error('select secret from vault at /srv/app/db.ts:1:1')),
    } as unknown as TestApi['db'];
    const upstream = await startRawUpstream(createManageApp({ ...api.deps, db: broken }));
    const response = await fetch(`${upstream.url}/v1/integrations`, {
      headers: { Authorization: `Bearer ${world.key}` },
    });
    const text = await response.text();
    await upstream.close();
    expect(response.status).toBeGreaterThanOrEqual(500);
    expect(text).not.toMatch(/select|vault|\.ts|\bat /);
  });
});

describe('API9 inventory: what answers is documented, and nothing else answers', () => {
  const { paths } = openApiDocument();
  test.each(operations)(
    '%s is in the OpenAPI document, and the gateway forwards it to manage',
    (_id, { method, path }) => {
      expect(paths[path.replace(/:(\w+)/g, '{$1}')]?.[method]).toBeDefined();
      expect(findRoute(path.replace(/:\w+/g, 'x'), method.toUpperCase())?.upstream).toBe('manage');
    },
  );

  test.each([...new Set(operations.map(([, { path }]) => path))])(
    '%s answers documented methods only',
    async (path) => {
      const key = await keyOf(world);
      const documented = operations
        .filter(([, one]) => one.path === path)
        .map(([, { method }]) => method);
      const literal = path.replace(/:\w+/g, 'x');
      for (const method of ['get', 'post', 'put', 'patch', 'delete'] as const) {
        if (documented.includes(method as 'get')) continue;
        const { status } = await api.call(method as Method, literal, {
          key,
          body: method === 'get' ? undefined : {},
        });
        // Another pattern, such as `/:id`, may match the path.
        expect([method, [400, 404, 405].includes(status)]).toEqual([method, true]);
      }
    },
  );

  test.each([
    ...[
      '/v1/admin',
      '/v1/debug',
      '/v1/root',
      '/v1/config',
      '/v2/integrations',
      '/v1/internal',
      '/metrics',
      '/livez',
    ],
    ...[
      '/settings',
      '/.env',
      '/v1/integrations/openai/secrets',
      '/v1/api-keys/x/key',
      '/v1/tool-secrets/A/value',
    ],
  ])('%s is 404', async (path) => {
    for (const method of ['GET', 'POST'])
      expect([404, 405]).toContain(
        (
          await send(method, path, {
            key: await keyOf(world),
            body: method === 'POST' ? {} : undefined,
          })
        ).status,
      );
  });
});

describe('API10 consumption of APIs: answers of providers are not trusted', () => {
  const answers: Record<string, ProviderAnswer> = {
    'a list that is not one': { status: 200, body: { data: 'x' } },
    null: { status: 200, body: null },
    'a number': { status: 200, body: 7 },
    'deep nesting': {
      status: 200,
      body: Buffer.from('{"data":'.repeat(5_000) + '1' + '}'.repeat(5_000)),
    },
    'items of other types': {
      status: 200,
      body: { data: [null, 1, 'x', [], { id: {}, url: 5, name: null }] },
    },
    HTML: { status: 200, body: Buffer.from('<script>alert(1)</script>') },
    'half of JSON': { status: 200, body: Buffer.from('{"data": [') },
    'invalid UTF-8': { status: 200, body: Buffer.from([0x22, 0xff, 0xfe, 0x22]) },
    'a bomb': {
      status: 200,
      body: gzipSync(Buffer.alloc(50_000_000)),
      headers: { 'Content-Encoding': 'gzip' },
    },
    'a long error': { status: 500, body: { error: `secret-of-provider ${'x'.repeat(100_000)}` } },
    'a refusal': { status: 403, body: { error: 'x\r\nSet-Cookie: a=b' } },
    'a closed connection': 'drop',
  };

  test.each(Object.keys(answers))('%s', async (name) => {
    answer = () => answers[name]!;
    const address = named(provider.url, 'allowed.example.com');
    for (const [of, settings] of [
      ['my-models', { baseUrl: address, apiKey: 'k' }],
      ['mcp.crm', { url: address }],
      ['flow', { apiUrl: address, apiKey: 'k', secretKey: 's' }],
    ] as const) {
      await send('POST', '/v1/integrations', { body: { provider: of, settings } });
      const { status, body, text } = await send('POST', `/v1/integrations/${of}/test`);
      expect([of, status, typeof body.ok]).toEqual([of, 200, 'boolean']);
      expect(text.length).toBeLessThan(1_000);
      // Control characters of the provider must not reach logs and terminals.
      expect(body.reason).not.toMatch(/[\u0000-\u001f]/);
    }
    await saveIntegration(api.db, api.deps.box, world.scope, {
      provider: 'kapso',
      config: { apiUrl: address },
      secrets: { apiKey: 'k' },
    });
    const { connectionId } = await message(world);
    const templates = await send('GET', `/v1/channels/${connectionId}/templates`);
    expect([200, 502]).toContain(templates.status);
    const connected = await send('POST', '/v1/channels', {
      body: { agent: await insertDefinitions(world), phoneNumberId: randomUUID() },
    });
    expect([connected.status, connected.body.code]).toEqual([502, 'provider_failed']);
    expect(connected.text.length + templates.text.length).toBeLessThan(20_000);
  });
});
