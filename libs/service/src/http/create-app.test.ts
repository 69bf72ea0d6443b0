import { once } from 'node:events';
import { createServer, request as httpRequest, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Caller } from '@parley/contracts';
import { until } from '@parley/testing';
import { Writable } from 'node:stream';
import { pino } from 'pino';
import request from 'supertest';
import { z } from 'zod';
import { createApp } from './create-app';
import { HttpError, serverError } from './errors';
import { RawJson } from './send-json';
import { route } from './route';

const keys: Record<string, Caller> = {
  all: {
    type: 'api_key',
    id: 'k1',
    name: 'k1',
    organizationId: 'o1',
    tenant: 11,
    environment: 'development',
    permissions: new Set(['*']),
    role: null,
  },
  data: {
    type: 'api_key',
    id: 'k2',
    name: 'k2',
    organizationId: 'o1',
    tenant: 11,
    environment: 'production',
    permissions: new Set(['data']),
    role: null,
  },
  chat: {
    type: 'api_key',
    id: 'k3',
    name: 'k3',
    organizationId: 'o1',
    tenant: 11,
    environment: 'development',
    permissions: new Set(['chat']),
    role: null,
  },
};

const lines: Record<string, unknown>[] = [];
const log = pino(
  { formatters: { level: (level) => ({ level }) } },
  new Writable({
    write: (chunk, _encoding, done) => {
      lines.push(JSON.parse(String(chunk)));
      done();
    },
  }),
);

let blockedUntilMs = 0;
let refusedUntilMs = 0;
let handled = 0;
let changed = 0;
let aborted = 0;
const observed: { route: string; status: number }[] = [];
class Unavailable extends Error {}

const app = createApp({
  log,
  checkResponses: true,
  identify: async ({ headers }) =>
    keys[/^Bearer (\w+)$/i.exec(headers.authorization ?? '')?.[1] ?? ''] ?? null,
  limiter: {
    blockedUntil: (caller) => (caller.id === 'k2' ? blockedUntilMs : 0),
    admit: async (caller) => {
      await sleep(0);
      return caller.id === 'k2' ? refusedUntilMs : 0;
    },
  },
  isUnavailable: (error) => error instanceof Unavailable,
  metrics: { observe: (seen) => observed.push(seen) },
  routes: [
    route(
      {
        method: 'get',
        path: '/v1/things/:id',
        permission: 'data',
        rateLimited: true,
        params: z.object({ id: z.string() }),
        query: z.object({ limit: z.string().optional() }),
        response: z.object({ id: z.string() }).loose(),
      },
      async ({ params, query }, { scope, caller }) => {
        handled += 1;
        return { id: params.id, ...query, ...scope, key: caller.id };
      },
    ),
    route(
      {
        method: 'post',
        path: '/v1/things',
        permission: 'data',
        rateLimited: true,
        bodyLimitBytes: 1000,
        body: z.strictObject({
          data: z.custom<object>((value) => typeof value === 'object', 'must be an object'),
        }),
        status: 201,
        response: z.object({ data: z.unknown() }),
      },
      async ({ body }) => {
        changed += 1;
        return body;
      },
    ),
    route(
      { method: 'get', path: '/v1/large', permission: 'data', response: z.unknown() },
      async () => {
        handled += 1;
        return 'x'.repeat(40 * 1_048_576);
      },
    ),
    route(
      { method: 'get', path: '/v1/raw', permission: null, response: z.unknown() },
      async () => new RawJson('[1, 2]'),
    ),
    route(
      { method: 'get', path: '/v1/keyless', permission: null, response: z.unknown() },
      async (_input, context) => ({
        caller: (context as { caller?: unknown }).caller,
      }),
    ),
    route(
      {
        method: 'get',
        path: '/v1/fails/:how',
        permission: null,
        params: z.object({ how: z.string() }),
        response: z.object({ ok: z.literal(true) }),
      },
      async ({ params }, context) => {
        context.addLogFields({ how: params.how });
        if (params.how === 'bug') throw new Error('select secret from table_of_secrets');
        if (params.how === 'unavailable') throw new Unavailable('connect ECONNREFUSED 10.0.0.1');
        if (params.how === 'documented') throw serverError('Agent not found', 'agent_not_found');
        if (params.how === 'teapot')
          throw new HttpError(418, 'teapot', 'Short and stout', { headers: { 'X-Tea': 'yes' } });
        return { ok: 'no' };
      },
    ),
    route(
      { method: 'get', path: '/v1/slow', permission: null, response: z.unknown() },
      async (_input, { signal, log }) => {
        log.info('still here');
        await once(signal, 'abort');
        aborted += 1;
        return {};
      },
    ),
  ],
});

