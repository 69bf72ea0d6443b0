import { connect } from 'node:net';
import { assistant, catalog } from './catalog';
import { type Client, createClient, push } from './client';
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

const mebibyte = 1024 * 1024;

describe.each([
  ['/v1/agents/assistant/chat', 8 * mebibyte],
  ['/v1/chat', 8 * mebibyte],
  ['/v1/data/product', mebibyte],
  ['/v1/data/product/query', mebibyte],
  ['/v1/run-tool', mebibyte],
])('POST %s', (path, limit) => {
  it.each([
    ['malformed JSON', '{"message": '],
    ['half a JSON text', '{} {}'],
    ['invalid UTF-8', new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
  ])('answers 400 to %s', async (_name, body) => {
    const answer = await client.send('POST', path, body);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({
      error: 'Malformed JSON in the request body',
      code: 'malformed_json',
    });
  });

  it.each(['[]', '"text"', 'null', '5'])('answers 400 to %s instead of an object', async (body) => {
    expect((await client.send('POST', path, body)).status).toBe(400);
  });

  it('answers 400 to no body, unless every field is optional', async () => {
    expect((await client.send('POST', path)).status).toBe(path.endsWith('/query') ? 200 : 400);
  });

  it('answers 413 to a body over the limit', async () => {
    const answer = await client.send('POST', path, `{"message":"${'a'.repeat(limit)}"}`);
    expect(answer.status).toBe(413);
    expect(answer.body).toEqual({
      error: `Request body is larger than ${limit} bytes`,
      code: 'payload_too_large',
      requestId: answer.headers.get('x-request-id'),
    });
  });

  it('answers 415 to a compressed body', async () => {
    expect((await client.send('POST', path, '{}', { 'Content-Encoding': 'gzip' })).status).toBe(
      415,
    );
  });

  it('answers 400 to a null character', async () => {
    const answer = await client.send('POST', path, '{"message":"\\u0000","data":{"a":"\\u0000"}}');
    expect(answer.status).toBe(400);
  });
});

describe('the wrong method', () => {
  it.each([
    ['GET', '/v1/chat', 'POST'],
    ['GET', `/v1/agents/${assistant.slug}/chat`, 'POST'],
    ['DELETE', '/v1/data/product', 'GET, POST'],
    ['PUT', '/v1/data/product/some-id', 'GET, PATCH, DELETE'],
    ['GET', '/v1/data/product/some-id/deeper', ''],
    ['POST', '/v1/entity-types', 'GET'],
    ['GET', '/v1/sync/state', 'POST'],
  ])('%s %s allows %s', async (method, path, allowed) => {
    const answer = await client.send(method, path);
    expect(answer.status).toBe(allowed === '' ? 404 : 405);
    const named = (answer.headers.get('allow') ?? '').split(', ').filter((name) => name !== 'HEAD');
    expect(named.sort()).toEqual(allowed.split(', ').sort());
    expect(answer.body).toMatchObject({
      error: expect.stringMatching(/.+/),
      code: expect.any(String),
    });
  });
});

it('answers HEAD like GET without a body', async () => {
  const answer = await client.send('HEAD', '/v1/entity-types');
  expect([answer.status, answer.body]).toEqual([200, '']);
});

it('answers a path that does not decode with 4xx', async () => {
  const answer = await client.get('/v1/data/%zz/1');
  expect([400, 404]).toContain(answer.status);
});

describe('every error', () => {
  it('has error, code and requestId, and no internal details', async () => {
    const anonymous = createClient(shared.url);
    const answers = await Promise.all([
      anonymous.get('/v1/data/product'),
      client.get('/v1/data/none'),
      client.get('/nowhere'),
      client.post('/v1/chat', {}),
      client.post(`/v1/agents/none/chat`, { message: 'hi' }),
      client.post('/v1/data/product', { data: 5 }),
    ]);
    for (const { status, headers, body } of answers) {
      expect(status).toBeGreaterThanOrEqual(400);
      expect(headers.get('content-type')).toMatch(/^application\/json/);
      expect(body.error).toMatch(/.+/);
      expect(body.code).toMatch(/^[a-z][a-z_]*$/);
      expect(body.requestId).toBe(headers.get('x-request-id'));
      expect(JSON.stringify(body)).not.toMatch(/at .*\.(ts|js)|node_modules|select |prisma|ECONN/i);
    }
  });
});

it('refuses a request with Content-Length and Transfer-Encoding', async () => {
  const { hostname, port } = new URL(shared.url);
  const received = await new Promise<string>((resolve) => {
    let text = '';
    const socket = connect(Number(port), hostname, () =>
      socket.write(
        'POST /v1/chat HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      ),
    );
    socket.on('data', (chunk) => (text += chunk.toString()));
    socket.on('close', () => resolve(text));
  });
  expect(received).toMatch(/^HTTP\/1\.1 400 /);
});
