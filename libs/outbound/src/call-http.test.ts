import { type RequestListener, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { until } from '@parley/testing';
import { Agent } from 'undici';
import { type HttpCall, callHttp } from './call-http';

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const call = (url: string, timeoutMs = 10_000, more: Partial<HttpCall> = {}) =>
  callHttp({ method: 'GET', url, headers: { 'X-API-Key': 'secret' }, timeoutMs, ...more });

test('a JSON answer is returned with its status and its Retry-After', async () => {
  const url = await serve((_, response) =>
    response.writeHead(429, { 'Retry-After': '2' }).end('{"a":1}'),
  );
  expect(await call(url)).toEqual({
    kind: 'answered',
    status: 429,
    body: { a: 1 },
    retryAfterMs: 2_000,
  });
});

test('an answer of more than 5 MiB is aborted, and the outcome is unknown', async () => {
  let sent = 0;
  const url = await serve((_, response) => {
    const chunk = Buffer.alloc(256 * 1024, ' ');
    const more = (): void => {
      while (!response.destroyed && response.write(chunk)) sent += chunk.length;
    };
    response.writeHead(200).on('drain', more);
    more();
  });
  expect(await call(url)).toEqual({
    kind: 'unknown',
    reason: 'too_long',
    status: 200,
    message: 'the answer is longer than 5242880 bytes',
  });
  expect(sent).toBeLessThan(64 * 1024 * 1024);
  const large = await serve((_, response) =>
    response.end(JSON.stringify({ data: 'x'.repeat(4 * 1024 * 1024) })),
  );
  expect(await call(large)).toMatchObject({ kind: 'answered', status: 200 });
});

test('a redirect is not followed, so the API key is not sent elsewhere, and the body contains the reason', async () => {
  const sentKeys: string[] = [];
  const elsewhere = await serve((request, response) => {
    sentKeys.push(String(request.headers['x-api-key']));
    response.end('{"data":{}}');
  });
  const url = await serve((_, response) => response.writeHead(307, { Location: elsewhere }).end());
  const message = 'the address answers with a redirect, which is not followed';
  expect(await call(url)).toMatchObject({
    kind: 'answered',
    status: 307,
    body: { message, error: message },
  });
  expect(sentKeys).toEqual([]);
});

test('the time limit ends an answer that arrives byte by byte', async () => {
  const url = await serve((_, response) => {
    const timer = setInterval(() => response.write(' '), 20);
    response.on('close', () => clearInterval(timer));
  });
  expect(await call(url, 300)).toEqual({
    kind: 'unknown',
    reason: 'timeout',
    message: 'no answer within 300 ms',
  });
});

test('a body is sent as JSON, parameters as a form, and without a body there is no content type', async () => {
  const got: string[] = [];
  const url = await serve((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      got.push(
        `${request.method} ${request.headers['content-type']} ${Buffer.concat(chunks).toString()}`,
      );
      response.end('not JSON');
    });
  });
  const form = new URLSearchParams({ a: 'ñ &' });
  for (const more of [{ body: { a: 'ñ' } }, { body: form }, {}]) {
    expect(await call(url, 10_000, { method: 'POST', ...more })).toMatchObject({
      kind: 'answered',
      body: null,
    });
  }
  expect(got).toEqual([
    'POST application/json {"a":"ñ"}',
    'POST application/x-www-form-urlencoded;charset=UTF-8 a=%C3%B1+%26',
    'POST undefined ',
  ]);
});

test('a compressed answer is decompressed, and the limit applies to the decompressed size', async () => {
  const url = await serve((_, response) =>
    response
      .writeHead(200, { 'Content-Encoding': 'gzip' })
      .end(gzipSync(JSON.stringify('x'.repeat(100_000)))),
  );
  expect(await call(url)).toMatchObject({ kind: 'answered', body: 'x'.repeat(100_000) });
  expect(await call(url, 10_000, { maxAnswerBytes: 50_000 })).toMatchObject({
    kind: 'unknown',
    reason: 'too_long',
  });
});

test('a call without a connection has the outcome not_sent', async () => {
  expect(await call('http://127.0.0.1:1/')).toEqual({
    kind: 'not_sent',
    reason: 'no_connection',
    code: 'ECONNREFUSED',
    message: 'cannot connect (ECONNREFUSED)',
  });
  const code = expect.stringMatching(/^(ENOTFOUND|EAI_AGAIN)$/);
  expect(await call('http://host.invalid/')).toMatchObject({
    kind: 'not_sent',
    reason: 'no_connection',
    code,
  });
});

test('a connection that breaks before or during the answer has the outcome unknown', async () => {
  const before = await serve((request) => void request.socket.destroy());
  const within = await serve((request, response) => {
    response.writeHead(200, { 'Content-Length': 10 }).write('{', () => request.socket.destroy());
  });
  const broken = {
    kind: 'unknown',
    reason: 'broken',
    message: expect.stringMatching(/^the connection broke \(\w+\)$/),
  };
  expect(await call(before)).toMatchObject(broken);
  expect(await call(within)).toMatchObject(broken);
  expect(await call('no address')).toMatchObject({ ...broken, code: 'ERR_INVALID_URL' });
});

