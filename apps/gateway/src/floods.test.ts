import { type Socket, connect } from 'node:net';
import type { ServerResponse } from 'node:http';
import { createSlots } from '@parley/outbound';
import { until } from '@parley/testing';
import {
  type TestGateway,
  type TestGatewayOptions,
  startGateway,
  startRawUpstream,
  startUpstream,
} from './gateway-under-test';
import { takeSlot } from './take-slot';

const closing: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** More than the gateway has connections to a service. */
const count = 600;
/** The connections that one caller may use, and those that are left for others. */
const shareOfCaller = 342;

async function open(
  name: 'manage' | 'webhook-ingest' | 'chat' | 'data',
  options: TestGatewayOptions = {},
) {
  const service = await startUpstream(name);
  closing.push(service.close);
  const gateway = await startGateway({ [name]: service.url }, options);
  closing.push(gateway.close);
  return { service, gateway };
}

interface Client {
  socket: Socket;
  received: string;
  isClosed: boolean;
}

/**
 * Opens connections, each of which sends a text and no more. `from`: their network address
 * on this machine.
 */
async function send(
  { port }: TestGateway,
  text: string | Buffer,
  times = count,
  from = '127.0.0.1',
) {
  const clients = Array.from({ length: times }, (): Client => {
    const socket = connect({ port, host: '127.0.0.1', localAddress: from });
    const client: Client = { socket, received: '', isClosed: false };
    socket.setEncoding('latin1').on('data', (data: string) => (client.received += data));
    socket.on('error', () => {}).on('close', () => (client.isClosed = true));
    socket.write(text);
    return client;
  });
  closing.push(() => clients.forEach(({ socket }) => socket.destroy()));
  await until(async () => clients.filter(({ socket }) => socket.connecting).length, {
    isThere: (left) => left === 0,
  });
  return clients;
}

const connectionsOf = (server: TestGateway['server']): Promise<number> =>
  new Promise((resolve) => server.getConnections((_error, number) => resolve(number)));

const head = (line: string, ...headers: string[]) =>
  [`${line} HTTP/1.1`, 'Host: a', ...headers, '', ''].join('\r\n');
const isOpen = ({ isClosed, received }: Client) => !isClosed && received === '';
const statusOf = ({ received }: Client) => Number(/^HTTP\/1\.1 (\d+)/.exec(received)?.[1] ?? 0);
const post = (url: string, size = 1_000, headers: Record<string, string> = {}) =>
  fetch(url, { method: 'POST', body: Buffer.alloc(size), headers });

describe('bodies that arrive slowly', () => {
  it.each([
    ['webhooks', 'webhook-ingest', '/webhook/kapso/messages'],
    ['the sign-in', 'manage', '/v1/sessions'],
    ['chat', 'chat', '/v1/agents/a/chat'],
  ] as const)(
    '%s answer others while 600 bodies of another client are incomplete',
    async (_name, service, path) => {
      const { gateway, service: upstream } = await open(service, {
        bodyLimits: { slowAfterMs: 60_000 },
      });
      const clients = await send(gateway, head(`POST ${path}`, 'Content-Length: 900000') + 'a');
      const other = await post(gateway.url + path, 100_000);
      expect([other.status, clients.filter(isOpen).length]).toEqual([200, count]);
      // None of the others has reached the service.
      expect(upstream.seen.map(({ body }) => body.length)).toEqual([100_000]);
    },
  );

  it('64 slow bodies of an address are received, and further ones are refused', async () => {
    const { gateway, service } = await open('webhook-ingest', {
      bodyLimits: { slowAfterMs: 100, graceMs: 600_000 },
    });
    const clients = await send(
      gateway,
      head('POST /webhook/polar', 'Transfer-Encoding: chunked') + '1\r\na\r\n',
    );
    await until(async () => clients.filter(isOpen).length, { isThere: (left) => left <= 64 });
    const refused = clients.filter((client) => !isOpen(client));
    expect(refused.map(statusOf)).toEqual(Array(count - 64).fill(429));
    expect(refused[0]!.received).toMatch(/"code":"too_many_unfinished_requests"/);
    expect(refused[0]!.received).toMatch(/^Retry-After: \d+/im);
    await until(async () => refused.every(({ isClosed }) => isClosed), { isThere: Boolean });
    // Another address has its own, and a body that arrives at once does not count.
    const [slow] = await send(
      gateway,
      head('POST /webhook/polar', 'Content-Length: 2') + 'a',
      1,
      '127.0.0.2',
    );
    expect((await post(`${gateway.url}/webhook/polar`)).status).toBe(200);
    // wall clock: the body has to be older than `slowAfterMs` when it completes.
    await new Promise((resolve) => setTimeout(resolve, 300));
    slow!.socket.write('b');
    await until(async () => statusOf(slow!), { isThere: (status) => status === 200 });
    expect(service.seen).toHaveLength(2);
  });

  it('a body below the minimum rate is refused, and its connection closed', async () => {
    const { gateway, service } = await open('manage', {
      bodyLimits: { slowAfterMs: 50, graceMs: 200 },
    });
    const [slow] = await send(
      gateway,
      head('POST /v1/sessions', 'Content-Length: 900000') + 'a',
      1,
    );
    // It has sent enough for more than a minute.
    const [fast] = await send(
      gateway,
      head('POST /v1/sessions', 'Content-Length: 100001') + 'a'.repeat(100_000),
      1,
    );
    await until(async () => slow!.isClosed, { isThere: Boolean });
    expect(slow!.received).toMatch(/^HTTP\/1\.1 408 .*"code":"request_timeout"/s);
    expect(isOpen(fast!)).toBe(true);
    fast!.socket.write('b');
    await until(async () => statusOf(fast!), { isThere: (status) => status === 200 });
    expect(service.seen).toHaveLength(1);
  });

  it('connections that never complete their headers do not delay others', async () => {
    const { gateway } = await open('data');
    const clients = await send(gateway, 'GET /v1/data/order HTTP/1.1\r\nHost: a\r\nX-A: ');
    const other = await fetch(`${gateway.url}/v1/data/order`);
    expect([other.status, clients.filter(isOpen).length]).toEqual([200, count]);
  });
});

