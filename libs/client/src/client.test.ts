import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { until } from '@parley/testing';
import { ParleyApiError, ParleyClient, type Retry } from './index';

interface Seen {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: unknown;
}

let server: Server;
let baseUrl: string;
let seen: Seen[] = [];
/** The server's next responses, in order. Afterwards it answers 200 with `{}`. */
let script: ((response: ServerResponse) => void)[] = [];

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const text = (await request.toArray()).join('');
    const { method = '', url = '', headers } = request;
    seen.push({ method, url, headers, body: text === '' ? undefined : JSON.parse(text) });
    const step = script.shift();
    if (step) step(response);
    else response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
  }).listen(0, '127.0.0.1');
  await new Promise((listening) => server.once('listening', listening));
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
beforeEach(() => {
  seen = [];
  script = [];
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const client = (options: object = {}) =>
  new ParleyClient({ apiKey: 'sk_dev_x', baseUrl: `${baseUrl}/`, ...options });
const answer =
  (status: number, body: unknown, headers: Record<string, string> = {}) =>
  (response: ServerResponse): void =>
    void response
      .writeHead(status, headers)
      .end(typeof body === 'string' ? body : JSON.stringify(body));
const failureOf = async (call: Promise<unknown>) =>
  call.then(
    () => Promise.reject(new Error('it succeeded')),
    (e) => e,
  );

describe('a session of a person', () => {
  const session = { organizationId: 'org_1', environment: 'production' } as const;
  const ofSession = (options: object = {}) => new ParleyClient({ session, baseUrl, ...options });

  test('requests name the organization and the environment, have no key, and let the browser send its cookie', async () => {
    const inits: RequestInit[] = [];
    const browserFetch: typeof fetch = (url, init) => {
      inits.push(init!);
      return fetch(url, {
        ...init,
        headers: { ...(init!.headers as object), Cookie: 'parley_session=a' },
      });
    };
    script = [answer(503, {}, { 'Retry-After': '0' })];
    await ofSession({ fetch: browserFetch }).data.create('order', { data: {} });
    expect(seen).toHaveLength(2);
    for (const { headers } of seen)
      expect(headers).toMatchObject({
        'parley-organization': 'org_1',
        'parley-environment': 'production',
        cookie: 'parley_session=a',
      });
    expect(seen.every(({ headers }) => headers.authorization === undefined)).toBe(true);
    expect(inits.map(({ credentials }) => credentials)).toEqual(['same-origin', 'same-origin']);
  });

  test('a request with a key names no organization', async () => {
    await client().entityTypes();
    expect(seen[0]!.headers).toMatchObject({ authorization: 'Bearer sk_dev_x' });
    expect(seen[0]!.headers).not.toHaveProperty('parley-organization');
  });

  test('exactly one of the key and the session is given', () => {
    expect(() => ofSession({ apiKey: 'sk_dev_x' })).toThrow('Give either apiKey or session');
    // @ts-expect-error -- neither
    expect(() => new ParleyClient({ baseUrl })).toThrow('Give either apiKey or session');
    // @ts-expect-error -- both
    expect(() => new ParleyClient({ baseUrl, session, apiKey: 'sk_dev_x' })).toThrow(TypeError);
    const organizationId = 'a';
    // @ts-expect-error -- no such environment
    const odd = new ParleyClient({ baseUrl, session: { organizationId, environment: 'test' } });
    expect(odd).toBeDefined();
  });
});

describe('requests', () => {
  const calls: [
    name: string,
    call: (c: ParleyClient) => Promise<unknown>,
    line: string,
    body: unknown,
  ][] = [
    [
      'chat with an agent',
      (c) => c.chat({ agentSlug: 'a b', message: 'hi' }),
      'POST /v1/agents/a%20b/chat',
      { message: 'hi' },
    ],
    [
      'chat by identifier',
      (c) => c.chat({ agentId: 'x', message: 'hi' }),
      'POST /v1/chat',
      { agentId: 'x', message: 'hi' },
    ],
    [
      'chat through a router',
      (c) =>
        c.chat({
          routerSlug: 'desk',
          message: 'hi',
          phoneNumber: '1',
          threadContext: { params: { a: 1 } },
        }),
      'POST /v1/routers/desk/chat',
      { message: 'hi', phoneNumber: '1', threadContext: { params: { a: 1 } } },
    ],
    ['entityTypes', (c) => c.entityTypes(), 'GET /v1/entity-types', undefined],
    ['list', (c) => c.data.list('order'), 'GET /v1/data/order', undefined],
    [
      'list of a page',
      (c) => c.data.list('order', { limit: 5, cursor: 'a=b', status: undefined }),
      'GET /v1/data/order?limit=5&cursor=a%3Db',
      undefined,
    ],
    ['get', (c) => c.data.get('order', '../x'), 'GET /v1/data/order/..%2Fx', undefined],
    [
      'relations',
      (c) => c.data.relations('order', '1', { limit: 5 }),
      'GET /v1/data/order/1/relations?limit=5',
      undefined,
    ],
    [
      'create',
      (c) => c.data.create('order', { data: { a: 1 } }),
      'POST /v1/data/order',
      { data: { a: 1 } },
    ],
    [
      'update',
      (c) => c.data.update('order', '1', { data: { a: null } }),
      'PATCH /v1/data/order/1',
      { data: { a: null } },
    ],
    ['delete', (c) => c.data.delete('order', '1'), 'DELETE /v1/data/order/1', undefined],
    [
      'query',
      (c) => c.data.query('order', { filters: { 'data.a': 1 } }),
      'POST /v1/data/order/query',
      { filters: { 'data.a': 1 } },
    ],
    [
      'bulk',
      (c) => c.data.bulk('order', { operations: [{ action: 'delete', id: '1' }], atomic: true }),
      'POST /v1/data/order/bulk',
      { operations: [{ action: 'delete', id: '1' }], atomic: true },
    ],
    [
      'search',
      (c) => c.data.search('order', { query: 'x' }),
      'POST /v1/data/order/search',
      { query: 'x' },
    ],
  ];
  test.each(calls)('%s', async (_name, call, line, body) => {
    await call(client());
    expect(seen.map(({ method, url }) => `${method} ${url}`)).toEqual([line]);
    expect(seen[0]!.body).toEqual(body);
    expect(seen[0]!.headers.authorization).toBe('Bearer sk_dev_x');
    expect(seen[0]!.headers['content-type']).toBe(
      body === undefined ? undefined : 'application/json',
    );
  });

  test('chat and create send an Idempotency-Key: the given one, or a new one for each call', async () => {
    await client().data.create('order', { data: {} });
    await client().chat({ agentSlug: 'a', message: 'm' });
    await client().data.create('order', { data: {} }, { idempotencyKey: 'mine' });
    await client().data.query('order');
    const keys = seen.map(({ headers }) => headers['idempotency-key']);
    expect(keys).toEqual([
      expect.stringMatching(/^\w{32}$/),
      expect.stringMatching(/^\w{32}$/),
      'mine',
      undefined,
    ]);
    expect(keys[0]).not.toBe(keys[1]);
  });

  test.each(['', '.', '..'])(
    '%j is refused as a path segment, because URL resolution would remove it',
    async (id) => {
      await expect(client().data.get('order', id)).rejects.toThrow(TypeError);
      expect(seen).toEqual([]);
    },
  );

  test('are sent with the given fetch', async () => {
    const urls: unknown[] = [];
    const own: typeof fetch = async (url) => {
      urls.push(url);
      return new Response('{"data":[]}');
    };
    expect(await client({ fetch: own }).entityTypes()).toEqual({ data: [] });
    expect(urls).toEqual([`${baseUrl}/v1/entity-types`]);
  });

  test('iterate reads all pages by their cursors', async () => {
    const page = (ids: string[], cursor: string, hasMore: boolean) =>
      answer(200, { data: ids.map((id) => ({ id })), cursor, hasMore });
    script = [page(['1', '2'], 'c1', true), page([], 'c2', true), page(['3'], 'c3', false)];
    const ids: string[] = [];
    for await (const { id } of client().data.iterate('order', {
      filters: { 'data.a': 1 },
      limit: 2,
    }))
      ids.push(id);
    expect(ids).toEqual(['1', '2', '3']);
    const filters = { 'data.a': 1 };
    expect(seen.map(({ body }) => body)).toEqual([
      { filters, limit: 2 },
      { filters, limit: 2, cursor: 'c1' },
      { filters, limit: 2, cursor: 'c2' },
    ]);
  });
});

describe('failures', () => {
  test('are ParleyApiErrors with the fields of the error body', async () => {
    const body = {
      error: 'limit: bad',
      code: 'invalid_query',
      requestId: 'r1',
      details: [{ path: 'limit', message: 'bad' }],
    };
    script = [answer(400, body)];
    const error = await failureOf(client().data.list('order', { limit: 0 }));
    expect(error).toBeInstanceOf(ParleyApiError);
    expect(error).toBeInstanceOf(Error);
    expect({ ...error, message: error.message, name: error.name }).toEqual({
      name: 'ParleyApiError',
      message: 'limit: bad',
      status: 400,
      code: 'invalid_query',
      requestId: 'r1',
      details: body.details,
      body,
    });
    expect(seen).toHaveLength(1);
  });

  test('have the message "HTTP <status>" if the server sent no text', async () => {
    script = [answer(502, '<html>', { 'X-Request-Id': 'r2' })];
    const error = await failureOf(client().entityTypes());
    expect([error.message, error.status, error.requestId, error.body, error.code]).toEqual([
      'HTTP 502',
      502,
      'r2',
      '<html>',
      undefined,
    ]);
  });

  test.each([
    ['JSON without fields', '[1, "a"]', [1, 'a']],
    ['a JSON text', '"no"', 'no'],
    ['a long text, which is cut', 'x'.repeat(70_000), 'x'.repeat(65_536)],
    ['nothing', '', undefined],
  ])('have what was answered as the body: %s', async (_name, text, body) => {
    script = [answer(500, text)];
    expect((await failureOf(client().entityTypes())).body).toEqual(body);
  });

  test('include a success whose body is not JSON', async () => {
    script = [answer(200, '<html>a proxy</html>')];
    expect(await failureOf(client().entityTypes())).toMatchObject({
      status: 200,
      message: 'HTTP 200',
      body: '<html>a proxy</html>',
    });
  });
});

describe('a request is retried', () => {
  test.each([429, 503])(
    'after %i, after the delay in Retry-After, with the same key',
    async (status) => {
      script = [answer(status, {}, { 'Retry-After': '1' }), answer(201, { id: '7' })];
      const startedAt = Date.now();
      expect(await client().data.create('order', { data: {} })).toEqual({ id: '7' });
      expect(Date.now() - startedAt).toBeGreaterThanOrEqual(950);
      expect(seen).toHaveLength(2);
      expect(seen[1]!.headers['idempotency-key']).toBe(seen[0]!.headers['idempotency-key']);
    },
  );

  test('when Retry-After is a date', async () => {
    script = [answer(503, {}, { 'Retry-After': new Date(Date.now() - 5_000).toUTCString() })];
    expect(await client().entityTypes()).toEqual({});
    expect(seen).toHaveLength(2);
  });

  test('when the connection is lost', async () => {
    script = [(response) => response.destroy()];
    expect(await client().data.create('order', { data: {} })).toEqual({});
    expect(seen[1]!.headers['idempotency-key']).toBe(seen[0]!.headers['idempotency-key']);
  });

  test('but not an update after a lost connection: it may have been applied, and has no key', async () => {
    script = [(response) => response.destroy()];
    expect(await failureOf(client().data.update('order', '7', { data: {} }))).toMatchObject({
      name: 'ParleyApiError',
      status: 0,
      code: 'unreachable',
    });
    expect(seen).toHaveLength(1);
  });

  const notFound = { error: 'Entity not found', code: 'entity_not_found' };

  test('and a delete whose response was lost succeeds if the entity no longer exists', async () => {
    for (const lost of [
      (response: ServerResponse) => void response.destroy(),
      answer(503, {}, { 'Retry-After': '0' }),
    ]) {
      script = [lost, answer(404, notFound)];
      expect(await client().data.delete('order', '7')).toEqual({ success: true });
    }
    expect(seen.map(({ method, url }) => `${method} ${url}`)).toEqual(
      Array(4).fill('DELETE /v1/data/order/7'),
    );
  });

  test.each([
    ['on the first attempt', [answer(404, notFound)]],
    ['after a 429', [answer(429, {}, { 'Retry-After': '0' }), answer(404, notFound)]],
    [
      'with another code',
      [
        (response: ServerResponse) => void response.destroy(),
        answer(404, { error: 'Not found', code: 'unknown_path' }),
      ],
    ],
  ])('but a delete that is answered with 404 %s fails', async (_name, answers) => {
    script = [...answers];
    expect(await failureOf(client().data.delete('order', '7'))).toMatchObject({ status: 404 });
    expect(seen).toHaveLength(answers.length);
  });

  test('and a get that finds nothing after a lost response fails with 404', async () => {
    script = [(response) => response.destroy(), answer(404, notFound)];
    expect(await failureOf(client().data.get('order', '7'))).toMatchObject({
      status: 404,
      code: 'entity_not_found',
    });
  });

  test('at most maxRetries times, then the last error is thrown', async () => {
    script = Array.from({ length: 3 }, () =>
      answer(503, { error: 'later' }, { 'Retry-After': '0' }),
    );
    expect(await failureOf(client({ maxRetries: 2 }).entityTypes())).toMatchObject({
      status: 503,
      message: 'later',
    });
    expect(seen).toHaveLength(3);
  });

  test.each([
    ['the default of 5 s', {}, '6'],
    ['maxWaitMs', { maxWaitMs: 999 }, '1'],
  ])('but not after a wait that is longer than %s', async (_name, options, seconds) => {
    script = [
      answer(429, { code: 'rate_limited', retryAt: 1795374478067 }, { 'Retry-After': seconds }),
    ];
    expect(await failureOf(client(options).entityTypes())).toMatchObject({
      status: 429,
      code: 'rate_limited',
      retryAt: 1795374478067,
    });
    expect(seen).toHaveLength(1);
  });

  test('but never after another refusal, however many retries and however long a wait are allowed', async () => {
    script = [answer(401, { code: 'unknown_key' })];
    const patient = client({ maxRetries: Infinity, maxWaitMs: Infinity });
    expect(await failureOf(patient.entityTypes())).toMatchObject({ status: 401 });
    expect(seen).toHaveLength(1);
  });

  test('and onRetry is called before each wait', async () => {
    const retries: [number, string | undefined, number][] = [];
    const onRetry = ({ attempt, error, waitMs }: Retry) =>
      retries.push([attempt, error.code, waitMs]);
    script = [
      answer(429, { code: 'rate_limited' }, { 'Retry-After': '1' }),
      answer(503, { code: 'unavailable' }, { 'Retry-After': '0' }),
      (response) => response.destroy(),
    ];
    await client({ onRetry }).entityTypes();
    expect(retries).toEqual([
      [1, 'rate_limited', 1_000],
      [2, 'unavailable', 0],
      [3, 'unreachable', expect.any(Number)],
    ]);
  });

  test.each([400, 401, 404, 409, 500, 502, 504])('but not after %i', async (status) => {
    script = [answer(status, {})];
    expect(await failureOf(client().entityTypes())).toMatchObject({ status });
    expect(seen).toHaveLength(1);
  });
});

test('a server that is away is a ParleyApiError with the address and the reason', async () => {
  const { port } = await new Promise<AddressInfo>((resolve) => {
    const closed = createServer().listen(0, '127.0.0.1', () => {
      const address = closed.address() as AddressInfo;
      closed.close(() => resolve(address));
    });
  });
  const error = await failureOf(
    client({ baseUrl: `http://127.0.0.1:${port}`, maxRetries: 0 }).entityTypes(),
  );
  expect(error).toBeInstanceOf(ParleyApiError);
  expect(error).toMatchObject({ status: 0, code: 'unreachable' });
  expect(error.message).toMatch(
    new RegExp(`^No response from http://127\\.0\\.0\\.1:${port}: .*ECONNREFUSED`),
  );
  expect(error.cause.message).toBe('fetch failed');
});

describe('an abort signal', () => {
  test('ends a running call', async () => {
    const controller = new AbortController();
    script = [() => controller.abort(new Error('enough'))];
    await expect(client().entityTypes({ signal: controller.signal })).rejects.toThrow('enough');
    expect(seen).toHaveLength(1);
  });

  test('ends the delay before a retry', async () => {
    const controller = new AbortController();
    script = [answer(503, {}, { 'Retry-After': '5' })];
    const call = failureOf(client().entityTypes({ signal: controller.signal }));
    await until(() => seen.length > 0, { everyMs: 5 });
    setTimeout(() => controller.abort(), 50);
    expect(await call).toMatchObject({ name: 'AbortError' });
  });

  test('that is already aborted prevents the request', async () => {
    const error = await failureOf(client().entityTypes({ signal: AbortSignal.abort() }));
    expect(error).toMatchObject({ name: 'AbortError' });
    expect(seen).toEqual([]);
  });

  test('is not needed for the time limit of a call', async () => {
    script = [() => {}];
    expect(await failureOf(client({ timeoutMs: 50 }).entityTypes())).toMatchObject({
      name: 'TimeoutError',
    });
  });
});

test('executions are started with a key, awaited and cancelled', async () => {
  const started = { executionId: '7', threadId: 't', status: 'queued', reply: null, usage: {} };
  const json = (body: object) => (response: ServerResponse) =>
    void response.writeHead(200).end(JSON.stringify(body));
  script = [
    json(started),
    json({
      id: '7',
      threadId: 't',
      status: 'failed',
      reply: null,
      usage: {},
      error: 'failed',
      steps: [],
    }),
    json({ ...started, status: 'cancelled' }),
  ];
  const { executions } = client();
  expect(await executions.create({ agentSlug: 'a', message: 'hi' }, { waitSeconds: 20 })).toEqual(
    started,
  );
  const { executionId: _, ...rest } = started;
  expect(await executions.get('7', { waitSeconds: 30 })).toEqual({
    ...rest,
    executionId: '7',
    status: 'failed',
    error: 'failed',
  });
  expect((await executions.cancel('7')).status).toBe('cancelled');
  expect(seen.map(({ method, url }) => `${method} ${url}`)).toEqual([
    'POST /v1/executions',
    'GET /v1/executions/7?wait=30',
    'POST /v1/executions/7/cancel',
  ]);
  expect(seen[0]).toMatchObject({ body: { agentSlug: 'a', message: 'hi' } });
  expect(seen[0]!.headers).toMatchObject({
    prefer: 'wait=20',
    'idempotency-key': expect.any(String),
  });
});

test('a stream is read over cuts from the last number, until its end', async () => {
  const events = (...numbers: number[]) =>
    numbers
      .map((n) => `id: ${n}\ndata: {"type":"text-delta","id":"t","delta":"${n} é"}\n\n`)
      .join('');
  const open = (response: ServerResponse) =>
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
  script = [
    // Cut in the middle of an event, and once with an end that is not announced.
    (response) =>
      void open(response).write(`retry: 2000\n\n${events(1, 2)}id: 3\nda`, () =>
        response.destroy(),
      ),
    (response) => void open(response).end(`:\n\n${events(3)}:\nid: 3\n\n`),
    (response) => void open(response).end(`${events(4)}data: [DONE]\n\n`),
  ];
  const seenNumbers: number[] = [];
  let text = '';
  for await (const { number, chunk } of client().executions.stream('7')) {
    seenNumbers.push(number);
    if (chunk.type === 'text-delta') text += chunk.delta;
  }
  expect(seenNumbers).toEqual([1, 2, 3, 4]);
  expect(text).toBe('1 é2 é3 é4 é');
  expect(seen.map(({ url }) => url)).toEqual([
    '/v1/executions/7/stream',
    '/v1/executions/7/stream?after=2',
    '/v1/executions/7/stream?after=3',
  ]);
});

test('a stream ends its request when the loop is left or its signal is aborted, and fails as other calls do', async () => {
  const ends: Promise<unknown>[] = [];
  const endless = (response: ServerResponse) => {
    response.writeHead(200).write('id: 1\ndata: {"type":"start","messageId":"7"}\n\n');
    ends.push(new Promise((resolve) => response.once('close', resolve)));
  };
  script = [endless, endless, answer(404, { error: 'Execution not found', code: 'not_found' })];
  const { executions } = client();
  for await (const { chunk } of executions.stream('7')) {
    expect(chunk).toEqual({ type: 'start', messageId: '7' });
    break;
  }
  const controller = new AbortController();
  const reading = (async () => {
    for await (const _ of executions.stream('7', { signal: controller.signal })) controller.abort();
  })();
  expect(await failureOf(reading)).toMatchObject({ name: 'AbortError' });
  await Promise.all(ends);
  expect(await failureOf(executions.stream('8').next())).toMatchObject({ status: 404 });
});
