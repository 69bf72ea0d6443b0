import { createTestDatabase } from '@parley/testing';
import fc from 'fast-check';
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { createEntities } from '@parley/entities';
import { silentLogger } from '@parley/service';
import { createDataApp } from './app';
import { type TestApi, createTestApi } from './testing/create-test-api';

// Random and malformed requests: each is refused with a clear error or processed exactly, never
// answered with a 500 or a stack trace.
let api: TestApi;
let key: string;
let server: Server;

beforeAll(async () => {
  api = createTestApi(await createTestDatabase());
  const tenant = await api.organization();
  key = await api.key({ tenant, permissions: ['*'] });
  await api.push(
    { tenant },
    {
      entityTypes: [
        { slug: 'free', name: 'Free', schema: {}, searchFields: ['text', 'deep.text'] },
        {
          slug: 'typed',
          name: 'Typed',
          schema: { n: 'number', at: 'date', o: 'object', a: 'array', b: 'boolean' },
        },
      ],
    },
  );
  const app = createDataApp({
    db: api.db,
    entities: createEntities({ db: api.db }),
    log: silentLogger(),
    checkResponses: true,
    requestReindexing: () => {},
  });
  server = createServer(app).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
});
afterAll(async () => {
  await new Promise((resolve) => server.close(resolve));
  await api.close();
});

interface Answer {
  status: number;
  text: string;
}

/** Sends raw bytes, because HTTP client libraries normalize paths and bodies. */
function send(method: string, path: string, body?: string | Buffer): Promise<Answer> {
  const bytes = Buffer.from(body ?? '');
  const head = `${method} ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${key}\r\nContent-Length: ${bytes.length}\r\n\r\n`;
  return new Promise((resolve, reject) => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    let text = '';
    socket.on('data', (chunk) => (text += chunk));
    socket.on('error', reject);
    socket.on('end', () => resolve({ status: Number(/^HTTP\/1.1 (\d+)/.exec(text)?.[1]), text }));
    socket.write(Buffer.concat([Buffer.from(head, 'latin1'), bytes]));
  });
}

function expectNoAccident({ status, text }: Answer, what: unknown): void {
  if (status >= 500 || !(status >= 200))
    throw new Error(`${status} for ${JSON.stringify(what)?.slice(0, 2000)}: ${text}`);
  if (status >= 400 && text.includes('\r\n\r\n{')) {
    const { error, code } = JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4));
    expect(error).toEqual(expect.stringMatching(/./));
    if (code !== undefined) expect(code).toMatch(/^[a-z_]+$/);
  }
  expect(text).not.toMatch(/at .*\.(ts|js):\d+|select .* from|node_modules/i);
}

const hostileText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom(
    '__proto__',
    'constructor',
    'prototype',
    'toString',
    'hasOwnProperty',
    '$where',
    '$eq',
    '$in',
    'data.',
    'data..a',
    '.',
    '',
    ' ',
    '\u0000',
    'a\u0000b',
    '\ud800',
    'x\udfffy',
    "'; drop table entities; --",
    '" or 1=1',
    '$1',
    '{{a.b}}',
    '\\',
    '\\u0000',
    '%00',
    '\u202e',
    '👩‍👩‍👧‍👦',
    'ﷺ'.repeat(30),
    'id',
    'status',
    'createdAt',
    'data.n',
    'data.text',
    'data.deep.text',
    'data.a.0',
    'data.__proto__.x',
  ),
);
const hostileNumber = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(
    0,
    -0,
    1e308,
    -1e308,
    5e-324,
    2 ** 53,
    2 ** 53 + 2,
    -(2 ** 63),
    2 ** 64,
    1e21,
    0.1 + 0.2,
    253402300800000,
  ),
);
const { value: hostileJson } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    hostileText,
    hostileNumber,
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(hostileText, tie('value'), { maxKeys: 4 }),
  ),
}));
const operator = fc.constantFrom(
  '$eq',
  '$ne',
  '$neq',
  '$in',
  '$nin',
  '$gt',
  '$gte',
  '$lt',
  '$lte',
  '$contains',
  '$exists',
  '$x',
);
const field = fc.oneof(
  hostileText,
  hostileText.map((name) => `data.${name}`),
  fc.constantFrom('data.n', 'data.text', 'data.o'),
);
const filters = fc.dictionary(
  field,
  fc.oneof(hostileJson, fc.dictionary(operator, hostileJson, { maxKeys: 2 })),
  {
    maxKeys: 3,
  },
);
const type = fc.constantFrom('free', 'typed');
const run = (property: fc.IAsyncPropertyWithHooks<never>) =>
  fc.assert(property, { numRuns: 120, endOnFailure: true });

/** JSON text in which lone surrogates and unusual keys are escaped. */
const textOf = (value: unknown) => JSON.stringify(value) ?? 'null';

test(
  'create and update',
  () =>
    run(
      fc.asyncProperty(type, hostileJson, hostileJson, async (slug, data, status) => {
        const body = textOf({ data, ...(Math.random() < 0.2 ? { status } : {}) });
        const answer = await send('POST', `/v1/data/${slug}`, body);
        expectNoAccident(answer, body);
        if (answer.status !== 201) return;
        const created = JSON.parse(answer.text.slice(answer.text.indexOf('\r\n\r\n') + 4));
        // The response holds the data that was sent. JSON has no -0, hence the round trip.
        expect(created.data).toEqual(JSON.parse(textOf(data)));
        expectNoAccident(
          await send('PATCH', `/v1/data/${slug}/${created.id}`, textOf({ data })),
          data,
        );
        expectNoAccident(await send('GET', `/v1/data/${slug}/${created.id}`), created.id);
      }) as never,
    ),
  120_000,
);