describe('memory for bodies', () => {
  const mebibyte = 1024 * 1024;
  const bodyLimits = { memoryBytes: 8 * mebibyte, slowAfterMs: 60_000 };

  it('an address that has used its share is refused, while small bodies and other addresses are served', async () => {
    const { gateway } = await open('chat', { bodyLimits });
    const part = Buffer.alloc(mebibyte, 'a');
    const text = Buffer.concat([
      Buffer.from(head('POST /v1/chat', `Content-Length: ${8 * mebibyte}`)),
      part,
    ]);
    const clients = await send(gateway, text, 10, '127.0.0.2');
    const refused = () => clients.filter((client) => statusOf(client) === 503);
    await until(async () => refused().length, { isThere: (number) => number >= 7 });
    expect(refused()[0]!.received).toMatch(/"code":"busy"/);
    expect(refused()[0]!.received).toMatch(/^Retry-After: \d+/im);
    expect(clients.some(isOpen)).toBe(true);
    const [small] = await send(
      gateway,
      head('POST /v1/chat', 'Content-Length: 2') + '{}',
      1,
      '127.0.0.2',
    );
    await until(async () => statusOf(small!), { isThere: (status) => status === 200 });
    expect((await post(`${gateway.url}/v1/chat`, mebibyte)).status).toBe(200);
  });

  it('the announced length reserves nothing, and an answered request occupies nothing', async () => {
    const { gateway } = await open('chat', { bodyLimits });
    await send(gateway, head('POST /v1/chat', `Content-Length: ${8 * mebibyte}`), 100);
    for (let n = 0; n < 10; n += 1)
      expect((await post(`${gateway.url}/v1/chat`, 2 * mebibyte)).status).toBe(200);
  });

  it('bytes that arrive one by one are joined without loss', async () => {
    const { gateway, service } = await open('chat');
    const bytes = Buffer.from(Array.from({ length: 70_000 }, (_, n) => n % 251));
    const chunks = [...bytes].flatMap((byte) => [
      Buffer.from('1\r\n'),
      Buffer.from([byte]),
      Buffer.from('\r\n'),
    ]);
    const text = Buffer.concat([
      Buffer.from(head('POST /v1/chat', 'Transfer-Encoding: chunked')),
      ...chunks,
      Buffer.from('0\r\n\r\n'),
    ]);
    const [client] = await send(gateway, text, 1);
    await until(async () => statusOf(client!), { isThere: (status) => status === 200 });
    expect(service.seen[0]!.body.equals(bytes)).toBe(true);
    expect(service.seen[0]!.headers['content-length']).toBe('70000');
  });
});