let server: Server;
let base: string;
beforeAll(async () => {
  server = createServer(app).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

const bearer = (name: string) => ({ Authorization: `Bearer ${name}` });
const get = (path: string, key = 'all') => request(base).get(path).set(bearer(key));
const error = (message: string, code: string) => ({
  error: message,
  code,
  requestId: expect.stringMatching(/.+/),
});
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** Sends bytes unchanged and returns what is received within `untilMs`. */
function raw(text: string | Buffer, untilMs = 300): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1', () =>
      socket.write(text),
    );
    let answer = '';
    socket.on('data', (chunk) => (answer += chunk));
    socket.on('error', reject);
    setTimeout(() => {
      socket.destroy();
      resolve(answer);
    }, untilMs);
  });
}

describe('paths and methods', () => {
  // Express handles the trailing slash and the escape, the matcher handles the others. The
  // answers must be equal.
  test.each(['/v1/things/a1', '/v1/things/a1/', '/v1/things/%611', '/v1/things/a1?x=1'])(
    '%s',
    async (path) => {
      const response = await get(path).expect(200);
      expect(response.body).toEqual({
        id: 'a1',
        organizationId: 'o1',
        tenant: 11,
        environment: 'development',
        key: 'k1',
      });
      expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
      expect(response.headers['x-request-id']).toMatch(uuid);
      expect(response.headers['x-powered-by']).toBeUndefined();
    },
  );

  test('an escaped slash and dots are part of a parameter', async () => {
    expect((await get('/v1/things/a%2Fb')).body.id).toBe('a/b');
    expect(
      await raw('GET /v1/things/.. HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer all\r\n\r\n'),
    ).toContain('"id":".."');
  });

  test('HEAD answers as GET without a body', async () => {
    const response = await request(base).head('/v1/things/a1').set(bearer('all')).expect(200);
    expect(response.text).toBeFalsy();
  });

  test.each([
    '/',
    '/v1',
    '/v1/things/a/b',
    '/V1/things/a',
    '/v1/things/',
    '/v1//things/a',
    '/__proto__',
    '/v1/toString',
  ])('unknown path %s is a 404', async (path) => {
    const response = await get(path);
    // POST /v1/things exists, so this path allows another method.
    if (path === '/v1/things/') expect(response.status).toBe(405);
    else {
      expect(response.status).toBe(404);
      expect(response.body).toEqual(error(`No such path: ${path}`, 'unknown_path'));
    }
  });

  test.each([
    ['put', '/v1/things/a', 'GET, HEAD'],
    ['post', '/v1/things/a', 'GET, HEAD'],
    ['get', '/v1/things', 'POST'],
    ['options', '/v1/things', 'POST'],
  ] as const)('%s %s is answered with 405 and the allowed methods', async (method, path, allow) => {
    const response = await request(base)[method](path);
    expect(response.status).toBe(405);
    expect(response.headers.allow).toBe(allow);
    expect(response.body).toEqual(error('Method not allowed', 'method_not_allowed'));
  });

  test.each(['/v1/things/%', '/v1/things/%E0%A4%A', '/v1/things/%ff', '/v1/things/%00'])(
    'a path that cannot be decoded (%s) is answered with 400',
    async (path) => {
      const answer = await raw(
        `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer all\r\n\r\n`,
      );
      expect(answer).toContain('HTTP/1.1 400');
      expect(answer).toContain('"error":"Malformed path"');
    },
  );

  test('query parameters that cannot be stored are refused with 400, repeated and malformed ones reach the schema', async () => {
    expect((await get('/v1/things/a?limit=%00')).body.error).toBe(
      'limit contains the NUL character (\\u0000), which cannot be stored',
    );
    await get('/v1/things/a?limit=1&limit=2').expect(400);
    await get('/v1/things/a?limit=%E0%A4%A').expect(200);
    await get('/v1/things/a?__proto__=1&constructor=2').expect(200);
  });
});

