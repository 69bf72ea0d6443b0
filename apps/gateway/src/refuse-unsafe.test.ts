import { once } from 'node:events';
import {
  type TestGateway,
  type TestUpstream,
  bodyOf,
  sendRaw,
  startGateway,
  startUpstream,
} from './gateway-under-test';

let service: TestUpstream;
let gateway: TestGateway;
beforeAll(async () => {
  service = await startUpstream('all');
  const { url } = service;
  gateway = await startGateway(
    { chat: url, data: url, 'webhook-ingest': url, 'tool-executor': url },
    { options: { headersTimeout: 300, requestTimeout: 600, connectionsCheckingInterval: 50 } },
  );
});
afterEach(() => {
  service.seen.length = 0;
});
afterAll(async () => {
  await gateway.close();
  await service.close();
});

const lines = (...list: string[]) => list.join('\r\n') + '\r\n\r\n';
const statusesOf = (raw: string) =>
  [...raw.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));

describe('a request that two servers could read differently', () => {
  const smuggled = 'GET /v1/data/smuggled HTTP/1.1\r\nHost: a\r\n\r\n';
  it.each<[name: string, request: string, status: number]>([
    [
      'Content-Length and Transfer-Encoding',
      lines(
        'POST /v1/chat HTTP/1.1',
        'Host: a',
        'Content-Length: 5',
        'Transfer-Encoding: chunked',
      ) +
        '0\r\n\r\n' +
        smuggled,
      400,
    ],
    [
      'Transfer-Encoding and Content-Length',
      lines(
        'POST /v1/chat HTTP/1.1',
        'Host: a',
        'Transfer-Encoding: chunked',
        'Content-Length: 5',
      ) +
        '0\r\n\r\n' +
        smuggled,
      400,
    ],
    [
      'two lengths',
      lines('POST /v1/chat HTTP/1.1', 'Host: a', 'Content-Length: 0', 'Content-Length: 44') +
        smuggled,
      400,
    ],
    [
      'two equal lengths',
      lines('POST /v1/chat HTTP/1.1', 'Host: a', 'Content-Length: 2', 'Content-Length: 2') + '{}',
      400,
    ],
    [
      'a list of lengths',
      lines('POST /v1/chat HTTP/1.1', 'Host: a', 'Content-Length: 2, 2') + '{}',
      400,
    ],
    ['a negative length', lines('POST /v1/chat HTTP/1.1', 'Host: a', 'Content-Length: -1'), 400],
    [
      'a signed length',
      lines('POST /v1/chat HTTP/1.1', 'Host: a', 'Content-Length: +2') + '{}',
      400,
    ],
    [
      'a hexadecimal length',
      lines('POST /v1/chat HTTP/1.1', 'Host: a', 'Content-Length: 0x2') + '{}',
      400,
    ],
    [
      'a coding beside chunked',
      lines('POST /v1/chat HTTP/1.1', 'Host: a', 'Transfer-Encoding: gzip, chunked') + '0\r\n\r\n',
      501,
    ],
    [
      'an unknown coding',
      lines('POST /v1/chat HTTP/1.1', 'Host: a', 'Transfer-Encoding: xchunked') + '0\r\n\r\n',
      400,
    ],
    [
      'two codings',
      lines(
        'POST /v1/chat HTTP/1.1',
        'Host: a',
        'Transfer-Encoding: chunked',
        'Transfer-Encoding: identity',
      ) + '0\r\n\r\n',
      400,
    ],
    [
      'a space before the colon',
      lines('POST /v1/chat HTTP/1.1', 'Host: a', 'Transfer-Encoding : chunked') + '0\r\n\r\n',
      400,
    ],
    [
      'a folded header',
      lines(
        'POST /v1/chat HTTP/1.1',
        'Host: a',
        'X-A: b',
        ' Transfer-Encoding: chunked',
        'Content-Length: 0',
      ),
      400,
    ],
    ['a bare line feed', 'GET /v1/data/a HTTP/1.1\nHost: a\n\n', 400],
    [
      'a bare carriage return in a value',
      lines('GET /v1/data/a HTTP/1.1', 'Host: a', 'X-A: b\rX-B: c'),
      400,
    ],
    ['a NUL in a value', lines('GET /v1/data/a HTTP/1.1', 'Host: a', 'X-A: b\0c'), 400],
    [
      'a bad chunk size',
      lines('POST /v1/chat HTTP/1.1', 'Host: a', 'Transfer-Encoding: chunked') +
        'zz\r\n{}\r\n0\r\n\r\n',
      400,
    ],
    [
      'a chunk longer than its size',
      lines('POST /v1/chat HTTP/1.1', 'Host: a', 'Transfer-Encoding: chunked') +
        '1\r\n{}\r\n0\r\n\r\n',
      400,
    ],
    ['no Host', lines('GET /v1/data/a HTTP/1.1'), 400],
    ['two Hosts', lines('GET /v1/data/a HTTP/1.1', 'Host: a', 'Host: b'), 400],
    [
      'two Authorizations',
      lines(
        'GET /v1/data/a HTTP/1.1',
        'Host: a',
        'Authorization: Bearer a',
        'Authorization: Bearer b',
      ),
      400,
    ],
    ['another protocol version', lines('GET /v1/data/a HTTP/3.0', 'Host: a'), 400],
    ['an absolute target', lines('GET http://elsewhere/v1/data/a HTTP/1.1', 'Host: a'), 400],
    ['the target *', lines('OPTIONS * HTTP/1.1', 'Host: a'), 400],
    [
      'a websocket',
      lines('GET /v1/data/a HTTP/1.1', 'Host: a', 'Connection: Upgrade', 'Upgrade: websocket'),
      501,
    ],
    ['CONNECT', lines('CONNECT elsewhere:443 HTTP/1.1', 'Host: elsewhere:443'), 501],
    ['no HTTP', 'SSH-2.0-OpenSSH_9.2\r\n', 400],
    ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400],
  ])('is refused: %s', async (_name, request, status) => {
    const raw = await sendRaw(gateway.port, Buffer.from(request, 'latin1'), 150);
    expect(statusesOf(raw)).toEqual([status]);
    expect(service.seen).toEqual([]);
    expect(bodyOf(raw)).toEqual({
      error: expect.stringMatching(/.+/),
      code: expect.stringMatching(/^[a-z_]+$/),
      requestId: expect.stringMatching(/.+/),
    });
    expect(raw).toMatch(/^Connection: close/im);
  });

  it('separates the requests of one connection', async () => {
    const body = '{"a":"GET /v1/data/smuggled HTTP/1.1\\r\\n\\r\\n"}';
    const one = lines('POST /v1/chat HTTP/1.1', 'Host: a', `Content-Length: ${body.length}`) + body;
    const raw = await sendRaw(gateway.port, one + lines('GET /v1/data/second HTTP/1.1', 'Host: a'));
    expect(statusesOf(raw)).toEqual([200, 200]);
    const sorted = service.seen.map(({ method, url, body }) => `${method} ${url} ${body}`).sort();
    expect(sorted).toEqual(['GET /v1/data/second ', `POST /v1/chat ${body}`]);
  });

  it('ignores an offer of h2c', async () => {
    const offer = [
      'Connection: Upgrade, HTTP2-Settings',
      'Upgrade: h2c',
      'HTTP2-Settings: AAMAAABk',
    ];
    const raw = await sendRaw(gateway.port, lines('GET /v1/data/a HTTP/1.1', 'Host: a', ...offer));
    expect(statusesOf(raw)).toEqual([200]);
    expect(service.seen[0]!.headers).not.toHaveProperty('http2-settings');
  });

  it('answers HTTP/1.0 without chunks', async () => {
    const raw = await sendRaw(gateway.port, lines('GET /v1/data/a HTTP/1.0'));
    expect(statusesOf(raw)).toEqual([200]);
    expect(raw).not.toMatch(/transfer-encoding/i);
    expect(raw.endsWith('{"upstream":"all"}')).toBe(true);
  });
});

