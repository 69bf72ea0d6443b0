import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { closeServer } from '@parley/service';
import {
  type TestGateway,
  type TestUpstream,
  startGateway,
  startRawUpstream,
  startUpstream,
} from './gateway-under-test';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function upstream(...args: Parameters<typeof startUpstream>): Promise<TestUpstream> {
  const started = await startUpstream(...args);
  closing.push(started.close);
  return started;
}

async function rawUpstream(...args: Parameters<typeof startRawUpstream>): Promise<TestUpstream> {
  const started = await startRawUpstream(...args);
  closing.push(started.close);
  return started;
}

async function gateway(...args: Parameters<typeof startGateway>): Promise<TestGateway> {
  const started = await startGateway(...args);
  closing.push(started.close);
  return started;
}

const post = (url: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

describe('what gets through', () => {
  it('sends each path to its service, query and all', async () => {
    const names = ['chat', 'data', 'webhook-ingest', 'tool-executor'] as const;
    const servers = await Promise.all(names.map((name) => upstream(name)));
    const door = await gateway(Object.fromEntries(names.map((name, index) => [name, servers[index]!.url])));
    for (const [path, name] of [
      ['/v1/agents/a/chat', 'chat'],
      ['/v1/data/order?limit=2&cursor=a%2Fb', 'data'],
      ['/webhook/polar', 'webhook-ingest'],
      ['/execute', 'tool-executor'],
    ] as const) {
      const response = await post(door.url + path, {});
      expect(await response.json()).toEqual({ upstream: name });
    }
    expect(servers[1]!.seen[0]!.url).toBe('/v1/data/order?limit=2&cursor=a%2Fb');
  });

  it.each([0, 1, 1_000, 65_535, 65_536, 65_537, 1_000_000])(
    'keeps every byte of a body of %i, both ways',
    async (size) => {
      const service = await upstream('webhook-ingest', (seen, response) => response.end(seen.body));
      const door = await gateway({ 'webhook-ingest': service.url });
      const body = randomBytes(size);
      const response = await fetch(`${door.url}/webhook/kapso/messages`, { method: 'POST', body });
      const answer = Buffer.from(await response.arrayBuffer());
      expect(createHash('sha256').update(answer).digest('hex')).toBe(createHash('sha256').update(body).digest('hex'));
      expect(service.seen[0]!.headers['content-length']).toBe(String(size));
    },
  );

  it('keeps the bytes of a chunked body, and streams an answer as it comes', async () => {
    const service = await rawUpstream((request, response) => request.pipe(response));
    const door = await gateway({ chat: service.url });
    const client = httpRequest(`${door.url}/v1/chat`, { method: 'POST', headers: { 'Transfer-Encoding': 'chunked' } });
    client.write('first');
    const [response] = (await once(client, 'response')) as [IncomingMessage];
    const [chunk] = (await once(response, 'data')) as [Buffer];
    expect(chunk.toString()).toBe('first'); // the request is not over yet
    client.end('second');
    expect((await response.toArray()).join('')).toBe('second');
  });

  it('passes status, headers and repeated headers of the answer on', async () => {
    const service = await upstream('data', (_seen, response) => {
      response.writeHead(405, { Allow: 'GET, POST', 'Set-Cookie': ['a=1', 'b=2'], 'Content-Type': 'application/json' });
      response.end('{"error":"Method not allowed"}');
    });
    const door = await gateway({ data: service.url });
    const response = await fetch(`${door.url}/v1/data/order`, { method: 'PUT' });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('GET, POST');
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    expect(await response.json()).toEqual({ error: 'Method not allowed' });
  });

  it('answers HEAD with the headers of GET and no body', async () => {
    const service = await upstream('data', (_seen, response) => response.setHeader('Content-Length', 42).end());
    const door = await gateway({ data: service.url });
    const response = await fetch(`${door.url}/v1/entity-types`, { method: 'HEAD' });
    expect(response.headers.get('content-length')).toBe('42');
    expect(await response.text()).toBe('');
    expect(service.seen[0]!.method).toBe('HEAD');
  });

  it('lets a body through that comes with GET and DELETE', async () => {
    const service = await upstream('data', (seen, response) => response.end(seen.body));
    const door = await gateway({ data: service.url });
    const response = await fetch(`${door.url}/v1/data/order/1`, { method: 'DELETE', body: 'bytes' });
    expect(await response.text()).toBe('bytes');
  });

  it('holds a large answer back while the client does not read', async () => {
    const total = 64 * 1024 * 1024;
    let written = 0;
    const service = await rawUpstream(async (_request, response) => {
      response.setMaxListeners(0);
      const chunk = Buffer.alloc(64 * 1024);
      for (; written < total; written += chunk.length) {
        if (!response.write(chunk))
          await new Promise((resolve) => response.once('drain', resolve).once('close', resolve));
        if (response.destroyed) return;
      }
      response.end();
    });
    const door = await gateway({ data: service.url });
    const socket = connect(door.port, '127.0.0.1');
    socket.pause();
    socket.write('GET /v1/data/order HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    await sleep(500);
    expect(written).toBeLessThan(total / 2);
    let received = 0;
    socket.on('data', (chunk) => (received += chunk.length)).resume();
    await once(socket, 'close');
    expect(received).toBeGreaterThan(total);
  });
});

describe('who asked', () => {
  it('keeps a sane request id and makes one otherwise', async () => {
    const service = await upstream('data');
    const door = await gateway({ data: service.url });
    const kept = await fetch(`${door.url}/v1/data/a`, { headers: { 'X-Request-Id': 'trace-1' } });
    expect(kept.headers.get('x-request-id')).toBe('trace-1');
    expect(service.seen[0]!.headers['x-request-id']).toBe('trace-1');
    const made = await fetch(`${door.url}/v1/data/a`, { headers: { 'X-Request-Id': 'a b;c' } });
    expect(made.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(service.seen[1]!.headers['x-request-id']).toBe(made.headers.get('x-request-id'));
  });

  const claims = {
    'X-Forwarded-For': '1.2.3.4',
    'X-Forwarded-Proto': 'https',
    'X-Forwarded-Host': 'evil.example',
    'X-Real-IP': '1.2.3.4',
    Forwarded: 'for=1.2.3.4',
  };

  it('believes no stranger about where a request comes from', async () => {
    const service = await upstream('data');
    const door = await gateway({ data: service.url });
    await fetch(`${door.url}/v1/data/a`, { headers: claims });
    const { headers } = service.seen[0]!;
    expect(headers['x-forwarded-for']).toBe('127.0.0.1');
    expect(headers['x-forwarded-proto']).toBe('http');
    expect(headers['x-forwarded-host']).toBe(`127.0.0.1:${door.port}`);
    expect(headers['x-real-ip']).toBeUndefined();
    expect(headers.forwarded).toBeUndefined();
  });

  it('believes the proxies it was told to trust', async () => {
    const service = await upstream('data');
    const door = await gateway({ data: service.url }, { trusted: ['10.0.0.0/8', '127.0.0.1'] });
    await fetch(`${door.url}/v1/data/a`, { headers: claims });
    const { headers } = service.seen[0]!;
    expect(headers['x-forwarded-for']).toBe('1.2.3.4, 127.0.0.1');
    expect(headers['x-forwarded-proto']).toBe('https');
    expect(headers['x-forwarded-host']).toBe('evil.example');
  });
});

describe('a service that fails', () => {
  it('is 503 with Retry-After when it cannot be reached, after one more try', async () => {
    const gone = await startUpstream('chat');
    await gone.close();
    const door = await gateway({ chat: gone.url });
    const response = await post(`${door.url}/v1/chat`, { message: 'hi' });
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('2');
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(await response.json()).toEqual({
      error: 'The chat service is temporarily unavailable',
      code: 'upstream_unavailable',
      requestId: response.headers.get('x-request-id'),
    });
    expect(door.failures).toEqual(['chat ECONNREFUSED', 'chat ECONNREFUSED']);
  });

  it('is 503 with a code of its own when it is not deployed', async () => {
    const door = await gateway({});
    const response = await post(`${door.url}/webhook/clerk`, {});
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({ code: 'service_not_deployed' });
  });

  it('is served again as soon as it is back', async () => {
    const first = await startUpstream('data');
    const port = Number(new URL(first.url).port);
    const door = await gateway({ data: first.url });
    expect((await fetch(`${door.url}/v1/data/a`)).status).toBe(200);
    await first.close();
    expect((await fetch(`${door.url}/v1/data/a`)).status).toBe(503);
    await upstream('data', undefined, port);
    expect((await fetch(`${door.url}/v1/data/a`)).status).toBe(200);
  });

  it('gets a POST once, however it breaks', async () => {
    let count = 0;
    const service = await rawUpstream((request) => {
      count += 1;
      request.socket.destroy();
    });
    const door = await gateway({ chat: service.url });
    const response = await post(`${door.url}/v1/chat`, { message: 'hi' });
    expect(response.status).toBe(502);
    expect(response.headers.get('retry-after')).toBeNull();
    expect(await response.json()).toMatchObject({ code: 'upstream_failed' });
    expect(count).toBe(1);
  });

  it('gets a GET a second time', async () => {
    let count = 0;
    const service = await rawUpstream((request, response) => {
      count += 1;
      if (count === 1) request.socket.destroy();
      else response.end('{}');
    });
    const door = await gateway({ data: service.url });
    expect((await fetch(`${door.url}/v1/data/a`)).status).toBe(200);
    expect(count).toBe(2);
  });

  it('is 504 when it takes too long, and hears that nobody waits', async () => {
    const left = Promise.withResolvers<void>();
    const service = await rawUpstream((_request, response) => response.once('close', left.resolve));
    const door = await gateway({ data: service.url }, { deadlineMs: 100 });
    const response = await fetch(`${door.url}/v1/data/a`);
    expect(response.status).toBe(504);
    expect(await response.json()).toMatchObject({ code: 'upstream_timeout' });
    await left.promise;
    expect(door.failures).toEqual(['data timeout']);
  });

  it('breaks the answer off, visibly, when it dies in the middle of it', async () => {
    const service = await rawUpstream((_request, response) => {
      response.writeHead(200, { 'Content-Length': '100' });
      response.write('half', () => response.destroy());
    });
    const door = await gateway({ data: service.url });
    const response = await fetch(`${door.url}/v1/data/a`);
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow();
  });

  it('leaves the other services alone', async () => {
    const data = await upstream('data');
    const gone = await startUpstream('chat');
    await gone.close();
    const door = await gateway({ data: data.url, chat: gone.url });
    const [chat, list] = await Promise.all([post(`${door.url}/v1/chat`, {}), fetch(`${door.url}/v1/data/a`)]);
    expect([chat.status, list.status]).toEqual([503, 200]);
  });
});

it('tells the service when the client has left', async () => {
  const left = Promise.withResolvers<void>();
  const arrived = Promise.withResolvers<void>();
  const service = await rawUpstream((_request, response) => {
    response.once('close', left.resolve);
    arrived.resolve();
  });
  const door = await gateway({ chat: service.url });
  const controller = new AbortController();
  const call = fetch(`${door.url}/v1/chat`, { method: 'POST', body: '{}', signal: controller.signal });
  await arrived.promise;
  controller.abort();
  await expect(call).rejects.toThrow();
  await left.promise;
});

it('lets running requests end when it shuts down', async () => {
  const arrived = Promise.withResolvers<void>();
  const service = await upstream('chat', async (_seen, response) => {
    arrived.resolve();
    await sleep(200);
    response.end('{"done":true}');
  });
  const door = await gateway({ chat: service.url });
  const call = post(`${door.url}/v1/chat`, {});
  await arrived.promise;
  const closed = closeServer(door.server);
  const response = await call;
  expect(await response.json()).toEqual({ done: true });
  await closed;
});