test('no cache keeps an answer, whatever it is', async () => {
  const answers = await Promise.all([
    get('/v1/things/a1').expect(200),
    get('/v1/things/%611').expect(200),
    request(base).head('/v1/things/a1').set(bearer('all')).expect(200),
    request(base).get('/v1/things/a1').expect(401),
    get('/v1/things/a1', 'chat').expect(403),
    get('/v1/nowhere').expect(404),
    request(base).put('/v1/things/a').expect(405),
    get('/v1/things/%').expect(400),
    request(base).post('/v1/things').set(bearer('data')).send({ wrong: 1 }).expect(400),
    get('/v1/fails/bug').expect(500),
    get('/v1/fails/unavailable').expect(503),
  ]);
  expect(answers.map(({ headers }) => headers['cache-control'])).toEqual(
    answers.map(() => 'no-store'),
  );
});

describe('request ids', () => {
  test('a valid one is used in the answer, the error and the log', async () => {
    const response = await get('/v1/nowhere').set('X-Request-Id', 'order-7:a.b');
    expect(response.headers['x-request-id']).toBe('order-7:a.b');
    expect(response.body.requestId).toBe('order-7:a.b');
    expect(lines.at(-1)).toMatchObject({ requestId: 'order-7:a.b', status: 404, route: 'none' });
  });
  test.each(['a b', '', '<script>', 'x'.repeat(129), '-x'])('%j is replaced', async (id) => {
    expect((await get('/v1/things/a').set('X-Request-Id', id)).headers['x-request-id']).toMatch(
      uuid,
    );
  });
});

describe('API keys', () => {
  test.each([
    [undefined, 'missing_key'],
    ['', 'missing_key'],
    ['Bearer', 'missing_key'],
    ['Bearer ', 'missing_key'],
    ['Bearer unknown', 'unknown_key'],
    ['Bearer all x', 'unknown_key'],
    ['bearer "all"', 'unknown_key'],
    ['Basic all', 'wrong_scheme'],
    ['all', 'wrong_scheme'],
  ])('%j is answered with 401 %s', async (authorization, code) => {
    const call = request(base).get('/v1/things/a');
    const response = await (authorization === undefined
      ? call
      : call.set('Authorization', authorization));
    expect(response.status).toBe(401);
    expect(response.body).toEqual(error('Unauthorized', code));
    expect(response.headers['www-authenticate']).toBe('Bearer');
  });
  test('the scheme is not case sensitive', () =>
    request(base).get('/v1/things/a').set('Authorization', 'bearer all').expect(200));
  test('an API key without the permission is refused with 403', async () => {
    const response = await get('/v1/things/a', 'chat').expect(403);
    expect(response.body).toEqual(
      error('API key does not have data permission', 'missing_permission'),
    );
  });
  test('the API key is checked before the body: 401 and 403 come before 400', async () => {
    await request(base)
      .post('/v1/things')
      .set('Content-Type', 'application/json')
      .send('{')
      .expect(401);
    await request(base)
      .post('/v1/things')
      .set(bearer('chat'))
      .set('Content-Type', 'application/json')
      .send('{')
      .expect(403);
  });
  test('a route that requires no API key has no caller', async () => {
    await get('/v1/raw').expect(200, [1, 2]);
    expect((await get('/v1/keyless')).status).toBe(500);
  });
});

describe('the rate limit', () => {
  const refusal = (retryAt: number) => ({
    ...error('Rate limit exceeded', 'rate_limited'),
    retryAt,
  });
  const post = () => request(base).post('/v1/things').set(bearer('data'));
  afterEach(() => {
    blockedUntilMs = 0;
    refusedUntilMs = 0;
  });

  test('an API key that is blocked is answered with 429, Retry-After and retryAt, and the handler does not run', async () => {
    blockedUntilMs = Date.now() + 4_200;
    const before = handled;
    const response = await get('/v1/things/a', 'data').expect(429);
    expect(response.body).toEqual(refusal(blockedUntilMs));
    expect(response.headers['retry-after']).toBe('5');
    await post().send({ data: {} }).expect(429);
    expect(handled).toBe(before);
  });

  test('when the limiter refuses a request, the result of a read is discarded and a change is not started', async () => {
    refusedUntilMs = Date.now() + 4_200;
    const before = changed;
    expect((await get('/v1/things/a', 'data').expect(429)).body).toEqual(refusal(refusedUntilMs));
    expect((await post().send({ data: {} }).expect(429)).body).toEqual(refusal(refusedUntilMs));
    expect(changed).toBe(before);
  });

  test('the limit is checked after the API key and its permission, and before the input', async () => {
    refusedUntilMs = Date.now() + 4_200;
    await post().set('Content-Type', 'application/json').send('{').expect(429);
    await get('/v1/things/a?limit=1&limit=2', 'data').expect(429);
    await get('/v1/things/a', 'chat').expect(403);
    refusedUntilMs = 0;
    await post().set('Content-Type', 'application/json').send('{').expect(400);
    await get('/v1/things/a', 'data').expect(200);
  });
});

