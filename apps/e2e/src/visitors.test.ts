import { until } from '@parley/testing';
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
    ...{ name: 'website', agentSlug: assistant.slug, origins: [site] },
  });
  expect(created.status).toBe(201);
  key = created.body.key as string;
});
afterAll(() => tenant.close());

const ask = (path: string, { origin = site, ...init }: RequestInit & { origin?: string } = {}) =>
  fetch(`${shared.url}/v1/widget/${path}?key=${key}`, {
    ...init,
    headers: { Origin: origin, 'Content-Type': 'application/json', ...(init.headers as Record<string, string>) },
  });

test('a page of the site talks to the agent, through the gateway', async () => {
  const preflight = await ask('messages', { method: 'OPTIONS' });
  expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([204, site]);
  const session = await ask('sessions', { method: 'POST', body: '{}' });
  expect(session.status).toBe(201);
  const { token } = (await session.json()) as { token: string };
  const headers = { Authorization: `Bearer ${token}` };
  const sent = await ask('messages', { method: 'POST', headers, body: JSON.stringify({ message: 'Hello' }) });
  expect([sent.status, sent.headers.get('access-control-allow-origin')]).toEqual([202, site]);
  const stream = await ask('stream', { headers });
  // 204: the answer was already there.
  if (stream.status === 200) expect(await stream.text()).toMatch(/data: \[DONE\]\n\n$/);
  const froms = async () => {
    const { data } = (await (await ask('messages', { headers })).json()) as { data: { from: string }[] };
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
    const response = await ask('sessions', { method, origin, ...(method === 'POST' && { body: '{}' }) });
    expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([403, null]);
  }
});

test.each(['/v1/entity-types', '/v1/agents/assistant/chat', '/v1/executions', '/v1/sync', '/v1/threads'])(
  'a publishable key is refused at %s',
  async (path) => {
    const method = /chat|executions|sync/.test(path) ? 'POST' : 'GET';
    const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
    const body = method === 'POST' ? JSON.stringify({ message: 'hi' }) : undefined;
    const response = await fetch(shared.url + path, { method, headers, body });
    expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([403, 'publishable_key']);
  },
);
