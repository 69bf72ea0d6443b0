import { createTestDatabase } from '@parley/testing';
import { type TestApi, createTestApi } from './testing/create-test-api';

let api: TestApi;
let tenant: number;
let key: string;

const orderSchema = { total: 'number', customer: 'string', paid: 'boolean', note: 'string' };

beforeAll(async () => {
  api = createTestApi(await createTestDatabase());
  tenant = await api.organization();
  key = await api.key({ tenant, permissions: ['data'] });
  await api.push(
    { tenant },
    {
      entityTypes: [
        { slug: 'order', name: 'Order', schema: orderSchema, searchFields: ['customer', 'note'] },
        { slug: 'page', name: 'Page', schema: { n: 'number' } },
        { slug: 'empty', name: 'Empty', schema: {} },
        { slug: 'free', name: 'Free', schema: {} },
        {
          slug: 'strict',
          name: 'Strict',
          schema: {
            type: 'object',
            required: ['sku'],
            properties: {
              sku: { type: 'string' },
              size: { type: 'string', enum: ['s', 'm'] },
              at: { type: 'string' },
            },
          },
        },
      ],
    },
  );
});
afterAll(() => api.close());

type Method = Parameters<TestApi['call']>[0];
const call = (method: Method, path: string, body?: unknown, headers?: Record<string, string>) =>
  api.call(method, path, key, body, headers);
const create = async (type: string, data: object, status?: string) =>
  (await call('post', `/v1/data/${type}`, { data, status }).expect(201)).body as {
    id: string;
    createdAt: number;
  };
const refusal = (error: string | RegExp, code: string) => ({
  error: typeof error === 'string' ? error : expect.stringMatching(error),
  code,
  requestId: expect.any(String),
});
const idsOf = (response: { body: { data: { id: string }[] } }) =>
  response.body.data.map(({ id }) => id);

describe('entity types', () => {
  test('are listed with the flat map of field to type name', async () => {
    const { body } = await call('get', '/v1/entity-types').expect(200);
    expect(body.data).toHaveLength(5);
    expect(body.data).toContainEqual({
      slug: 'order',
      name: 'Order',
      schema: orderSchema,
      searchFields: ['customer', 'note'],
    });
    expect(body.data).toContainEqual({
      slug: 'strict',
      name: 'Strict',
      schema: { sku: 'string', size: 'string', at: 'string' },
      searchFields: [],
    });
  });
});

describe('create', () => {
  test('is answered with 201 and the entity', async () => {
    const before = Date.now();
    const { body, headers } = await call('post', '/v1/data/order', {
      data: { total: 5, customer: 'Ann' },
    }).expect(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^ent_[0-9a-z]{26}$/),
      type: 'order',
      status: 'active',
      data: { total: 5, customer: 'Ann' },
      createdAt: expect.any(Number),
      updatedAt: body.createdAt,
    });
    expect(body.createdAt).toBeGreaterThanOrEqual(before - 1_000);
    expect(headers['content-type']).toBe('application/json; charset=utf-8');
  });

  test('accepts any status, and fields that the type does not declare', async () => {
    const { body } = await call('post', '/v1/data/order', {
      data: { extra: [1, { a: null }] },
      status: 'brand new',
    });
    expect(body).toMatchObject({ status: 'brand new', data: { extra: [1, { a: null }] } });
  });

  test.each([
    [{}, /^data/],
    [{ data: null }, /^data/],
    [{ data: [] }, /^data/],
    [{ data: 'x' }, /^data/],
    [{ data: {}, status: 5 }, /^status/],
    [{ data: {}, status: '' }, /^status/],
    [[], /./],
    ['null', /./],
    ['', 'A JSON body is required'],
  ])('%j is refused with 400', async (body, error) => {
    const response = await call('post', '/v1/data/order', body).expect(400);
    expect(response.body).toEqual({
      ...refusal(error, 'invalid_body'),
      details: [{ path: expect.any(String), message: expect.any(String) }],
    });
  });

  test('declared fields are checked, and every problem is reported', async () => {
    const { body } = await call('post', '/v1/data/order', {
      data: { total: '5', paid: 'yes' },
    }).expect(400);
    expect(body.details.map(({ path }: { path: string }) => path).sort()).toEqual([
      'data.paid',
      'data.total',
    ]);
    expect(body.error).toMatch(/data\.(paid|total)/);
  });

  test('the JSON Schema subset is checked: required, enum, type', async () => {
    await call('post', '/v1/data/strict', { data: { sku: 'a', size: 'm' } }).expect(201);
    for (const data of [{}, { sku: 1 }, { sku: 'a', size: 'xl' }]) {
      const { body } = await call('post', '/v1/data/strict', { data }).expect(400);
      expect(body.details[0].path).toMatch(/^data/);
    }
  });
});

