import { startStack, until } from '@parley/testing';
import { assistant, catalog } from './catalog';
import { push } from './client';
import { shared } from './stack';
import { type Tenant, createTenant } from './tenant';

const site = 'https://shop.example.com';
let tenant: Tenant;
let key: string;
beforeAll(async () => {
  tenant = await createTenant();
  const owner = await tenant.client({ permissions: ['*', 'manage'] });
  await push(owner, catalog);
  const created = await owner.post('/v1/publishable-keys', {
    name: 'website',
    agentSlug: assistant.slug,
    origins: [site],
  });
  expect(created.status).toBe(201);
  key = created.body.key as string;
});
afterAll(() => tenant.close());

const ask = (path: string, { origin = site, ...init }: RequestInit & { origin?: string } = {}) =>
  fetch(`${shared.url}/v1/widget/${path}?key=${key}`, {
    ...init,
    headers: {
      Origin: origin,
      'Content-Type': 'application/json',
      ...(init.headers as Record<string, string>),
    },
  });

test('a page of the site talks to the agent, through the gateway', async () => {
  const preflight = await ask('messages', { method: 'OPTIONS' });
  expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([
    204,
    site,
  ]);
  const session = await ask('sessions', { method: 'POST', body: '{}' });
  expect(session.status).toBe(201);
  const { token } = (await session.json()) as { token: string };
  const headers = { Authorization: `Bearer ${token}` };
  const sent = await ask('messages', {
    method: 'POST',
    headers,
    body: JSON.stringify({ message: 'Hello' }),
  });
  expect([sent.status, sent.headers.get('access-control-allow-origin')]).toEqual([202, site]);
  const stream = await ask('stream', { headers });
  // 204: the answer was already there.
  if (stream.status === 200) expect(await stream.text()).toMatch(/data: \[DONE\]\n\n$/);
  const froms = async () => {
    const { data } = (await (await ask('messages', { headers })).json()) as {
      data: { from: string }[];
    };
    return data.map(({ from }) => from);
  };
  await until(async () => (await froms()).length === 2);
  expect(await froms()).toEqual(['agent', 'visitor']);
});

test('pages of other sites are refused, and may not read the answer', async () => {
  for (const [method, origin] of [
    ['OPTIONS', 'https://evil.example'],
    ['POST', 'https://evil.example'],
    ['POST', 'null'],
  ] as const) {
    const response = await ask('sessions', {
      method,
      origin,
      ...(method === 'POST' && { body: '{}' }),
    });
    expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([
      403,
      null,
    ]);
  }
});

test.each([
  '/v1/entity-types',
  '/v1/agents/assistant/chat',
  '/v1/executions',
  '/v1/sync',
  '/v1/threads',
])('a publishable key is refused at %s', async (path) => {
  const method = /chat|executions|sync/.test(path) ? 'POST' : 'GET';
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  const body = method === 'POST' ? JSON.stringify({ message: 'hi' }) : undefined;
  const response = await fetch(shared.url + path, { method, headers, body });
  expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([
    403,
    'publishable_key',
  ]);
});

test('the limit of a visitor is exact over two processes', async () => {
  const { databaseUrl, redisUrl, bundles, secretsKey } = shared;
  const environment = { SECRETS_KEY: secretsKey };
  const second = await startStack({
    databaseUrl,
    redisUrl,
    bundles,
    environment,
    services: ['manage'],
  });
  const other = await createTenant();
  try {
    const owner = await other.client({ permissions: ['*', 'manage'] });
    await push(owner, catalog);
    const limits = { perVisitor: 30, perAddress: 1_000, perKey: 1_000 };
    const made = await owner.post('/v1/publishable-keys', {
      name: 'website',
      agentSlug: assistant.slug,
      origins: [site],
      limits,
    });
    const query = `?key=${made.body.key as string}`;
    const services = [shared.urls.manage!, second.services.manage!.url];
    const session = await fetch(`${services[0]}/v1/widget/sessions${query}`, {
      method: 'POST',
      body: '{}',
      headers: { Origin: site, 'Content-Type': 'application/json' },
    });
    const { token } = (await session.json()) as { token: string };
    const headers = { Origin: site, Authorization: `Bearer ${token}` };
    const statuses: number[] = [];
    // Ten at a time, so that both processes admit some.
    for (let wave = 0; wave < 8; wave += 1) {
      const answers = Array.from({ length: 10 }, (_, at) =>
        fetch(`${services[at % 2]}/v1/widget/messages${query}`, { headers }),
      );
      statuses.push(...(await Promise.all(answers)).map(({ status }) => status));
    }
    // The session was the first request.
    expect([200, 429].map((status) => statuses.filter((one) => one === status).length)).toEqual([
      29, 51,
    ]);
    for (const half of [0, 1]) expect(statuses.filter((_, at) => at % 2 === half)).toContain(200);
  } finally {
    await other.close();
    await second.stop();
  }
}, 120_000);
