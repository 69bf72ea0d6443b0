import { execFileSync } from 'node:child_process';
import { openApiDocument } from '@parley/contracts';
import supertest from 'supertest';
import { type TestGateway, startGateway } from './gateway-under-test';
import { curlOf } from './docs/curl';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({}, { trusted: ['127.0.0.1'] });
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
  for (const name of Object.keys(components.schemas))
    expect(page).toContain(`<article id="schema-${name}">`);
  expect(page).not.toMatch(/<script|<link|<img|src=|url\(|@import/i);
  const ids = new Set([...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
  const dangling = [...page.matchAll(/href="#([^"]+)"/g)]
    .map(([, id]) => id!)
    .filter((id) => !ids.has(id));
  expect(dangling).toEqual([]);
});

test('/docs says how to authenticate, and has a curl command for each operation with the address of the host', async () => {
  const { port } = new URL(gateway.url);
  const pageFor = async (headers: Record<string, string>) =>
    (await supertest(gateway.url).get('/docs').set(headers).expect(200)).text.replaceAll(
      '&quot;',
      '"',
    );
  const page = await pageFor({});
  expect(page).toContain('Authorization: Bearer $PARLEY_KEY');
  const operations = Object.values(openApiDocument().paths).flatMap((methods) =>
    Object.values(methods),
  );
  expect(page.split(`\ncurl http://127.0.0.1:${port}/v1/entity-types`)).toHaveLength(2);
  expect([...page.matchAll(/<pre>curl /g)]).toHaveLength(operations.length);
  expect(page).toContain(
    `curl -X PATCH http://127.0.0.1:${port}/v1/data/TYPE/ID \\\n  -H "Authorization: Bearer $PARLEY_KEY"`,
  );
  expect(page).not.toContain('.invalid');

  const forwarded = { 'X-Forwarded-Host': 'api.example.com', 'X-Forwarded-Proto': 'https' };
  expect(await pageFor(forwarded)).toContain('curl https://api.example.com/v1/entity-types');
  for (const host of ['$(reboot)', "x';reboot;'", '<b>'])
    expect(await pageFor({ 'X-Forwarded-Host': host })).toContain(
      'curl http://localhost:4000/v1/entity-types',
    );
});

test('the curl commands of /docs are words that a shell passes on unchanged', async () => {
  const { parameters, requestBody } = openApiDocument().paths['/v1/chat']!.post!;
  const body = { message: `it's "hot" $HOME \`date\`` };
  const content = { 'application/json': { schema: {}, examples: { one: { value: body } } } };
  const operation = { parameters, requestBody: { ...requestBody!, content }, security: [] };
  const command = curlOf({ method: 'post', path: '/v1/chat', operation: operation as never });
  const words = execFileSync('sh', ['-c', command.replace('curl', `printf '%s\\n'`)], {
    encoding: 'utf8',
  });
  expect(JSON.parse(words.slice(words.indexOf('\n-d\n') + 4))).toEqual(body);
});

test.each(['/openapi.json', '/docs'])(
  '%s answers methods other than GET and HEAD with 405',
  async (path) => {
    const refused = await fetch(gateway.url + path, { method: 'POST' });
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    const head = await fetch(gateway.url + path, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    expect(Number(head.headers.get('content-length'))).toBeGreaterThan(1_000);
  },
);