describe('404 and 405', () => {
  const notType = (slug: string) =>
    refusal(`Entity type ${slug} not found`, 'entity_type_not_found');
  test.each<[Method, string, unknown]>([
    ['get', '/v1/data/nothing', undefined],
    ['get', '/v1/data/nothing/ent_1', undefined],
    ['post', '/v1/data/nothing', { data: {} }],
    ['post', '/v1/data/nothing/query', {}],
    ['post', '/v1/data/nothing/search', { query: 'x' }],
    ['patch', '/v1/data/nothing/ent_1', { data: {} }],
    ['delete', '/v1/data/nothing/ent_1', undefined],
  ])('an unknown type: %s %s', async (method, path, body) => {
    expect((await call(method, path, body).expect(404)).body).toEqual(notType('nothing'));
  });

  test('an unknown id, or the id of an entity of another type', async () => {
    const { id } = await create('free', {});
    for (const path of [
      '/v1/data/order/ent_nothing',
      `/v1/data/order/${id}`,
      '/v1/data/order/%F0%9F%98%80',
      '/v1/data/order/a%2Fb',
    ]) {
      const expected = refusal('Entity not found', 'entity_not_found');
      expect((await call('get', path).expect(404)).body).toEqual(expected);
      expect((await call('patch', path, { data: {} }).expect(404)).body).toEqual(expected);
      expect((await call('delete', path).expect(404)).body).toEqual(expected);
    }
    await call('get', `/v1/data/free/${id}`).expect(200);
  });

  test('names with a special meaning elsewhere are unknown types, and invalid encodings are refused', async () => {
    for (const type of [
      '__proto__',
      'constructor',
      'toString',
      "x'--",
      'order ',
      'Order',
      '💥',
      '..',
    ]) {
      const { status, body } = await call('get', `/v1/data/${encodeURIComponent(type)}/query`);
      // The HTTP client removes ".." before it sends the request.
      if (type === '..') continue;
      expect(status).toBe(404);
      expect(body).toEqual(notType(type));
    }
    await call('get', '/v1/data/%00').expect(400);
    await call('get', '/v1/data/order/%00').expect(400);
    await call('get', '/v1/data/%E0%A4%A').expect(400);
  });

  test('an unsupported method is a 405 with Allow', async () => {
    const allowed: [Method, string, string][] = [
      ['put', '/v1/data/order', 'GET, HEAD, POST'],
      ['delete', '/v1/data/order', 'GET, HEAD, POST'],
      ['post', '/v1/data/order/ent_1', 'GET, HEAD, PATCH, DELETE'],
      ['put', '/v1/data/order/search', 'GET, HEAD, PATCH, DELETE, POST'],
      ['post', '/v1/entity-types', 'GET, HEAD'],
      ['get', '/v1/sync', 'POST'],
    ];
    for (const [method, path, allow] of allowed) {
      const response = await call(method, path).expect(405);
      expect(response.headers.allow).toBe(allow);
    }
    // A path with an escape is not matched by the fast path but by the whole routing table.
    await call('post', '/v1/data/%6frder/query', {}).expect(200);
    await call('get', '/v1/data').expect(404);
    await call('get', '/v1/data/order/a/b').expect(404);
  });
});

