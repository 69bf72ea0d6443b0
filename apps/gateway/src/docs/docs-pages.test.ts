import { openApiDocument } from '@parley/contracts';
import { type TestGateway, startGateway } from '../gateway-under-test';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({});
});
afterAll(() => gateway.close());

test('/openapi.json is the OpenAPI document and can be read from any origin', async () => {
  const response = await fetch(`${gateway.url}/openapi.json`);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(response.headers.get('access-control-allow-origin')).toBe('*');
  expect(await response.json()).toEqual(JSON.parse(JSON.stringify(openApiDocument())));
});

test('/docs shows every operation and schema, and loads no other resource', async () => {
  const response = await fetch(`${gateway.url}/docs`);
  expect(response.status).toBe(200);
  const policy = response.headers.get('content-security-policy')!;
  expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-/);
  const page = await response.text();
  const { paths, components } = openApiDocument();
  for (const operation of Object.values(paths).flatMap((methods) => Object.values(methods))) {
    expect(page).toContain(`<article id="${operation.operationId}">`);
  }
  for (const name of Object.keys(components.schemas)) expect(page).toContain(`<article id="schema-${name}">`);
  expect(page).not.toMatch(/<script|<link|<img|src=|url\(|@import/i);
  const ids = new Set([...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
  const dangling = [...page.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id!).filter((id) => !ids.has(id));
  expect(dangling).toEqual([]);
});

test.each(['/openapi.json', '/docs'])('%s answers methods other than GET and HEAD with 405', async (path) => {
  const refused = await fetch(gateway.url + path, { method: 'POST' });
  expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  const head = await fetch(gateway.url + path, { method: 'HEAD' });
  expect([head.status, await head.text()]).toEqual([200, '']);
  expect(Number(head.headers.get('content-length'))).toBeGreaterThan(1_000);
});
