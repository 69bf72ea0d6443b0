import {
  type TestGateway,
  type TestUpstream,
  bodyOf,
  sendRaw,
  startGateway,
  startUpstream,
} from './gateway-under-test';

/**
 * Extends refuse-unsafe.test.ts: byte sequences known from request smuggling, and what the upstream
 * receives of them.
 */
let service: TestUpstream;
let gateway: TestGateway;
beforeAll(async () => {
  service = await startUpstream('all');
  gateway = await startGateway({ chat: service.url, data: service.url });
});
afterEach(() => {
  service.seen.length = 0;
});
afterAll(async () => {
  await gateway.close();
  await service.close();
});

const request = (first: string, ...headers: string[]) => [first, ...headers, '', ''].join('\r\n');
const get = (...headers: string[]) => request('GET /v1/data/a HTTP/1.1', 'Host: a', ...headers);
const post = (body: string, ...headers: string[]) =>
  request('POST /v1/chat HTTP/1.1', 'Host: a', ...headers) + body;
const chunked = (body: string) => post(body, 'Transfer-Encoding: chunked');
const send = (text: string, { port } = gateway) => sendRaw(port, Buffer.from(text, 'latin1'));
const statusesOf = (raw: string) =>
  [...raw.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));
const many = Array.from({ length: 3_000 }, (_, at) => `X-${at}: a`);

it.each<[name: string, request: string, status: number]>([
  [
    'one bare line feed among the headers',
    'POST /v1/chat HTTP/1.1\r\nHost: a\nContent-Length: 2\r\n\r\n{}',
    400,
  ],
  ['a NUL in a name', get('X-\0A: b'), 400],
  ['a NUL in the target', request('GET /v1/data/a\0b HTTP/1.1', 'Host: a'), 400],
  ['a DEL in a value', get('X-A: b\x7fc'), 400],
  ['a space in the target', request('GET /v1/data/a b HTTP/1.1', 'Host: a'), 400],
  ['a tab before the colon', get('X-A\t: b'), 400],
  ['no colon', get('X-A'), 400],
  ['no name', get(': b'), 400],
  ['a folded first header', request('GET /v1/data/a HTTP/1.1', ' Host: a', 'Host: a'), 400],
  ['a space before the method', ` ${get()}`, 400],
  ['a vertical tab before the coding', post('0\r\n\r\n', 'Transfer-Encoding: \x0bchunked'), 400],
  ['chunked twice', post('0\r\n\r\n', 'Transfer-Encoding: chunked, chunked'), 400],
  [
    'chunked in two headers',
    post('0\r\n\r\n', 'Transfer-Encoding: chunked', 'transfer-encoding: chunked'),
    400,
  ],
  ['a coding in quotes', post('0\r\n\r\n', 'Transfer-Encoding: "chunked"'), 400],
  [
    'a coding in HTTP/1.0',
    request('POST /v1/chat HTTP/1.0', 'Transfer-Encoding: chunked') + '0\r\n\r\n',
    400,
  ],
  ['a length above the largest integer', post('{}', 'Content-Length: 99999999999999999999'), 400],
  ['an empty length', post('{}', 'Content-Length: '), 400],
  ['a length of two numbers', post('{}', 'Content-Length: 1 1'), 400],
  [
    'two media types',
    post('{}', 'Content-Type: a/b', 'Content-Type: c/d', 'Content-Length: 2'),
    400,
  ],
  ['chunks that end in line feeds', chunked('2\n{}\n0\n\n'), 400],
  ['a line feed after a chunk extension', chunked('2;\n{}\r\n0\r\n\r\n'), 400],
  ['a chunk size that overflows', chunked('10000000000000002\r\n{}\r\n0\r\n\r\n'), 400],
  ['a chunk size with 0x', chunked('0x2\r\n{}\r\n0\r\n\r\n'), 400],
  ['a chunk size with a sign', chunked('+2\r\n{}\r\n0\r\n\r\n'), 400],
  [
    'framing in the trailer',
    chunked('2\r\n{}\r\n0\r\nContent-Length: 50\r\nAuthorization: Bearer x\r\n\r\n'),
    400,
  ],
  ['3,000 headers', get(...many), 431],
  ['a target of 20 kB', request(`GET /v1/data/${'a'.repeat(20_000)} HTTP/1.1`, 'Host: a'), 431],
  ['HTTP/0.9', 'GET /v1/data/a\r\n\r\n', 400],
  ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
  ['a method in lower case', request('get /v1/data/a HTTP/1.1', 'Host: a'), 400],
  ['an unknown method', request('FOO /v1/data/a HTTP/1.1', 'Host: a'), 400],
])('is refused and not forwarded: %s', async (_name, text, status) => {
  isRefused(await send(text), status);
});