describe('get, update, delete, restore', () => {
  test('PATCH merges at the top level and returns the full entity', async () => {
    const created = await create('free', { a: 1, b: { x: 1, y: 2 }, c: 3 });
    const { body } = await call('patch', `/v1/data/free/${created.id}`, {
      data: { b: { x: 9 }, c: null, d: 4 },
    }).expect(200);
    expect(body).toEqual({
      ...created,
      data: { a: 1, b: { x: 9 }, c: null, d: 4 },
      updatedAt: expect.any(Number),
    });
    expect(body.updatedAt).toBeGreaterThanOrEqual(created.createdAt);
    expect((await call('get', `/v1/data/free/${created.id}`).expect(200)).body).toEqual(body);
  });

  test('PATCH requires data, sets the status, and checks the declared fields', async () => {
    const { id } = await create('order', { total: 1 });
    await call('patch', `/v1/data/order/${id}`, { status: 'archived' }).expect(400);
    const { body } = await call('patch', `/v1/data/order/${id}`, {
      data: {},
      status: 'archived',
    }).expect(200);
    expect(body).toMatchObject({ status: 'archived', data: { total: 1 } });
    await call('patch', `/v1/data/order/${id}`, { data: { total: 'x' } }).expect(400);
    await call('patch', `/v1/data/order/${id}`, '{').expect(400);
  });

  test('concurrent patches of different keys all survive', async () => {
    const { id } = await create('free', {});
    for (let round = 0; round < 5; round += 1) {
      await Promise.all(
        Array.from({ length: 8 }, (_, at) =>
          call('patch', `/v1/data/free/${id}`, { data: { [`k${at}`]: round } }).expect(200),
        ),
      );
      const { body } = await call('get', `/v1/data/free/${id}`);
      expect(body.data).toEqual(
        Object.fromEntries(Array.from({ length: 8 }, (_, at) => [`k${at}`, round])),
      );
    }
  });

  test('DELETE hides the entity and can be repeated, and a PATCH with a status restores it', async () => {
    const { id } = await create('order', { customer: 'Restored Person' });
    const path = `/v1/data/order/${id}`;
    for (let time = 0; time < 2; time += 1) {
      expect((await call('delete', path).expect(200)).body).toEqual({ success: true });
    }
    expect((await call('get', path).expect(404)).body).toEqual(
      refusal('Entity has been deleted', 'entity_deleted'),
    );
    expect(idsOf(await call('get', '/v1/data/order'))).not.toContain(id);
    expect(idsOf(await call('post', '/v1/data/order/query', { filters: { id } }))).toEqual([]);
    expect(idsOf(await call('post', '/v1/data/order/search', { query: 'restored' }))).toEqual([]);
    expect(idsOf(await call('get', '/v1/data/order?status=deleted'))).toContain(id);
    expect(
      idsOf(await call('post', '/v1/data/order/query', { filters: { id }, status: 'deleted' })),
    ).toEqual([id]);
    expect(
      idsOf(await call('post', '/v1/data/order/search', { query: 'restored', status: 'deleted' })),
    ).toEqual([id]);

    const { body } = await call('patch', path, { data: {}, status: 'active' }).expect(200);
    expect(body).toMatchObject({ id, status: 'active', data: { customer: 'Restored Person' } });
    await call('get', path).expect(200);
    expect(idsOf(await call('post', '/v1/data/order/search', { query: 'restored' }))).toEqual([id]);
  });

  test('a PATCH without a status does not restore a deleted entity', async () => {
    const { id } = await create('order', {});
    await call('delete', `/v1/data/order/${id}`);
    const { body } = await call('patch', `/v1/data/order/${id}`, { data: { total: 2 } }).expect(
      404,
    );
    expect(body).toEqual(refusal('Entity has been deleted', 'entity_deleted'));
  });

  test('an entity that is created with the status "deleted" is deleted', async () => {
    const { id } = await create('order', {}, 'deleted');
    await call('get', `/v1/data/order/${id}`).expect(404);
  });
});

test('a PATCH after which data would exceed 1 MiB is refused with 413 and changes nothing', async () => {
  const { id } = await create('free', { a: 'x'.repeat(600_000) });
  const { body } = await call('patch', `/v1/data/free/${id}`, {
    data: { b: 'x'.repeat(600_000) },
  }).expect(413);
  expect(body).toEqual(
    refusal(
      'data would have 1200018 bytes of JSON, and at most 1048576 are allowed',
      'data_too_large',
    ),
  );
  expect(Object.keys((await call('get', `/v1/data/free/${id}`).expect(200)).body.data)).toEqual([
    'a',
  ]);
  // A number that PostgreSQL returns without an exponent.
  await call('post', '/v1/data/free', { data: { n: Array(4_000).fill(1e300) } }).expect(413);
});

