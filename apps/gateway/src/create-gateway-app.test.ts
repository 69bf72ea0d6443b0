import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { until } from '@parley/testing';
import {
  type TestGateway,
  type TestUpstream,
  startGateway,
  startRawUpstream,
  startUpstream,
} from './gateway-under-test';

let service: TestUpstream;
let gateway: TestGateway;
beforeAll(async () => {
  service = await startUpstream('all', (_seen, response) =>
    response.writeHead(401).end('{"error":"Unauthorized"}'),
  );
  const { url } = service;
  gateway = await startGateway({
    chat: url,
    data: url,
    'webhook-ingest': url,
    'tool-executor': url,
  });
});
afterEach(() => {
  service.seen.length = 0;
});
afterAll(async () => {
  await gateway.close();
  await service.close();
});

describe('/health', () => {
  it('is answered without any service', async () => {
    const response = await fetch(`${gateway.url}/health`);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    const body = (await response.json()) as { status: string; timestamp: number };
    expect(body).toEqual({ status: 'ok', timestamp: expect.any(Number) });
    expect(Math.abs(body.timestamp - Date.now())).toBeLessThan(60_000);
    expect(service.seen).toEqual([]);
  });

  it('answers methods other than GET and HEAD with 405', async () => {
    const response = await fetch(`${gateway.url}/health`, { method: 'POST' });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('GET, HEAD');
    expect(await response.json()).toMatchObject({
      error: 'Method not allowed',
      code: 'method_not_allowed',
    });
    expect((await fetch(`${gateway.url}/health`, { method: 'HEAD' })).status).toBe(200);
  });
});

it.each(['/', '/internal/tool-calls', '/metrics', '/v1/unknown', '/Health'])(
  'answers %s with 404',
  async (path) => {
    const response = await fetch(gateway.url + path);
    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({
      error: `No such path: ${path}`,
      code: 'unknown_path',
      requestId: response.headers.get('x-request-id'),
    });
    expect(service.seen).toEqual([]);
  },
);

describe('CORS', () => {
  const preflight = (path: string) =>
    fetch(gateway.url + path, {
      method: 'OPTIONS',
      headers: {
        Origin: 'https://shop.example',
        'Access-Control-Request-Method': 'POST',
        'Access-Control-Request-Headers': 'authorization,content-type',
      },
    });

  it.each([
    '/v1/chat',
    '/v1/agents/a/chat',
    '/v1/routers/a/chat',
    '/v1/data/order',
    '/v1/entity-types',
  ])('allows every origin to call %s', async (path) => {
    const allowed = await preflight(path);
    expect(allowed.status).toBe(204);
    expect(allowed.headers.get('access-control-allow-origin')).toBe('*');
    expect(allowed.headers.get('access-control-allow-headers')).toBe(
      'Authorization, Content-Type, Idempotency-Key',
    );
    expect(allowed.headers.get('access-control-allow-methods')).toBe(
      'GET, HEAD, POST, PATCH, DELETE',
    );
    expect(allowed.headers.get('access-control-max-age')).toBe('86400');
    // A preflight carries no API key, so the service would refuse it.
    expect(service.seen).toEqual([]);

    const refused = await fetch(gateway.url + path, {
      headers: { Origin: 'https://shop.example' },
    });
    expect(refused.status).toBe(401);
    expect(refused.headers.get('access-control-allow-origin')).toBe('*');
    expect(refused.headers.get('access-control-expose-headers')).toBe('X-Request-Id, Retry-After');
    expect(refused.headers.get('access-control-allow-credentials')).toBeNull();
  });

  it('leaves the answer to the service for visitors of a website, and for no other path', async () => {
    const allowing = await startUpstream('manage', (_seen, response) =>
      response
        .writeHead(204, { 'Access-Control-Allow-Origin': 'https://shop.example', Vary: 'Origin' })
        .end(),
    );
    const own = await startGateway({ manage: allowing.url });
    const originOf = async (path: string) => {
      const { headers } = await fetch(own.url + path, {
        method: 'OPTIONS',
        headers: { Origin: 'https://shop.example' },
      });
      return headers.get('access-control-allow-origin');
    };
    for (const path of ['sessions', 'messages', 'stream'])
      expect(await originOf(`/v1/widget/${path}?key=pk_dev_x`)).toBe('https://shop.example');
    expect(await originOf('/v1/publishable-keys')).toBeNull();
    expect(allowing.seen.map(({ url }) => url)).toContain('/v1/widget/stream?key=pk_dev_x');
    // The gateway's own refusals can be read by the page, which would otherwise take them for a
    // lost connection.
    const large = await fetch(`${own.url}/v1/widget/messages?key=x`, {
      method: 'POST',
      body: 'x'.repeat(1_100_000),
    });
    expect([large.status, large.headers.get('access-control-allow-origin')]).toEqual([413, '*']);
    await own.close();
    await allowing.close();
  });

  it.each(['/webhook/clerk', '/execute', '/validate'])(
    'allows no origin to call %s',
    async (path) => {
      const response = await preflight(path);
      expect(response.headers.get('access-control-allow-origin')).toBeNull();
      expect(service.seen.map(({ method }) => method)).toEqual(['OPTIONS']);
    },
  );
});