it('a connection that sends nothing is answered with 408', async () => {
  const options = { headersTimeout: 300, requestTimeout: 600, connectionsCheckingInterval: 50 };
  const impatient = await startGateway({ chat: service.url, data: service.url }, { options });
  try {
    isRefused(await send('', impatient), 408);
  } finally {
    await impatient.close();
  }
});

function isRefused(raw: string, status: number): void {
  expect(statusesOf(raw)).toEqual([status]);
  expect(bodyOf(raw)).toMatchObject({
    error: expect.stringMatching(/.+/),
    code: expect.stringMatching(/^[a-z_]+$/),
  });
  expect(raw).toMatch(/^Connection: close/im);
  expect(service.seen).toEqual([]);
}

it.each<[name: string, request: string, body: string]>([
  ['a tab before the coding', post('2\r\n{}\r\n0\r\n\r\n', 'Transfer-Encoding:\tchunked'), '{}'],
  ['a coding in capitals', post('2\r\n{}\r\n0\r\n\r\n', 'Transfer-Encoding: CHUNKED'), '{}'],
  ['a chunk extension', chunked('2;a=b\r\n{}\r\n0\r\n\r\n'), '{}'],
  [
    'a length and a header of the same name with an underscore',
    post('{}', 'Content_Length: 44', 'Content-Length: 2'),
    '{}',
  ],
  ['empty lines before the request', `\r\n\r\n${post('{}', 'Content-Length: 2')}`, '{}'],
  ['a body of a GET', get('Content-Length: 2') + '{}', '{}'],
])('is forwarded with exactly one length or transfer encoding: %s', async (_name, text, body) => {
  // If the gateway misread the end of the body, the second request of the connection would start
  // at the wrong byte.
  const raw = await send(text + get('X-Second: 2', 'Connection: close'));
  expect(statusesOf(raw)).toEqual([200, 200]);
  expect(service.seen).toHaveLength(2);
  const first = service.seen.find(({ headers }) => headers['x-second'] === undefined)!;
  expect(first.body.toString()).toBe(body);
  const framing = first.rawHeaders.filter(
    (_, at) => at % 2 === 0 && /^(content-length|transfer-encoding)$/i.test(first.rawHeaders[at]!),
  );
  expect(framing).toHaveLength(1);
  expect(first.headers['transfer-encoding'] ?? 'chunked').toBe('chunked');
});

it('answers pipelined requests in order, each once', async () => {
  const ahead = Array.from({ length: 20 }, (_, at) =>
    request(
      `GET /v1/data/p${at} HTTP/1.1`,
      'Host: a',
      `X-Request-Id: r${at}`,
      ...(at === 19 ? ['Connection: close'] : []),
    ),
  );
  const raw = await send(ahead.join(''));
  expect(statusesOf(raw)).toEqual(Array(20).fill(200));
  expect([...raw.matchAll(/^X-Request-Id: (\S+)/gim)].map(([, id]) => id)).toEqual(
    ahead.map((_, at) => `r${at}`),
  );
  expect(service.seen.map(({ url }) => url).sort()).toEqual(
    ahead.map((_, at) => `/v1/data/p${at}`).sort(),
  );
});