describe('pages', () => {
  const all: string[] = [];
  beforeAll(async () => {
    for (let n = 0; n < 7; n += 1)
      all.unshift((await create('page', { n }, n % 2 ? 'odd' : undefined)).id);
  });

  test('are newest first; the last page has a cursor, and an empty page returns the given one', async () => {
    const first = await call('get', '/v1/data/page?limit=4').expect(200);
    expect(Object.keys(first.body)).toEqual(['data', 'cursor', 'hasMore']);
    expect(idsOf(first)).toEqual(all.slice(0, 4));
    expect(first.body.hasMore).toBe(true);
    const next = (cursor: string) =>
      call('get', `/v1/data/page?limit=4&cursor=${encodeURIComponent(cursor)}`).expect(200);
    const second = await next(first.body.cursor);
    expect(idsOf(second)).toEqual(all.slice(4));
    expect(second.body.hasMore).toBe(false);
    expect(second.body.cursor).not.toBe('');
    const third = await next(second.body.cursor);
    expect(third.body).toEqual({ data: [], cursor: second.body.cursor, hasMore: false });
    expect((await call('get', '/v1/data/empty').expect(200)).body).toEqual({
      data: [],
      cursor: '',
      hasMore: false,
    });
    expect(idsOf(await call('get', '/v1/data/page?cursor='))).toEqual(all);
  });

  test('a limit equal to the number of entities gives a page without more', async () => {
    expect((await call('get', '/v1/data/page?limit=7')).body.hasMore).toBe(false);
    expect((await call('get', '/v1/data/page?limit=6')).body.hasMore).toBe(true);
  });

  test('can be filtered by status', async () => {
    expect(idsOf(await call('get', '/v1/data/page?status=odd'))).toEqual(
      all.filter((_id, at) => at % 2 === 1),
    );
    expect(idsOf(await call('get', '/v1/data/page?status=none'))).toEqual([]);
    await call('get', '/v1/data/page?status=').expect(400);
  });

  test.each(['0', '-1', '1.5', 'x', '', '1e1', ' 1', '0x10', 'NaN'])(
    'limit=%s is refused with 400',
    async (limit) => {
      const { body } = await call('get', `/v1/data/page?limit=${encodeURIComponent(limit)}`).expect(
        400,
      );
      expect(body.error).toMatch(/limit/);
      expect(body.details[0].path).toBe('limit');
    },
  );
  test('a limit above 100 counts as 100, repeated parameters are refused, unknown ones are ignored', async () => {
    await call('get', '/v1/data/page?limit=101').expect(200);
    await call('get', '/v1/data/page?limit=99999999999999999999').expect(200);
    await call('get', '/v1/data/page?limit=1&limit=2').expect(400);
    await call('get', '/v1/data/page?cursor=a&cursor=b').expect(400);
    await call('get', '/v1/data/page?offset=5&__proto__=1').expect(200);
  });

  test.each(['x', 'AAAA', '.', '%00', 'null', 'eyJhIjoxfQ=='])(
    'cursor %s is refused with 400',
    async (cursor) => {
      const { body } = await call('get', `/v1/data/page?cursor=${cursor}`).expect(400);
      expect(body.error).toMatch(/cursor/);
      expect(body).toMatchObject({ code: 'invalid_query', details: [{ path: 'cursor' }] });
    },
  );

  test('a cursor of another query is refused with 400', async () => {
    const { body } = await call('get', '/v1/data/page?limit=2');
    const cursor = encodeURIComponent(body.cursor);
    await call('get', `/v1/data/page?limit=2&cursor=${cursor}`).expect(200);
    await call('get', `/v1/data/order?limit=2&cursor=${cursor}`).expect(400);
    await call('get', `/v1/data/page?limit=2&status=odd&cursor=${cursor}`).expect(400);
    await call('post', '/v1/data/page/query', {
      cursor: body.cursor,
      filters: { 'data.n': 1 },
    }).expect(400);
    const { body: filtered } = await call('post', '/v1/data/page/query', {
      filters: { 'data.n': { $gte: 0, $lt: 6 }, 'data.note': { $exists: false } },
      limit: 2,
    }).expect(200);
    const reordered = { 'data.note': { $exists: false }, 'data.n': { $lt: 6, $gte: 0 } };
    const next = { filters: reordered, limit: 2, cursor: filtered.cursor };
    expect(idsOf(await call('post', '/v1/data/page/query', next).expect(200))).toHaveLength(2);
    const changed = body.cursor.slice(0, -2) + (body.cursor.endsWith('A') ? 'BB' : 'AA');
    await call('get', `/v1/data/page?cursor=${encodeURIComponent(changed)}`).expect(400);
  });
});