describe('security headers', () => {
  it.each(['/health', '/nowhere', '/v1/data/order', '/webhook/clerk'])(
    'are sent with %s',
    async (path) => {
      const { headers } = await fetch(gateway.url + path);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('x-powered-by')).toBeNull();
    },
  );
});

describe('body limits', () => {
  const mebibyte = 1024 * 1024;

  it.each([
    ['/v1/agents/a/chat', 8 * mebibyte],
    ['/v1/data/order', mebibyte],
    ['/webhook/polar', mebibyte],
  ])('%s accepts %i bytes and refuses one more', async (path, limit) => {
    const at = await fetch(gateway.url + path, { method: 'POST', body: Buffer.alloc(limit) });
    expect(at.status).toBe(401);
    expect(service.seen[0]!.body.length).toBe(limit);

    const over = await fetch(gateway.url + path, { method: 'POST', body: Buffer.alloc(limit + 1) });
    expect(over.status).toBe(413);
    expect(await over.json()).toEqual({
      error: `Request body is larger than ${limit} bytes`,
      code: 'payload_too_large',
      requestId: over.headers.get('x-request-id'),
    });
    expect(service.seen).toHaveLength(1);
  });

  it('a chunked body is refused when it passes the limit', async () => {
    const client = httpRequest(`${gateway.url}/v1/data/order`, { method: 'POST' });
    client.on('error', () => {});
    for (let sent = 0; sent < 2 * mebibyte; sent += 65_536) client.write(Buffer.alloc(65_536));
    const [response] = (await once(client, 'response')) as [IncomingMessage];
    expect(response.statusCode).toBe(413);
    expect(JSON.parse((await response.toArray()).join(''))).toMatchObject({
      code: 'payload_too_large',
    });
    client.end();
    expect(service.seen).toEqual([]);
  });

  it.each(['whole', 'chunked'])(
    'a %s callback of the payment provider is answered with 200 at any size',
    async (kind) => {
      const bytes = Buffer.alloc(3 * mebibyte);
      const body = kind === 'whole' ? bytes : new Blob([bytes]).stream();
      const answer = await fetch(`${gateway.url}/webhook/flow`, {
        method: 'POST',
        body,
        duplex: 'half',
      } as RequestInit);
      expect({ status: answer.status, body: await answer.json() }).toEqual({
        status: 200,
        body: { received: true },
      });
      expect(service.seen).toEqual([]);
    },
  );

  it('the connection can be reused after a refusal', async () => {
    const { Agent } = await import('node:http');
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const call = async (body: Buffer) => {
      const client = httpRequest(`${gateway.url}/v1/data/order`, {
        method: 'POST',
        agent,
        headers: { 'Content-Length': body.length },
      });
      client.end(body);
      const [response] = (await once(client, 'response')) as [IncomingMessage];
      await response.toArray();
      return { status: response.statusCode, reused: client.reusedSocket };
    };
    expect(await call(Buffer.alloc(3 * mebibyte))).toEqual({ status: 413, reused: false });
    expect((await call(Buffer.from('{}'))).status).toBe(401);
    agent.destroy();
  });

  it('the rest of a refused chunked body is discarded, and the next request of the connection is answered', async () => {
    const chunk = `10000\r\n${'a'.repeat(65_536)}\r\n`;
    const socket = connect(gateway.port, '127.0.0.1');
    let received = '';
    socket.on('data', (data) => (received += data.toString('latin1')));
    socket.write('POST /v1/data/order HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n');
    socket.write(chunk.repeat(20));
    await until(() => received.includes('payload_too_large'));
    socket.write(`${chunk.repeat(20)}0\r\n\r\nGET /health HTTP/1.1\r\nHost: a\r\n\r\n`);
    await until(() => received.includes('timestamp'));
    expect([...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual([
      '413',
      '200',
    ]);
    socket.destroy();
  });

  it('a service that answers without reading the body is asked when the body is complete', async () => {
    let calls = 0;
    const early = await startRawUpstream((_request, response) => {
      calls += 1;
      response.writeHead(403).end('{"error":"no"}');
    });
    const other = await startGateway({ chat: early.url });
    const client = httpRequest(`${other.url}/v1/chat`, {
      method: 'POST',
      headers: { 'Content-Length': mebibyte },
    });
    client.on('error', () => {});
    client.write(Buffer.alloc(100_000));
    expect((await fetch(`${other.url}/v1/chat`)).status).toBe(403);
    expect(calls).toBe(1);
    client.end(Buffer.alloc(mebibyte - 100_000));
    const [response] = (await once(client, 'response')) as [IncomingMessage];
    expect(response.statusCode).toBe(403);
    expect((await response.toArray()).join('')).toBe('{"error":"no"}');
    await other.close();
    await early.close();
  });
});