describe('errors', () => {
  test('an unexpected error is logged and answered with Internal error', async () => {
    const response = await get('/v1/fails/bug').expect(500);
    expect(response.body).toEqual(error('Internal error', 'internal_error'));
    expect(
      lines.some(
        ({ msg, err }) =>
          msg === 'unexpected error' && JSON.stringify(err).includes('table_of_secrets'),
      ),
    ).toBe(true);
    expect(lines.at(-1)).toMatchObject({
      level: 'error',
      status: 500,
      route: '/v1/fails/:how',
      path: '/v1/fails/bug',
      how: 'bug',
    });
  });
  test('an unavailable dependency is answered with 503 and Retry-After', async () => {
    const response = await get('/v1/fails/unavailable').expect(503);
    expect(response.body).toEqual(error('Service temporarily unavailable', 'unavailable'));
    expect(response.headers['retry-after']).toBe('2');
  });
  test('an HttpError is sent with its message, its code and its headers', async () => {
    expect((await get('/v1/fails/documented').expect(500)).body).toEqual(
      error('Agent not found', 'agent_not_found'),
    );
    expect((await get('/v1/fails/teapot').expect(418)).headers['x-tea']).toBe('yes');
  });
  test('outside production, an answer that does not match its schema is a 500', async () => {
    expect((await get('/v1/fails/not').expect(500)).body).toEqual(
      error('Internal error', 'internal_error'),
    );
  });
  test('the route label of metrics is a pattern, never a path', () => {
    expect(observed.map(({ route }) => route)).toContain('/v1/fails/:how');
    expect(observed.every(({ route }) => route === 'none' || route.startsWith('/v1/'))).toBe(true);
    expect(observed.some(({ route }) => route.includes('/a1'))).toBe(false);
  });
});