test.each<[Method, string, object, string]>([
  ['post', 'page/query', { filter: { 'data.n': 1 } }, 'filter'],
  ['post', 'page/query', { sort: { field: 'data.n', order: 'asc' } }, 'sort.order'],
  ['post', 'page/search', { query: 'x', filters: {} }, 'filters'],
  ['post', 'page', { data: {}, stauts: 'odd' }, 'stauts'],
  ['patch', 'page/any', { data: {}, version: 1 }, 'version'],
])(
  '%s %s with an unknown field is refused with 400 and names it',
  async (method, path, body, field) => {
    const { body: answer } = await call(method, `/v1/data/${path}`, body).expect(400);
    const message = 'is not a known field';
    expect(answer).toMatchObject({
      error: `${field}: ${message}`,
      code: 'invalid_body',
      details: [{ path: field, message }],
    });
  },
);

describe('query', () => {
  const query = (body: unknown) => call('post', '/v1/data/page/query', body);
  const numbers = async (body: unknown) =>
    (await query(body).expect(200)).body.data.map(({ data }: { data: { n: number } }) => data.n);

  test('without a body, or with an empty one, returns the same page as a list', async () => {
    const listed = (await call('get', '/v1/data/page')).body.data;
    expect((await query(undefined).expect(200)).body.data).toEqual(listed);
    expect((await query({}).expect(200)).body.data).toEqual(listed);
    expect((await query('').expect(200)).body.data).toEqual(listed);
  });

  test.each<[unknown, number[]]>([
    [3, [3]],
    [{ $eq: 3 }, [3]],
    [{ $ne: 3 }, [6, 5, 4, 2, 1, 0]],
    [{ $neq: 3 }, [6, 5, 4, 2, 1, 0]],
    [{ $in: [1, 5, 9] }, [5, 1]],
    [{ $nin: [1, 5, 9] }, [6, 4, 3, 2, 0]],
    [{ $gt: 4 }, [6, 5]],
    [{ $gte: 4, $lt: 6 }, [5, 4]],
    [{ $lte: 1 }, [1, 0]],
    [{ $exists: false }, []],
    ['3', []],
    [null, []],
  ])('the filter %j on data.n', async (filter, expected) => {
    expect(await numbers({ filters: { 'data.n': filter } })).toEqual(expected);
  });

  test('supports status, sort, limit and cursor', async () => {
    expect(await numbers({ status: 'odd' })).toEqual([5, 3, 1]);
    const page = await query({ sort: { field: 'data.n', direction: 'asc' }, limit: 3 }).expect(200);
    expect(page.body.data.map(({ data }: { data: { n: number } }) => data.n)).toEqual([0, 1, 2]);
    expect(
      await numbers({
        sort: { field: 'data.n', direction: 'asc' },
        limit: 9,
        cursor: page.body.cursor,
      }),
    ).toEqual([3, 4, 5, 6]);
  });

  test.each<[string, unknown, RegExp]>([
    [
      'an unsupported field',
      { filters: { customer: 'x' } },
      /customer.*id, createdAt, updatedAt.*data\.</,
    ],
    [
      'status inside filters',
      { filters: { status: 'active' } },
      /^filters\.status: .*lifecycle column.*data\.status/,
    ],
    [
      'an id that is a number',
      { filters: { id: 5 } },
      /^filters\.id: must be compared with a string$/,
    ],
    [
      'an unknown operator',
      { filters: { 'data.n': { $near: 1 } } },
      /^filters\.data\.n: unknown operator \$near/,
    ],
    ['a wrong operand', { filters: { 'data.n': { $in: 1 } } }, /\$in/],
    ['mixed keys', { filters: { 'data.n': { $gt: 1, x: 2 } } }, /\$gt/],
    ['filters that are a list', { filters: [] }, /filters/],
    ['filters that are text', { filters: 'x' }, /filters/],
    ['a limit of 0', { limit: 0 }, /limit/],
    ['a limit of 1.5', { limit: 1.5 }, /limit/],
    ['a limit that is text', { limit: '5' }, /limit/],
    ['a broken cursor', { cursor: 'x' }, /cursor/],
    ['a cursor that is a number', { cursor: 5 }, /cursor/],
    ['a sort without a field', { sort: {} }, /sort/],
    ['a sort by an unknown field', { sort: { field: 'customer' } }, /customer/],
    [
      'a sort with an unknown direction',
      { sort: { field: 'createdAt', direction: 'up' } },
      /direction/,
    ],
    ['a status that is a list', { status: ['odd'] }, /status/],
  ])('%s is refused with 400', async (_name, body, error) => {
    const response = await query(body).expect(400);
    expect(response.body.error).toMatch(error);
    expect(response.body.details.length).toBeGreaterThan(0);
  });
});

