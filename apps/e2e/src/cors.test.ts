import { catalog } from './catalog';
import { type Client, push } from './client';
import { shared } from './stack';
import { type Tenant, createTenant } from './tenant';

let tenant: Tenant;
let client: Client;
beforeAll(async () => {
  tenant = await createTenant();
  client = await tenant.client();
  await push(client, catalog);
});
afterAll(() => tenant.close());

const Origin = 'https://shop.example';

it.each([
  ['POST', '/v1/chat'],
  ['POST', '/v1/agents/assistant/chat'],
  ['POST', '/v1/routers/any/chat'],
  ['GET', '/v1/entity-types'],
  ['GET', '/v1/data/product'],
  ['POST', '/v1/data/product/query'],
  ['PATCH', '/v1/data/product/some-id'],
  ['DELETE', '/v1/data/product/some-id'],
])('a browser may call %s %s from any origin', async (method, path) => {
  const preflight = await fetch(shared.url + path, {
    method: 'OPTIONS',
    headers: {
      Origin,
      'Access-Control-Request-Method': method,
      'Access-Control-Request-Headers': 'authorization,content-type,idempotency-key',
    },
  });
  expect(preflight.ok).toBe(true);
  expect(preflight.headers.get('access-control-allow-origin')).toBe('*');
  expect(preflight.headers.get('access-control-allow-methods')).toContain(method);
  const headers = preflight.headers.get('access-control-allow-headers')?.toLowerCase().split(/, */);
  expect(headers).toEqual(
    expect.arrayContaining(['authorization', 'content-type', 'idempotency-key']),
  );

  const body =
    method === 'GET' || method === 'DELETE' ? undefined : { message: 'hi', agentId: 'x', data: {} };
  const answer = await client.send(method, path, body, { Origin });
  expect(answer.headers.get('access-control-allow-origin')).toBe('*');
  expect(answer.headers.get('access-control-expose-headers')).toMatch(/X-Request-Id.*Retry-After/);
});

it('errors have the header, so that a browser may read them', async () => {
  const response = await fetch(`${shared.url}/v1/data/product`, { headers: { Origin } });
  expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([
    401,
    '*',
  ]);
});

it.each(['/webhook/clerk', '/execute'])('%s has no CORS headers', async (path) => {
  const response = await fetch(shared.url + path, {
    method: 'POST',
    headers: { Origin },
    body: '{}',
  });
  expect(response.headers.get('access-control-allow-origin')).toBeNull();
});