describe('bodies', () => {
  const post = (body: string | Buffer, headers = {}) =>
    request(base)
      .post('/v1/things')
      .set({ ...bearer('all'), 'Content-Type': 'application/json', ...headers })
      .serialize((text) => text as string)
      .send(body);

  test('a valid body is accepted', () => post('{"data":{"a":1}}').expect(201, { data: { a: 1 } }));
  test('a body in chunks of one byte, with a byte order mark, is accepted', async () => {
    const text = Buffer.from('\ufeff{"data":{"é":"ü"}}');
    const head = `POST /v1/things HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer all\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const chunks = [...text].map((byte) => `1\r\n${String.fromCharCode(byte)}\r\n`).join('');
    const answer = await raw(Buffer.from(`${head}${chunks}0\r\n\r\n`, 'latin1'));
    expect(answer).toContain('HTTP/1.1 201');
    expect(answer).toContain('{"data":{"é":"ü"}}');
  });

  test.each([
    ['{', 'Malformed JSON in the request body', 'malformed_json'],
    ['{"data":{}} x', 'Malformed JSON in the request body', 'malformed_json'],
    ['{"data":NaN}', 'Malformed JSON in the request body', 'malformed_json'],
    ['data=1', 'Malformed JSON in the request body', 'malformed_json'],
    ['', 'A JSON body is required', 'invalid_body'],
    ['[]', undefined, 'invalid_body'],
    ['null', undefined, 'invalid_body'],
    ['{}', 'data: must be an object', 'invalid_body'],
    [
      '{"data":{"a":"\\u0000"}}',
      'data.a contains the NUL character (\\u0000), which cannot be stored',
      'invalid_body',
    ],
    [
      '{"data":{"a\\u0000":1}}',
      'data has a key that contains the NUL character (\\u0000), which cannot be stored',
      'invalid_body',
    ],
    [
      '{"data":{"a":"\\ud800"}}',
      'data.a contains half a surrogate pair, which is not valid Unicode',
      'invalid_body',
    ],
    ['{"data":{"a":1e400}}', 'data.a is a number out of range', 'invalid_body'],
    ['{"data":{"a":-1e400}}', 'data.a is a number out of range', 'invalid_body'],
    [`{"data":${'['.repeat(70)}${']'.repeat(70)}}`, undefined, 'invalid_body'],
  ])('%s is refused with 400', async (body, message, code) => {
    const response = await post(body).expect(400);
    expect(response.body).toMatchObject({ code, error: message ?? expect.stringMatching(/.+/) });
    if (code === 'invalid_body')
      expect(response.body.details[0]).toEqual({
        path: expect.any(String),
        message: expect.any(String),
      });
  });

  test('of many problems, an answer lists 100', async () => {
    const unknown = Array.from({ length: 120 }, (_, n) => `"a${n}":0`).join(',');
    const { body } = await post(`{"data":{},${unknown}}`).expect(400);
    expect(body).toMatchObject({ code: 'invalid_body', error: 'a0: is not a known field' });
    expect(body.details).toHaveLength(100);
  });

  test('invalid UTF-8 is refused with 400', async () => {
    const head =
      'POST /v1/things HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer all\r\nContent-Length: 14\r\n\r\n';
    const answer = await raw(
      Buffer.concat([
        Buffer.from(head),
        Buffer.from('{"data":"'),
        Buffer.from([0xc3, 0x28]),
        Buffer.from('"} '),
      ]),
    );
    expect(answer).toContain('Malformed JSON');
  });

  test('a compressed body is refused with 415', () =>
    post('{}', { 'Content-Encoding': 'gzip' }).expect(415));

  test('a Content-Length above the limit is refused with 413, and the connection stays usable', async () => {
    const response = await post(JSON.stringify({ data: { a: 'x'.repeat(2_000_000) } })).expect(413);
    expect(response.body).toEqual(
      error('Request body is larger than 1000 bytes', 'payload_too_large'),
    );
    const large = `POST /v1/things HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer all\r\nContent-Length: 3000\r\n\r\n${'x'.repeat(3000)}`;
    const answer = await raw(`${large}GET /v1/raw HTTP/1.1\r\nHost: x\r\n\r\n`);
    expect(answer).toMatch(/HTTP\/1.1 413[^]+HTTP\/1.1 200/);
  });

  test('a chunked body is refused with 413 when it exceeds the limit', async () => {
    const head =
      'POST /v1/things HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer all\r\nTransfer-Encoding: chunked\r\n\r\n';
    const answer = await raw(`${head}5dc\r\n${'x'.repeat(1500)}\r\n`);
    expect(answer).toContain('HTTP/1.1 413');
  });

  test('a client that disconnects during its body or before its answer is logged with 499, and the handler is aborted', async () => {
    await raw(
      'POST /v1/things HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer all\r\nContent-Length: 50\r\n\r\n{"da',
      50,
    );
    const call = httpRequest(`${base}/v1/slow`, { headers: { 'X-Request-Id': 'leaves' } }).on(
      'error',
      () => {},
    );
    call.end();
    await until(() => lines.some(({ msg }) => msg === 'still here'));
    call.destroy();
    await until(() => lines.some(({ status, route }) => status === 499 && route === '/v1/slow'));
    expect(aborted).toBe(1);
    expect(lines.filter(({ status }) => status === 499).map(({ route }) => route)).toEqual([
      '/v1/things',
      '/v1/slow',
    ]);
    expect(lines.find(({ msg }) => msg === 'still here')).toMatchObject({ requestId: 'leaves' });
  });
});

test('reads wait for large answers of their endpoint before, and one that would wait too long behind others is refused', async () => {
  await get('/v1/large').expect(200);
  const before = handled;
  const left = new AbortController();
  const ask = () => fetch(`${base}/v1/large`, { headers: bearer('all'), signal: left.signal });
  const asked = [ask(), ask()];
  const refused = await Promise.race(asked);
  expect([refused.status, ((await refused.json()) as { code: string }).code]).toEqual([
    429,
    'too_many_large_answers',
  ]);
  expect(handled).toBe(before);
  await get('/v1/things/a1').expect(200);
  left.abort();
  await Promise.allSettled(asked);
});