describe('search', () => {
  const search = (body: unknown) => call('post', '/v1/data/order/search', body);
  let best: string;
  let other: string;
  beforeAll(async () => {
    other = (
      await create('order', {
        customer: 'María Núñez',
        note: 'two bicycles for a long river journey',
      })
    ).id;
    best = (await create('order', { customer: 'Nunez Bicycles', note: 'bicycle bicycles' })).id;
  });

  test('matches all words, the last one as a prefix, ignores accents and case, and has no cursor', async () => {
    const response = await search({ query: 'NUNEZ bicy' }).expect(200);
    expect(Object.keys(response.body)).toEqual(['data']);
    expect(idsOf(response)).toEqual(expect.arrayContaining([best, other]));
    expect(idsOf(await search({ query: 'maría nuñez' }))).toEqual([other]);
    expect(idsOf(await search({ query: 'maria absent' }))).toEqual([]);
    expect(idsOf(await search({ query: 'nunez', limit: 1 }))).toHaveLength(1);
  });

  test.each([[{}], [{ query: '' }], [{ query: '   ' }], [{ query: 5 }]])(
    'with %j is refused with 400',
    async (body) => {
      expect((await search(body).expect(400)).body).toMatchObject(
        refusal('query is required', 'invalid_body'),
      );
    },
  );
  test.each(["'", '&', '|', '!', ':*', '<->', '(((', '\\', '%', '"x', '🦜', '-', 'a:b & !c'])(
    'treats %s as text',
    async (query) => {
      await search({ query }).expect(200);
    },
  );
  test('refuses a limit below 1', async () => {
    await search({ query: 'x', limit: 1000 }).expect(200);
    await search({ query: 'x', limit: 0 }).expect(400);
    await search({ query: 'x'.repeat(100_000) }).expect((response) =>
      expect([200, 400]).toContain(response.status),
    );
  });
});

describe('count', () => {
  beforeAll(async () => {
    await api.push({ tenant }, { entityTypes: [{ slug: 'counted', name: 'Counted', schema: {} }] });
    for (let n = 0; n < 5; n += 1) await create('counted', { n });
  });

  test.each(['exact', 'estimated'])(
    '%s adds the number of all matching entities',
    async (count) => {
      const query = { limit: 2, count, filters: { 'data.n': { $gt: 0 } } };
      expect((await call('post', '/v1/data/counted/query', query).expect(200)).body).toMatchObject({
        total: 4,
      });
      expect(
        (await call('get', `/v1/data/counted?limit=2&count=${count}`).expect(200)).body,
      ).toMatchObject({ total: 5 });
      expect((await call('get', '/v1/data/counted')).body).not.toHaveProperty('total');
    },
  );

  test.each(['', 'true', 'EXACT', 'planned'])('%j is refused with 400', async (count) => {
    expect((await call('get', `/v1/data/counted?count=${count}`).expect(400)).body.code).toBe(
      'invalid_query',
    );
    expect((await call('post', '/v1/data/counted/query', { count }).expect(400)).body.code).toBe(
      'invalid_body',
    );
  });
});

