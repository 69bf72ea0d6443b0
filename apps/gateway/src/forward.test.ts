import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { closeServer } from '@parley/service';
import { until } from '@parley/testing';
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

async function openGateway(...args: Parameters<typeof startGateway>): Promise<TestGateway> {
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

describe('forwarding', () => {
  it('sends each path to its service, with its query', async () => {
    const names = ['chat', 'data', 'webhook-ingest', 'tool-executor'] as const;
    const servers = await Promise.all(names.map((name) => upstream(name)));
    const gateway = await openGateway(
      Object.fromEntries(names.map((name, index) => [name, servers[index]!.url])),
    );
    for (const [path, name] of [
      ['/v1/agents/a/chat', 'chat'],
      ['/v1/data/order?limit=2&cursor=a%2Fb', 'data'],
      ['/webhook/polar', 'webhook-ingest'],
      ['/execute', 'tool-executor'],
    ] as const) {
      const response = await post(gateway.url + path, {});
      expect(await response.json()).toEqual({ upstream: name });
    }
    expect(servers[1]!.seen[0]!.url).toBe('/v1/data/order?limit=2&cursor=a%2Fb');
  });

  it.each([0, 1, 1_000, 65_535, 65_536, 65_537, 1_000_000])(
    'keeps every byte of a body of %i bytes in both directions',
    async (size) => {
      const service = await upstream('webhook-ingest', (seen, response) => response.end(seen.body));
      const gateway = await openGateway({ 'webhook-ingest': service.url });
      const body = randomBytes(size);
      const response = await fetch(`${gateway.url}/webhook/kapso/messages`, {
        method: 'POST',
        body,
      });
      const answer = Buffer.from(await response.arrayBuffer());
      expect(createHash('sha256').update(answer).digest('hex')).toBe(
        createHash('sha256').update(body).digest('hex'),
      );
      expect(service.seen[0]!.headers['content-length']).toBe(String(size));
    },
  );

  it('contacts the service when the whole body has arrived, also of a chunked one', async () => {
    const service = await upstream('chat', (seen, response) => response.end(seen.body));
    const gateway = await openGateway({ chat: service.url });
    const client = httpRequest(`${gateway.url}/v1/chat`, {
      method: 'POST',
      headers: { 'Transfer-Encoding': 'chunked' },
    });
    client.write('first');
    // The gateway answers another request, so it has received the first part.
    expect((await post(`${gateway.url}/v1/chat`, {})).status).toBe(200);
    expect(service.seen).toHaveLength(1);
    client.end('second');
    const [response] = (await once(client, 'response')) as [IncomingMessage];
    expect((await response.toArray()).join('')).toBe('firstsecond');
    expect(service.seen[1]!.headers).toMatchObject({ 'content-length': '11' });
  });

  it('streams an answer without waiting for its end', async () => {
    const end = Promise.withResolvers<void>();
    const service = await rawUpstream(async (_request, response) => {
      response.write('first');
      await end.promise;
      response.end('second');
    });
    const gateway = await openGateway({ chat: service.url });
    const response = await fetch(`${gateway.url}/v1/chat`, { method: 'POST', body: '{}' });
    const reader = response.body!.getReader();
    expect(Buffer.from((await reader.read()).value!).toString()).toBe('first');
    end.resolve();
    expect(Buffer.from((await reader.read()).value!).toString()).toBe('second');
  });

  it('forwards the status, headers and repeated headers of an answer', async () => {
    const service = await upstream('data', (_seen, response) => {
      response.writeHead(405, {
        Allow: 'GET, POST',
        'Set-Cookie': ['a=1', 'b=2'],
        'Content-Type': 'application/json',
      });
      response.end('{"error":"Method not allowed"}');
    });
    const gateway = await openGateway({ data: service.url });
    const response = await fetch(`${gateway.url}/v1/data/order`, { method: 'PUT' });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('GET, POST');
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    expect(await response.json()).toEqual({ error: 'Method not allowed' });
  });

  it('answers HEAD with the headers of GET and no body', async () => {
    const service = await upstream('data', (_seen, response) =>
      response.setHeader('Content-Length', 42).end(),
    );
    const gateway = await openGateway({ data: service.url });
    const response = await fetch(`${gateway.url}/v1/entity-types`, { method: 'HEAD' });
    expect(response.headers.get('content-length')).toBe('42');
    expect(await response.text()).toBe('');
    expect(service.seen[0]!.method).toBe('HEAD');
  });

  it('forwards the body of a DELETE', async () => {
    const service = await upstream('data', (seen, response) => response.end(seen.body));
    const gateway = await openGateway({ data: service.url });
    const response = await fetch(`${gateway.url}/v1/data/order/1`, {
      method: 'DELETE',
      body: 'bytes',
    });
    expect(await response.text()).toBe('bytes');
  });

  it('does not buffer a large answer while the client does not read', async () => {
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
    const gateway = await openGateway({ data: service.url });
    const socket = connect(gateway.port, '127.0.0.1');
    socket.pause();
    socket.write('GET /v1/data/order HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    // wall clock: nothing shows that no more is read.
    await sleep(500);
    expect(written).toBeLessThan(total / 2);
    let received = 0;
    socket.on('data', (chunk) => (received += chunk.length)).resume();
    await once(socket, 'close');
    expect(received).toBeGreaterThan(total);
  });
});

describe('request id and X-Forwarded headers', () => {
  it('forwards a valid request id and replaces an invalid one', async () => {
    const service = await upstream('data');
    const gateway = await openGateway({ data: service.url });
    const kept = await fetch(`${gateway.url}/v1/data/a`, {
      headers: { 'X-Request-Id': 'trace-1' },
    });
    expect(kept.headers.get('x-request-id')).toBe('trace-1');
    expect(service.seen[0]!.headers['x-request-id']).toBe('trace-1');
    const made = await fetch(`${gateway.url}/v1/data/a`, { headers: { 'X-Request-Id': 'a b;c' } });
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

  it('replaces X-Forwarded headers of clients', async () => {
    const service = await upstream('data');
    const gateway = await openGateway({ data: service.url });
    await fetch(`${gateway.url}/v1/data/a`, { headers: claims });
    const { headers } = service.seen[0]!;
    expect(headers['x-forwarded-for']).toBe('127.0.0.1');
    expect(headers['x-forwarded-proto']).toBe('http');
    expect(headers['x-forwarded-host']).toBe(`127.0.0.1:${gateway.port}`);
    expect(headers['x-real-ip']).toBeUndefined();
    expect(headers.forwarded).toBeUndefined();
  });

  it('extends X-Forwarded headers of trusted proxies', async () => {
    const service = await upstream('data');
    const gateway = await openGateway(
      { data: service.url },
      { trusted: ['10.0.0.0/8', '127.0.0.1'] },
    );
    await fetch(`${gateway.url}/v1/data/a`, { headers: claims });
    const { headers } = service.seen[0]!;
    expect(headers['x-forwarded-for']).toBe('1.2.3.4, 127.0.0.1');
    expect(headers['x-forwarded-proto']).toBe('https');
    expect(headers['x-forwarded-host']).toBe('evil.example');
  });
});

describe('a service that fails', () => {
  it('an unreachable service is tried twice and answered with 503 and Retry-After', async () => {
    const closed = await startUpstream('chat');
    await closed.close();
    const gateway = await openGateway({ chat: closed.url });
    const response = await post(`${gateway.url}/v1/chat`, { message: 'hi' });
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('2');
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(await response.json()).toEqual({
      error: 'The chat service is temporarily unavailable',
      code: 'upstream_unavailable',
      requestId: response.headers.get('x-request-id'),
    });
    expect(gateway.failures).toEqual(['chat ECONNREFUSED', 'chat ECONNREFUSED']);
  });

  it('a service that is not deployed is answered with 503 and its own code', async () => {
    const gateway = await openGateway({});
    const response = await post(`${gateway.url}/webhook/clerk`, {});
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({ code: 'service_not_deployed' });
  });

  it('a restarted service is used again at the next request', async () => {
    const first = await startUpstream('data');
    const port = Number(new URL(first.url).port);
    const gateway = await openGateway({ data: first.url });
    expect((await fetch(`${gateway.url}/v1/data/a`)).status).toBe(200);
    await first.close();
    expect((await fetch(`${gateway.url}/v1/data/a`)).status).toBe(503);
    await upstream('data', undefined, port);
    expect((await fetch(`${gateway.url}/v1/data/a`)).status).toBe(200);
  });

  it('a POST is sent only once when the connection breaks', async () => {
    let count = 0;
    const service = await rawUpstream((request) => {
      count += 1;
      request.socket.destroy();
    });
    const gateway = await openGateway({ chat: service.url });
    const response = await post(`${gateway.url}/v1/chat`, { message: 'hi' });
    expect(response.status).toBe(502);
    expect(response.headers.get('retry-after')).toBeNull();
    expect(await response.json()).toMatchObject({ code: 'upstream_failed' });
    expect(count).toBe(1);
  });

  it('a GET is repeated once when the connection breaks', async () => {
    let count = 0;
    const service = await rawUpstream((request, response) => {
      count += 1;
      if (count === 1) request.socket.destroy();
      else response.end('{}');
    });
    const gateway = await openGateway({ data: service.url });
    expect((await fetch(`${gateway.url}/v1/data/a`)).status).toBe(200);
    expect(count).toBe(2);
  });

  it('a request past its deadline is answered with 504, and its connection to the service is closed', async () => {
    const closed = Promise.withResolvers<void>();
    const service = await rawUpstream((_request, response) =>
      response.once('close', closed.resolve),
    );
    const gateway = await openGateway({ data: service.url }, { deadlineMs: 100 });
    const response = await fetch(`${gateway.url}/v1/data/a`);
    expect(response.status).toBe(504);
    expect(await response.json()).toMatchObject({ code: 'upstream_timeout' });
    await closed.promise;
    expect(gateway.failures).toEqual(['data timeout']);
  });

  it('an answer that breaks in the middle is an error for the client', async () => {
    const service = await rawUpstream((_request, response) => {
      response.writeHead(200, { 'Content-Length': '100' });
      response.write('half', () => response.destroy());
    });
    const gateway = await openGateway({ data: service.url });
    const response = await fetch(`${gateway.url}/v1/data/a`);
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow();
  });

  it('a callback of the payment provider is answered with 200 whatever happens to its service, and counted', async () => {
    const closed = await startUpstream('webhook-ingest');
    await closed.close();
    const silent = await rawUpstream(() => {});
    const breaking = await rawUpstream((request) => request.socket.destroy());
    const half = await rawUpstream((_request, response) => {
      response.writeHead(200, { 'Content-Length': '17' });
      response.write('{"recei', () => response.destroy());
    });
    for (const url of [undefined, closed.url, silent.url, breaking.url, half.url]) {
      const gateway = await openGateway({ 'webhook-ingest': url }, { deadlineMs: 300 });
      const response = await fetch(`${gateway.url}/webhook/flow`, {
        method: 'POST',
        body: 'token=1',
      });
      expect([url, response.status, await response.json()]).toEqual([url, 200, { received: true }]);
      expect(gateway.fixedReplies).toEqual(['/webhook/flow']);
      if (url !== half.url)
        expect(
          (await fetch(`${gateway.url}/webhook/polar`, { method: 'POST', body: '{}' })).status,
        ).toBeGreaterThan(500);
      expect(gateway.fixedReplies).toHaveLength(1);
    }
  });

  it('the other services are still reached', async () => {
    const data = await upstream('data');
    const closed = await startUpstream('chat');
    await closed.close();
    const gateway = await openGateway({ data: data.url, chat: closed.url });
    const [chat, list] = await Promise.all([
      post(`${gateway.url}/v1/chat`, {}),
      fetch(`${gateway.url}/v1/data/a`),
    ]);
    expect([chat.status, list.status]).toEqual([503, 200]);
  });
});

it('the request to the service is cancelled when the client disconnects', async () => {
  const closed = Promise.withResolvers<void>();
  const arrived = Promise.withResolvers<void>();
  const service = await rawUpstream((_request, response) => {
    response.once('close', closed.resolve);
    arrived.resolve();
  });
  const gateway = await openGateway({ chat: service.url });
  const controller = new AbortController();
  const call = fetch(`${gateway.url}/v1/chat`, {
    method: 'POST',
    body: '{}',
    signal: controller.signal,
  });
  await arrived.promise;
  controller.abort();
  await expect(call).rejects.toThrow();
  await closed.promise;
});

it('running requests are completed at shutdown', async () => {
  const arrived = Promise.withResolvers<void>();
  const closing = Promise.withResolvers<void>();
  const service = await upstream('chat', async (_seen, response) => {
    arrived.resolve();
    await closing.promise;
    response.end('{"done":true}');
  });
  const gateway = await openGateway({ chat: service.url });
  const call = post(`${gateway.url}/v1/chat`, {});
  await arrived.promise;
  const closed = closeServer(gateway.server);
  // From now on the gateway accepts no connection, and the request still runs.
  await until(async () => {
    const isRefused = await fetch(`${gateway.url}/v1/chat`).then(
      () => false,
      () => true,
    );
    return isRefused;
  });
  closing.resolve();
  const response = await call;
  expect(await response.json()).toEqual({ done: true });
  await closed;
});