describe('connection headers', () => {
  it('of a request are not forwarded, nor are the headers that Connection lists', async () => {
    await sendRaw(
      gateway.port,
      lines(
        'GET /v1/data/a HTTP/1.1',
        'Host: a',
        'Connection: keep-alive, X-Secret, X-Request-Id, X-Forwarded-For',
        'Keep-Alive: timeout=5',
        'Proxy-Connection: keep-alive',
        'Proxy-Authorization: Basic eA==',
        'TE: trailers',
        'Trailer: X-T',
        'X-Secret: 1',
        'X-Kept: 2',
        'Authorization: Bearer abc',
      ),
    );
    const { headers } = service.seen[0]!;
    expect(headers).toMatchObject({
      'x-kept': '2',
      authorization: 'Bearer abc',
      'x-forwarded-for': '127.0.0.1',
    });
    for (const name of [
      'x-secret',
      'keep-alive',
      'proxy-connection',
      'proxy-authorization',
      'te',
      'trailer',
    ]) {
      expect(headers).not.toHaveProperty(name);
    }
    expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('of an answer are not forwarded', async () => {
    const own = await startUpstream('data', (_seen, response) => {
      response.writeHead(200, {
        Connection: 'close, X-Internal',
        'X-Internal': 'secret',
        'X-Powered-By': 'something',
        Server: 'something',
        'Access-Control-Allow-Origin': 'https://only.example',
        'X-Kept': '1',
      });
      response.end('{}');
    });
    const other = await startGateway({ data: own.url });
    const response = await fetch(`${other.url}/v1/data/a`);
    expect(response.headers.get('x-kept')).toBe('1');
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    for (const name of ['x-internal', 'x-powered-by', 'server'])
      expect(response.headers.get(name)).toBeNull();
    await other.close();
    await own.close();
  });
});

describe('limits of a request', () => {
  it('headers that are too large are answered with 431', async () => {
    const raw = await sendRaw(
      gateway.port,
      lines('GET /v1/data/a HTTP/1.1', 'Host: a', `X-A: ${'a'.repeat(20_000)}`),
    );
    expect(statusesOf(raw)).toEqual([431]);
    expect(bodyOf(raw)).toMatchObject({ code: 'headers_too_large' });
  });

  it('headers that take too long are answered with 408', async () => {
    const raw = await sendRaw(gateway.port, 'GET /v1/data/a HTTP/1.1\r\nHost: a\r\n', 2_000);
    expect(statusesOf(raw)).toEqual([408]);
    expect(bodyOf(raw)).toMatchObject({ code: 'request_timeout' });
  });

  it('a body that takes too long is answered with 408 and not forwarded', async () => {
    const raw = await sendRaw(
      gateway.port,
      lines('POST /v1/chat HTTP/1.1', 'Host: a', 'Content-Length: 10') + '{',
      2_000,
    );
    expect(statusesOf(raw)).toEqual([408]);
    expect(service.seen).toEqual([]);
  });
});

describe('Expect', () => {
  it('100-continue is answered before the client sends the body', async () => {
    const head = lines(
      'POST /v1/chat HTTP/1.1',
      'Host: a',
      'Content-Length: 2',
      'Expect: 100-continue',
    );
    expect(await sendRaw(gateway.port, head, 150)).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\n$/);
    expect(statusesOf(await sendRaw(gateway.port, `${head}{}`))).toEqual([100, 200]);
    expect(service.seen[0]!.headers).not.toHaveProperty('expect');
  });

  it('100-continue is not answered when the body would be refused', async () => {
    const head = lines(
      'POST /v1/chat HTTP/1.1',
      'Host: a',
      'Content-Length: 99999999',
      'Expect: 100-continue',
    );
    expect(statusesOf(await sendRaw(gateway.port, head))).toEqual([413]);
  });

  it('any other expectation is refused with 417', async () => {
    const raw = await sendRaw(
      gateway.port,
      lines('GET /v1/data/a HTTP/1.1', 'Host: a', 'Expect: a-pony'),
    );
    expect(statusesOf(raw)).toEqual([417]);
  });
});

it('answers requests after all these refusals and with 500 idle connections', async () => {
  const { connect } = await import('node:net');
  const idle = Array.from({ length: 500 }, () =>
    connect(gateway.port, '127.0.0.1').on('error', () => {}),
  );
  await Promise.all(idle.map((socket) => once(socket, 'connect')));
  expect((await fetch(`${gateway.url}/v1/data/a`)).status).toBe(200);
  for (const socket of idle) socket.destroy();
});