describe('Idempotency-Key', () => {
  test('repeated requests create one entity and get the same response', async () => {
    const headers = { 'Idempotency-Key': 'order-1' };
    const answers = await Promise.all(
      Array.from({ length: 6 }, () =>
        call('post', '/v1/data/free', { data: { once: true } }, headers).expect(201),
      ),
    );
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    expect(
      idsOf(await call('post', '/v1/data/free/query', { filters: { 'data.once': true } })),
    ).toHaveLength(1);
    await call('post', '/v1/data/free', { data: { once: false } }, headers).expect(409);
    // The bodies are equal but for the order of their keys.
    const again = { 'Idempotency-Key': 'order-1b' };
    const first = await call(
      'post',
      '/v1/data/free',
      { data: { a: 1, b: { x: 1, y: 2 } } },
      again,
    ).expect(201);
    const second = await call(
      'post',
      '/v1/data/free',
      { data: { b: { y: 2, x: 1 }, a: 1 } },
      again,
    ).expect(201);
    expect(second.body.id).toBe(first.body.id);
  });

  test('the entity and its stored response are committed together or not at all', async () => {
    const headers = { 'Idempotency-Key': 'order-2' };
    await api.db.pool.query(`
      create function refuse_answer() returns trigger language plpgsql as 'begin raise exception ''crash''; end';
      create trigger refuse_answer before update on idempotency_records for each row
        when (new.status is not null) execute function refuse_answer()`);
    const count = async () =>
      idsOf(await call('post', '/v1/data/free/query', { filters: { 'data.crashed': 1 } })).length;
    await call('post', '/v1/data/free', { data: { crashed: 1 } }, headers).expect(500);
    expect(await count()).toBe(0);
    await api.db.pool.query('drop trigger refuse_answer on idempotency_records');
    const first = await call('post', '/v1/data/free', { data: { crashed: 1 } }, headers).expect(
      201,
    );
    const second = await call('post', '/v1/data/free', { data: { crashed: 1 } }, headers).expect(
      201,
    );
    expect(second.body).toEqual(first.body);
    expect(await count()).toBe(1);
  });

  test('a stalled request whose retry has claimed the key creates no second entity', async () => {
    const headers = { 'Idempotency-Key': 'order-3' };
    await api.db.pool.query(`
      create function take_over() returns trigger language plpgsql as
        'begin update idempotency_records set created_at = created_at + interval ''1 s'' where key = ''order-3''; return new; end';
      create trigger take_over before insert on entities for each row execute function take_over()`);
    const { body } = await call(
      'post',
      '/v1/data/free',
      { data: { overtaken: 1 } },
      headers,
    ).expect(409);
    expect(body.code).toBe('idempotency_in_progress');
    await api.db.pool.query('drop trigger take_over on entities');
    expect(
      idsOf(await call('post', '/v1/data/free/query', { filters: { 'data.overtaken': 1 } })),
    ).toEqual([]);
  });
});

test('each change writes its event, with the actor and the request id', async () => {
  const headers = { 'X-Request-Id': 'event-test' };
  const { body } = await call('post', '/v1/data/free', { data: { a: 1 } }, headers);
  await call('patch', `/v1/data/free/${body.id}`, { data: { a: 2 } }, headers);
  await call('delete', `/v1/data/free/${body.id}`, undefined, headers);
  const { rows } = await api.db.pool.query(
    'select type, entity_type, actor, request_id from events where entity_id = $1 order by id',
    [body.id],
  );
  const common = { entity_type: 'free', actor: { type: 'system' }, request_id: 'event-test' };
  expect(rows).toEqual(
    ['entity.created', 'entity.updated', 'entity.deleted'].map((type) =>
      expect.objectContaining({ type, ...common }),
    ),
  );
});
