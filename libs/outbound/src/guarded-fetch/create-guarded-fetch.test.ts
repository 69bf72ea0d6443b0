import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, LookupFunction } from 'node:net';
import { gzipSync } from 'node:zlib';
import { type GuardedFetch, createGuardedFetch } from './create-guarded-fetch';

let server: Server;
let port: number;
const seen: { method?: string; url?: string; headers: IncomingMessage['headers']; body: string }[] =
  [];

beforeAll(async () => {
  server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    seen.push({ method: request.method, url: request.url, headers: request.headers, body });
    answer(request.url ?? '/', response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));
beforeEach(() => void (seen.length = 0));

function answer(url: string, response: ServerResponse): void {
  const [, name = '', value = ''] = url.split('/').map(decodeURIComponent);
  if (name === 'redirect')
    response.writeHead(Number(value.slice(0, 3)), { location: value.slice(3) }).end();
  else if (name === 'loop')
    response.writeHead(302, { location: `/loop/${Number(value) + 1}` }).end();
  else if (name === 'size') response.end(Buffer.alloc(Number(value), 97));
  else if (name === 'bomb')
    response.setHeader('content-encoding', 'gzip').end(gzipSync(Buffer.alloc(Number(value))));
  else if (name === 'gzip') response.setHeader('content-encoding', 'gzip').end(gzipSync(value));
  else if (name === 'encoded') response.setHeader('content-encoding', value).end('hello');
  else if (name === 'drip') response.writeHead(200).write('a');
  else if (name !== 'hang')
    response.writeHead(200, { 'x-one': 'two', 'set-cookie': ['a=1', 'b=2'] }).end('hello');
}

const limits = { timeoutMs: 2000, maxResponseBytes: 100_000 };

describe('a local server that is allowed by name', () => {
  let guarded: GuardedFetch;
  const at = (path: string, more: object = {}) =>
    guarded.fetch({ url: `http://127.0.0.1:${port}${path}`, ...limits, ...more });
  const redirect = (status: number, to: string, more: object = {}) =>
    at(`/redirect/${encodeURIComponent(status + to)}`, more);

  beforeAll(() => {
    guarded = createGuardedFetch({ allowedPrivateHosts: [`127.0.0.1:${port}`] });
  });
  afterAll(() => guarded.close());

  it.each(['unknown', 'constructor', '__proto__', 'valueOf'])(
    'does not decode %s',
    async (encoding) => {
      const message = 'The answer has an unknown encoding';
      expect(await at(`/encoded/${encoding}`)).toMatchObject({
        ok: false,
        reason: 'network',
        message,
      });
    },
  );

  it('returns the status, the headers and the body', async () => {
    const result = await at('/', { method: 'post', body: 'ping', headers: [['X-Mine', 'yes']] });
    expect(result).toMatchObject({
      ok: true,
      status: 200,
      redirected: false,
      body: Buffer.from('hello'),
    });
    expect(result).toHaveProperty(
      'headers',
      expect.arrayContaining([
        ['x-one', 'two'],
        ['set-cookie', 'b=2'],
      ]),
    );
    expect(seen[0]).toMatchObject({ method: 'POST', body: 'ping', headers: { 'x-mine': 'yes' } });
  });

  it('drops headers that the caller must not set', async () => {
    const names = [
      'Host',
      'Connection',
      'Transfer-Encoding',
      'Proxy-Authorization',
      'Upgrade',
      'TE',
      'Via',
      'Expect',
    ];
    await at('/', { headers: names.map((name) => [name, 'evil']) });
    expect(Object.values(seen[0]!.headers)).not.toContain('evil');
    expect(seen[0]!.headers.host).toBe(`127.0.0.1:${port}`);
  });

  it.each([
    ['a line break in a value', { headers: [['x', 'a\r\nHost: b']] }, 'invalid_request'],
    ['a bad name', { headers: [['a b', 'c']] }, 'invalid_request'],
    ['a tunnel', { method: 'CONNECT' }, 'invalid_request'],
    ['a malformed method', { method: 'GET / HTTP/1.1\r\nX: ' }, 'invalid_request'],
  ])('refuses %s without sending a request', async (_name, more, reason) => {
    expect(await at('/', more)).toMatchObject({ ok: false, reason });
    expect(seen).toEqual([]);
  });

  it.each([
    'http://127.0.0.1:1/',
    'http://169.254.169.254/latest/meta-data',
    'http://[::ffff:169.254.169.254]/',
    'http://2130706433/',
    'http://localhost/',
    'https://10.0.0.1/',
    'file:///etc/passwd',
    'gopher://127.0.0.1:6379/_',
    'http://a:b@example.com/',
  ])('does not follow a redirect to %s', async (to) => {
    expect(await redirect(302, to)).toMatchObject({ ok: false, reason: 'refused' });
    expect(seen).toHaveLength(1);
  });

  it('follows at most five redirects, and none with manual or error', async () => {
    expect(await at('/loop/0')).toMatchObject({ ok: false, reason: 'redirect' });
    expect(seen).toHaveLength(6);
    expect(await redirect(302, '/x', { redirect: 'manual' })).toMatchObject({
      ok: true,
      status: 302,
    });
    expect(await redirect(302, '/x', { redirect: 'error' })).toMatchObject({
      ok: false,
      reason: 'redirect',
    });
  });

  it.each([
    [301, 'POST', 'GET', ''],
    [302, 'POST', 'GET', ''],
    [303, 'PUT', 'GET', ''],
    [307, 'POST', 'POST', 'ping'],
    [308, 'PUT', 'PUT', 'ping'],
  ])('after %i a %s becomes a %s', async (status, method, after, body) => {
    expect(await redirect(status, '/end', { method, body: 'ping' })).toMatchObject({
      ok: true,
      redirected: true,
    });
    expect(seen[1]).toMatchObject({ method: after, body });
  });

  it('sends credentials only to the same origin', async () => {
    const headers = [
      ['Authorization', 'Bearer secret'],
      ['Cookie', 'c=1'],
      ['X-Mine', 'yes'],
    ];
    await redirect(302, '/end', { headers });
    expect(seen[1]!.headers).toMatchObject({
      authorization: 'Bearer secret',
      cookie: 'c=1',
      'x-mine': 'yes',
    });
    const other = createServer((request, response) =>
      response.end(JSON.stringify(request.headers)),
    );
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const otherPort = (other.address() as AddressInfo).port;
    const both = createGuardedFetch({ allowedPrivateHosts: ['127.0.0.1'] });
    const path = `/redirect/${encodeURIComponent(`302http://127.0.0.1:${otherPort}/`)}`;
    const result = await both.fetch({
      url: `http://127.0.0.1:${port}${path}`,
      headers: headers as never,
      ...limits,
    });
    const got = JSON.parse(String((result as { body: Buffer }).body));
    expect(got).toMatchObject({ 'x-mine': 'yes' });
    expect(Object.keys(got)).not.toEqual(expect.arrayContaining(['authorization']));
    expect(Object.keys(got)).not.toEqual(expect.arrayContaining(['cookie']));
    await both.close();
    other.close();
  });

  it('checks allowedHosts for each redirect', async () => {
    const answered = await redirect(302, 'http://example.com/', { allowedHosts: ['127.0.0.1'] });
    expect(answered).toMatchObject({
      ok: false,
      reason: 'refused',
      message: 'Host not in allowedHosts: example.com',
    });
  });

  it('limits the size before and after decompression', async () => {
    expect(await at('/size/100000')).toMatchObject({ ok: true });
    expect(await at('/size/100001')).toMatchObject({ ok: false, reason: 'too_large' });
    expect(await at('/bomb/50000000')).toMatchObject({ ok: false, reason: 'too_large' });
    expect(await at('/gzip/hi')).toMatchObject({ ok: true, body: Buffer.from('hi') });
  });

  it('limits the time of the headers and of the body, and can be aborted', async () => {
    expect(await at('/hang', { timeoutMs: 100 })).toMatchObject({ ok: false, reason: 'timeout' });
    expect(await at('/drip', { timeoutMs: 100 })).toMatchObject({ ok: false, reason: 'timeout' });
    expect(await at('/hang', { signal: AbortSignal.timeout(50) })).toMatchObject({
      ok: false,
      reason: 'aborted',
    });
  });
});

describe('an answer as a stream', () => {
  const open = async (path: string, more: object = {}) => {
    const guarded = createGuardedFetch({ allowedPrivateHosts: [`127.0.0.1:${port}`] });
    const answer = await guarded.open({
      url: `http://127.0.0.1:${port}${path}`,
      ...limits,
      ...more,
    });
    return { answer, guarded };
  };
  const read = async (body: AsyncIterable<Uint8Array>) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of body) chunks.push(chunk);
    return Buffer.concat(chunks).toString();
  };

  it('is returned before its end, and fails at the time limit', async () => {
    const { answer, guarded } = await open('/drip', { timeoutMs: 300 });
    if (!answer.ok) throw new Error(answer.message);
    const chunks = answer.body[Symbol.asyncIterator]();
    expect((await chunks.next()).value).toEqual(Buffer.from('a'));
    await expect(chunks.next()).rejects.toThrow();
    await guarded.close();
  });

  it('fails at the size limit, and is refused when it is compressed', async () => {
    const small = await open('/');
    if (!small.answer.ok) throw new Error(small.answer.message);
    expect(small.answer).toMatchObject({
      status: 200,
      headers: expect.arrayContaining([['x-one', 'two']]),
    });
    expect(await read(small.answer.body)).toBe('hello');
    const large = await open('/size/200000');
    if (!large.answer.ok) throw new Error(large.answer.message);
    await expect(read(large.answer.body)).rejects.toThrow('larger than 100000 bytes');
    const compressed = await open('/gzip/abc');
    expect(compressed.answer).toMatchObject({ ok: false, reason: 'network' });
    await Promise.all([small, large, compressed].map(({ guarded }) => guarded.close()));
  });

  it('is refused for an address that is not public', async () => {
    const guarded = createGuardedFetch({});
    expect(await guarded.open({ url: `http://127.0.0.1:${port}/`, ...limits })).toMatchObject({
      reason: 'refused',
    });
    expect(seen).toEqual([]);
    await guarded.close();
  });
});