describe('requests that a service holds', () => {
  /** A service that answers only requests of the key `other`. */
  async function openHolding(name: 'manage' | 'chat' | 'webhook-ingest') {
    const held: ServerResponse[] = [];
    const service = await startRawUpstream((request, response) => {
      request.resume();
      if (request.headers.authorization === 'Bearer other') response.end('{}');
      else held.push(response);
    });
    closing.push(service.close);
    const gateway = await startGateway({ [name]: service.url });
    closing.push(gateway.close);
    return { held, gateway };
  }
  const other = { headers: { Authorization: 'Bearer other' } };

  it.each([
    ['GET /v1/executions/1?wait=30'],
    ['GET /v1/executions/1?a=b&w%61it=30'],
    ['POST /v1/executions', 'Prefer: respond-async, wait=20'],
    ['POST /v1/executions', 'Accept: text/event-stream'],
    ['POST /openai/v1/chat/completions'],
    ['GET /v1/threads/1/stream?after=3'],
  ])('600 of one key take no connection of other requests: %s', async (line, ...headers) => {
    const { held, gateway } = await openHolding('manage');
    const clients = await send(gateway, head(line, 'Authorization: Bearer a', ...headers));
    await until(async () => held.length, { isThere: (number) => number === count });
    expect((await fetch(`${gateway.url}/v1/executions`, other)).status).toBe(200);
    expect(clients.filter(isOpen)).toHaveLength(count);
  });

  it.each([
    ['a key', 'chat', 'GET /v1/mcp', 'Authorization: Bearer a'],
    ['a session', 'manage', 'GET /v1/threads', 'Cookie: parley_session=a', 'Host: localhost'],
    ['an address', 'manage', 'GET /v1/sign-in', 'Accept: */*'],
  ] as const)('600 of %s leave connections to others', async (_name, service, line, ...headers) => {
    const { held, gateway } = await openHolding(service);
    const text = head(line, ...headers).replace(
      'Host: a\r\n',
      headers.length > 1 ? '' : 'Host: a\r\n',
    );
    const clients = await send(gateway, text);
    await until(async () => held.length, { isThere: (number) => number >= shareOfCaller - 1 });
    const path = line.slice('GET '.length);
    expect((await fetch(gateway.url + path, other)).status).toBe(200);
    expect(held.length).toBeLessThanOrEqual(shareOfCaller);
    expect(clients.filter(isOpen)).toHaveLength(count);
  });

  it('a key that is written in many forms has one share', async () => {
    const { held, gateway } = await openHolding('chat');
    const forms = [
      'Bearer key',
      'bearer key',
      'BEARER key',
      'Bearer  key',
      'Bearer   key',
      'Bearer key ',
    ];
    for (const form of forms)
      await send(gateway, head('GET /v1/mcp', `Authorization: ${form}`), count / 6);
    expect((await fetch(`${gateway.url}/v1/mcp`, other)).status).toBe(200);
    expect(held.length).toBeLessThanOrEqual(shareOfCaller);
  });

  it('an invented key gives a delivery of a webhook no other share than its address', async () => {
    const { held, gateway } = await openHolding('webhook-ingest');
    for (let n = 0; n < 6; n += 1)
      await send(gateway, head('GET /webhook/polar', `Authorization: Bearer ${n}`), count / 6);
    const [client] = await send(
      gateway,
      head('GET /webhook/polar', 'Authorization: Bearer other'),
      1,
      '127.0.0.2',
    );
    await until(async () => statusOf(client!), { isThere: (status) => status === 200 });
    expect(held.length).toBeLessThanOrEqual(shareOfCaller);
  });

  it('a caller that waits too long for its own requests gets 429, and one that disconnects gives up', async () => {
    const slots = createSlots({ total: 1 });
    const first = slots.tryAcquire('a')!;
    const service = await startRawUpstream((_request, response) => {
      Promise.resolve(takeSlot(slots, 'a', response, 10)).catch(({ code }: { code: string }) =>
        response.end(code),
      );
    });
    closing.push(service.close);
    expect(await (await fetch(service.url)).text()).toBe('too_many_concurrent_requests');
    expect(slots.stats()).toEqual({ running: 1, waiting: 0 });
    first();
  });
});

describe('clients that do not read', () => {
  it('leave connections to others, and are disconnected at the deadline', async () => {
    const answer = Buffer.alloc(16 * 1024 * 1024, 'a');
    let begun = 0;
    const service = await startRawUpstream((request, response) => {
      if (request.headers.authorization === 'Bearer other') return response.end('{}');
      begun += 1;
      response.end(answer);
    });
    closing.push(service.close);
    const gateway = await startGateway(
      { data: service.url },
      { connections: 12, deadlineMs: 5_000 },
    );
    closing.push(gateway.close);
    const clients = await send(gateway, '', 30);
    for (const { socket } of clients) socket.pause();
    for (const { socket } of clients)
      socket.write(head('GET /v1/data/order', 'Authorization: Bearer a'));
    await until(async () => begun, { isThere: (number) => number === 8 });
    const response = await fetch(`${gateway.url}/v1/data/order`, {
      headers: { Authorization: 'Bearer other' },
    });
    expect([response.status, clients.filter(({ isClosed }) => !isClosed).length]).toEqual([
      200, 30,
    ]);
    // The first have been disconnected, so the next ones have their connections.
    await until(async () => begun, { isThere: (number) => number > 8 });
  });

  it('an answer that waits for its client occupies no connection, and is discarded at the deadline', async () => {
    const answer = Buffer.alloc(256 * 1024, 'a');
    const service = await startRawUpstream((_request, response) => response.end(answer));
    closing.push(service.close);
    const gateway = await startGateway(
      { data: service.url },
      { connections: 2, deadlineMs: 5_000 },
    );
    closing.push(gateway.close);
    const [client] = await send(gateway, '', 1);
    client!.socket.pause();
    // Sent ahead on one connection: more than the buffers of the connection hold.
    client!.socket.write(head('GET /v1/data/order', 'Authorization: Bearer a').repeat(20));
    const response = await fetch(`${gateway.url}/v1/data/order`, {
      headers: { Authorization: 'Bearer a' },
    });
    expect([response.status, (await response.arrayBuffer()).byteLength]).toEqual([
      200,
      answer.length,
    ]);
    expect(await connectionsOf(gateway.server)).toBe(2);
    await until(() => connectionsOf(gateway.server), { isThere: (left) => left <= 1 });
  });
});