test('without URL.parse, as on Node 20, calls work and an invalid address is an outcome', async () => {
  const { parse } = URL;
  URL.parse = undefined as never;
  try {
    const url = await serve((_, response) => response.end('{}'));
    expect(await call(url, 10_000, { organizationId: 'a' })).toMatchObject({ kind: 'answered' });
    expect(await call('no address', 10_000, { organizationId: 'a' })).toMatchObject({
      kind: 'unknown',
      reason: 'broken',
    });
  } finally {
    URL.parse = parse;
  }
});

test('the time limit and the signal of the caller end a call that has no connection yet', async () => {
  const dispatcher = new Agent({ connect: () => {} });
  expect(await call('http://127.0.0.1:1/', 50, { dispatcher })).toMatchObject({
    kind: 'unknown',
    reason: 'timeout',
  });
  const signal = AbortSignal.timeout(50);
  expect(await call('http://127.0.0.1:1/', 10_000, { dispatcher, signal })).toEqual({
    kind: 'unknown',
    reason: 'aborted',
    message: 'the call was aborted',
  });
});

describe('slots', () => {
  const slots = 4;
  const limits = { limitMs: 5_000, everyMs: 5 };

  /** Starts a server that does not answer; the test ends its responses. */
  async function serveHanging() {
    const hanging: ServerResponse[] = [];
    const url = await serve((_, response) => void hanging.push(response));
    return { url, hanging };
  }
  const hold = (url: string, organizationId: string, count: number, timeoutMs = 10_000) =>
    Array.from({ length: count }, (_, index) =>
      call(`${url}/${index}`, timeoutMs, { organizationId }),
    );

  test('a host that hangs for one organization delays neither calls of another one nor calls to another host', async () => {
    const { url, hanging } = await serveHanging();
    const held = hold(url, 'a', slots);
    await until(() => hanging.length === slots, limits);
    const late = await call(url, 100, { organizationId: 'a' });
    const message = `too many calls to ${new URL(url).host} are waiting for an answer`;
    expect(late).toEqual({ kind: 'not_sent', reason: 'no_slot', message });
    expect(hanging).toHaveLength(slots);

    const elsewhere = await serve((_, response) => response.end('{}'));
    expect(await call(elsewhere, 10_000, { organizationId: 'a' })).toMatchObject({
      kind: 'answered',
    });
    const others = [call(url, 10_000, { organizationId: 'b' }), call(url)];
    await until(() => hanging.length === slots + 2, limits);
    hanging.forEach((response) => response.end('{}'));
    for (const outcome of await Promise.all([...held, ...others]))
      expect(outcome).toMatchObject({ kind: 'answered' });
  });

  test('a call without a free slot fails after the maximum wait, or immediately when that is 0', async () => {
    const { url, hanging } = await serveHanging();
    const held = hold(url, 'd', slots);
    await until(() => hanging.length === slots, limits);
    for (const slotWaitMs of [0, 50]) {
      const startedAtMs = performance.now();
      const outcome = await call(url, 60_000, { organizationId: 'd', slotWaitMs });
      expect(outcome).toMatchObject({ kind: 'not_sent', reason: 'no_slot' });
      expect(performance.now() - startedAtMs).toBeLessThan(10_000);
    }
    hanging.forEach((response) => response.end('{}'));
    await Promise.all(held);
    const answered = call(url, 10_000, { organizationId: 'd', slotWaitMs: 0 });
    await until(() => hanging.length === slots + 1, limits);
    hanging.at(-1)!.end('{}');
    expect(await answered).toMatchObject({ kind: 'answered' });
  });

  test('waiting calls get a slot in order, whether the earlier calls succeed or fail', async () => {
    const { url, hanging } = await serveHanging();
    const held = hold(url, 'c', slots, 1_000);
    await until(() => hanging.length === slots, limits);
    const abort = new AbortController();
    const aborted = call(`${url}/aborted`, 10_000, { organizationId: 'c', signal: abort.signal });
    const waiting = ['first', 'second', 'third'].map((path) =>
      call(`${url}/${path}`, 10_000, { organizationId: 'c' }),
    );
    abort.abort();
    expect(await aborted).toMatchObject({ kind: 'not_sent', reason: 'no_slot' });
    hanging[0]!.end('{}');
    await until(() => hanging.length === slots + 1, limits);
    hanging[1]!.destroy();
    await until(() => hanging.length === slots + 2, limits);
    expect(hanging.slice(slots).map(({ req }) => req.url)).toEqual(['/first', '/second']);
    const kinds = (await Promise.all(held)).map((outcome) =>
      'reason' in outcome ? outcome.reason : outcome.kind,
    );
    expect(kinds).toEqual(['answered', 'broken', ...Array(slots - 2).fill('timeout')]);
    await until(() => hanging.length === slots + 3, limits);
    hanging.forEach((response) => response.end('{}'));
    for (const outcome of await Promise.all(waiting))
      expect(outcome).toMatchObject({ kind: 'answered' });
  });
});