describe('names that resolve to addresses that are not public', () => {
  const resolving = (...answers: string[][]): { guarded: GuardedFetch; asked: string[] } => {
    const asked: string[] = [];
    const lookup = ((name: string, _options: unknown, callback: (...all: unknown[]) => void) => {
      const addresses = answers[Math.min(asked.push(name), answers.length) - 1]!;
      callback(
        null,
        addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      );
    }) as unknown as LookupFunction;
    return { guarded: createGuardedFetch({ lookup }), asked };
  };
  const get = (guarded: GuardedFetch) =>
    guarded.fetch({ url: `http://rebind.example.com:${port}/`, ...limits });

  it.each([
    [['127.0.0.1']],
    [['8.8.8.8', '127.0.0.1']],
    [['::1']],
    [['::ffff:127.0.0.1']],
    [['64:ff9b::7f00:1']],
    [['10.0.0.5']],
    [['169.254.169.254']],
    [['fe80::1%lo']],
    [['fd00:ec2::254']],
    [[]],
    [['not-an-address']],
  ])('refuses a name that resolves to %j', async (addresses) => {
    const { guarded, asked } = resolving(addresses);
    expect(await get(guarded)).toMatchObject({ ok: false, reason: 'refused' });
    expect(asked).toEqual(['rebind.example.com']);
    expect(seen).toEqual([]);
    await guarded.close();
  });

  it('resolves a name once for each connection and uses only the checked addresses', async () => {
    const { guarded, asked } = resolving(['192.0.2.1'], ['127.0.0.1'], ['127.0.0.1']);
    for (let round = 0; round < 3; round++)
      expect(await get(guarded)).toMatchObject({ ok: false, reason: 'refused' });
    expect(asked).toHaveLength(3);
    expect(seen).toEqual([]);
    await guarded.close();
  });

  it('stops waiting for the resolver at the time limit', async () => {
    const guarded = createGuardedFetch({ lookup: (() => {}) as unknown as LookupFunction });
    const startedAtMs = performance.now();
    const answer = await guarded.fetch({
      url: 'http://silent.example.com/',
      timeoutMs: 200,
      maxResponseBytes: 1_000,
    });
    expect(answer).toMatchObject({ ok: false, reason: 'timeout' });
    expect(performance.now() - startedAtMs).toBeLessThan(10_000);
    await guarded.close();
  });

  it('connects without the check, which shows that the check refuses the name', async () => {
    const { guarded: _unused, asked } = resolving(['127.0.0.1']);
    const open = createGuardedFetch({
      allowedPrivateHosts: ['rebind.example.com'],
      lookup: ((name: string, _options: unknown, callback: (...all: unknown[]) => void) => {
        asked.push(name);
        callback(null, [{ address: '127.0.0.1', family: 4 }]);
      }) as unknown as LookupFunction,
    });
    expect(await get(open)).toMatchObject({ ok: true, body: Buffer.from('hello') });
    expect(seen).toHaveLength(1);
    await open.close();
  });
});