test(
  'query',
  () =>
    run(
      fc.asyncProperty(type, filters, hostileJson, async (slug, given, more) => {
        const body = textOf({
          filters: given,
          ...(Math.random() < 0.3
            ? { sort: { field: Object.keys(given)[0], direction: 'asc' } }
            : {}),
        });
        expectNoAccident(await send('POST', `/v1/data/${slug}/query`, body), body);
        const odd = textOf({ filters: more, status: more, limit: more, cursor: more, sort: more });
        expectNoAccident(await send('POST', `/v1/data/${slug}/query`, odd), odd);
      }) as never,
    ),
  120_000,
);

test(
  'search',
  () =>
    run(
      fc.asyncProperty(hostileText, hostileJson, async (query, more) => {
        expectNoAccident(await send('POST', '/v1/data/free/search', textOf({ query })), query);
        expectNoAccident(
          await send(
            'POST',
            '/v1/data/free/search',
            textOf({ query: more, limit: more, status: more }),
          ),
          more,
        );
      }) as never,
    ),
  120_000,
);

test(
  'sync',
  () =>
    run(
      fc.asyncProperty(hostileJson, hostileText, async (value, name) => {
        const kinds = ['entityTypes', 'roles', 'tools', 'agents', 'routers', 'triggers'];
        const resources = {
          [kinds[Math.floor(Math.random() * kinds.length)]!]: [
            { slug: 'a', name, schema: value, policies: value },
            value,
          ],
        };
        const body = textOf({ resources, dryRun: true });
        expectNoAccident(await send('POST', '/v1/sync', body), body);
        expectNoAccident(await send('POST', '/v1/sync', textOf(value)), value);
        expectNoAccident(await send('POST', '/v1/sync/state', textOf(value)), value);
      }) as never,
    ),
  120_000,
);

test(
  'bytes that are not JSON, and paths and queries that are not valid text',
  () =>
    run(
      fc.asyncProperty(fc.uint8Array({ maxLength: 60 }), hostileText, async (bytes, text) => {
        for (const path of [
          '/v1/data/free',
          '/v1/data/free/query',
          '/v1/data/free/search',
          '/v1/sync',
        ]) {
          expectNoAccident(await send('POST', path, Buffer.from(bytes)), bytes);
        }
        const escaped = [...bytes].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
        const encoded = encodeURIComponent(text.toWellFormed());
        for (const segment of [escaped, encoded]) {
          for (const path of [
            `/v1/data/${segment}`,
            `/v1/data/free/${segment}`,
            `/v1/data/free?cursor=${segment}&limit=${segment}`,
            `/v1/data/free?status=${segment}`,
          ]) {
            expectNoAccident(await send('GET', path), path);
          }
          expectNoAccident(await send('PATCH', `/v1/data/free/${segment}`, '{"data":{}}'), segment);
          expectNoAccident(await send('DELETE', `/v1/data/${segment}/${segment}`), segment);
        }
      }) as never,
    ),
  120_000,
);

test.each([
  ['a number out of range', '{"data":{"n":1e400}}', 400],
  ['a NUL', '{"data":{"a":"\\u0000"}}', 400],
  ['a NUL in a key', '{"data":{"\\u0000":1}}', 400],
  ['half a surrogate pair', '{"data":{"a":"\\ud83d"}}', 400],
  ['half a surrogate pair in a key', '{"data":{"\\ude00":1}}', 400],
  ['64 levels', `{"data":${'{"a":'.repeat(62)}1${'}'.repeat(62)}}`, 201],
  ['65 levels', `{"data":${'['.repeat(70)}${']'.repeat(70)}}`, 400],
  ['100,000 levels', `{"data":{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}}`, 400],
  [
    '20,000 keys',
    `{"data":{${Array.from({ length: 20_000 }, (_, at) => `"k${at}":${at}`).join()}}}`,
    201,
  ],
  ['900 kB of text', `{"data":{"a":"${'x'.repeat(900_000)}"}}`, 201],
  [
    'a list of 100,000 numbers',
    `{"data":{"a":[${Array.from({ length: 100_000 }, () => 7).join()}]}}`,
    201,
  ],
  ['more than 1 MiB', `{"data":{"a":"${'x'.repeat(1_048_576)}"}}`, 413],
  [
    'a prototype',
    '{"data":{"__proto__":{"admin":true},"constructor":{"prototype":{"admin":true}}}}',
    201,
  ],
  ['a body with only a prototype', '{"__proto__":{"data":{"a":1}}}', 400],
  ['a duplicate key', '{"data":{"a":1,"a":2}}', 201],
  ['a number with 5,000 digits', `{"data":{"n":0.${'1'.repeat(5_000)}}}`, 201],
])('%s is stored exactly or refused', async (_name, body, status) => {
  const answer = await send('POST', '/v1/data/free', body);
  expect([answer.status, answer.text.slice(0, 300)]).toEqual([status, answer.text.slice(0, 300)]);
  expectNoAccident(answer, body.slice(0, 100));
  expect(({} as Record<string, unknown>).admin).toBeUndefined();
  if (status !== 201) return;
  const { data } = JSON.parse(answer.text.slice(answer.text.indexOf('\r\n\r\n') + 4));
  expect(data).toEqual(JSON.parse(body).data);
});
