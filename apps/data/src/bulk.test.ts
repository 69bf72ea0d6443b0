import type { JsonObject, OperationResult } from '@parley/contracts';
import { createTestDatabase } from '@parley/testing';
import { type TestApi, createTestApi } from './testing/create-test-api';

let api: TestApi;
let tenant: number;
let key: string;

beforeAll(async () => {
  api = createTestApi(await createTestDatabase());
  tenant = await api.organization();
  key = await api.key({ tenant, permissions: ['data'] });
  await api.push(
    { tenant },
    {
      entityTypes: [
        { slug: 'item', name: 'Item', schema: { n: 'number', owner: 'string', cost: 'number' } },
        { slug: 'other', name: 'Other', schema: {} },
      ],
      roles: [
        {
          slug: 'clerk',
          name: 'Clerk',
          policies: [
            { resource: 'item', actions: ['create', 'read', 'update', 'list'], effect: 'allow' },
            { resource: 'item', actions: ['delete'], effect: 'deny' },
          ],
          scopeRules: [{ entityType: 'item', field: 'owner', operator: 'eq', value: 'me' }],
          fieldMasks: [{ entityType: 'item', fieldPath: 'data.cost', maskType: 'hide' }],
        },
      ],
    },
  );
});
afterAll(() => api.close());

const bulk = (body: unknown, headers?: Record<string, string>, withKey = key) =>
  api.call('post', '/v1/data/item/bulk', withKey, body, headers);
const create = (data: JsonObject, status?: string) => ({
  action: 'create',
  data,
  ...(status && { status }),
});
const resultsOf = async (call: ReturnType<typeof bulk>) => {
  const { body, status } = await call;
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
  return (body as { results: OperationResult[] }).results;
};
const newItem = async (data: JsonObject) => {
  const { body } = await api.call('post', '/v1/data/item', key, { data }).expect(201);
  return (body as { id: string }).id;
};
const stored = async (id: string) => (await api.call('get', `/v1/data/item/${id}`, key)).body;
const count = async (filters: JsonObject) =>
  (await api.call('post', '/v1/data/item/query', key, { filters, limit: 100 })).body.data
    .length as number;
const failed = (code: string, error: unknown = expect.any(String)) =>
  expect.objectContaining({ ok: false, code, error });

test('creates, updates and deletes in the given order, with a result for each operation', async () => {
  const [kept, removed] = [await newItem({ n: 1, tag: 'old' }), await newItem({ n: 2 })];
  const results = await resultsOf(
    bulk({
      operations: [
        create({ n: 3, tag: 'bulk' }),
        create({ n: 4, tag: 'bulk' }, 'draft'),
        { action: 'update', id: kept, data: { n: 10 } },
        { action: 'update', id: kept, data: { m: 11 }, status: 'sold' },
        { action: 'delete', id: removed },
        { action: 'delete', id: removed },
        { action: 'update', id: removed, data: {}, status: 'active' },
        { action: 'delete', id: removed },
      ],
    }),
  );
  expect(results).toEqual([
    { ok: true, id: expect.stringMatching(/^ent_/) },
    { ok: true, id: expect.stringMatching(/^ent_/) },
    ...[kept, kept, removed, removed, removed, removed].map((id) => ({ ok: true, id })),
  ]);
  expect(await stored((results[1] as { id: string }).id)).toMatchObject({
    status: 'draft',
    data: { n: 4, tag: 'bulk' },
  });
  expect(await stored(kept)).toMatchObject({ status: 'sold', data: { n: 10, m: 11, tag: 'old' } });
  expect(await stored(removed)).toMatchObject({ code: 'entity_deleted' });
});

test('each operation writes its event', async () => {
  const results = await resultsOf(
    bulk({ operations: [create({ n: 1 }), create({ n: 2 })] }, { 'X-Request-Id': 'bulk-1' }),
  );
  const { rows } = await api.db.pool.query(
    `select type, entity_id from events where request_id = 'bulk-1' order by id`,
  );
  expect(rows).toEqual(
    results.map((result) => ({ type: 'entity.created', entity_id: (result as { id: string }).id })),
  );
});

describe('an operation that fails', () => {
  const operations = (id: string) => [
    create({ n: 1, round: id }),
    create({ n: 'many' }),
    { action: 'update', id: 'ent_unknown', data: { n: 1 } },
    { action: 'update', id, data: { n: 7 } },
    { action: 'delete', id: 'é/..' },
    create({ text: 'x'.repeat(1_100_000) }),
    create({ n: 2, round: id }),
  ];

  test('has its error as its result, and the others are made', async () => {
    const id = await newItem({ n: 0 });
    expect(await resultsOf(bulk({ operations: operations(id) }))).toEqual([
      { ok: true, id: expect.any(String) },
      {
        ok: false,
        code: 'invalid_body',
        error: 'data.n: must be of type number',
        details: [{ path: 'data.n', message: 'must be of type number' }],
      },
      failed('entity_not_found', 'Entity not found'),
      { ok: true, id },
      failed('entity_not_found'),
      failed('data_too_large'),
      { ok: true, id: expect.any(String) },
    ]);
    expect(await stored(id)).toMatchObject({ data: { n: 7 } });
    expect(await count({ 'data.round': id })).toBe(2);
  });

  test.each([
    [1, 400, 'invalid_body', 'operations.1.data.n: must be of type number'],
    [2, 404, 'entity_not_found', 'operations.1: Entity not found'],
    [5, 413, 'data_too_large', /^operations\.1: data would have/],
  ])(
    'is the error of an atomic request, which changes nothing (operation %i)',
    async (at, status, code, error) => {
      const id = await newItem({ n: 0 });
      const list = operations(id);
      const { body } = await bulk({
        atomic: true,
        operations: [list[0], list[at], list[3]],
      }).expect(status);
      expect(body).toMatchObject({
        code,
        error: typeof error === 'string' ? error : expect.stringMatching(error),
      });
      expect(body.details[0].path).toMatch(/^operations\.1/);
      expect(await stored(id)).toMatchObject({ data: { n: 0 } });
      expect(await count({ 'data.round': id })).toBe(0);
    },
  );
});

describe('a dry run', () => {
  const operations = (id: string) => [
    create({ n: 1, dry: id }),
    create({ n: 'many' }),
    { action: 'update', id, data: { n: 7 } },
    { action: 'delete', id },
    { action: 'update', id, data: { n: 8 } },
    { action: 'delete', id: 'ent_unknown' },
  ];
  const ids = (results: OperationResult[]) =>
    results.map((result) => (result.ok ? { ok: true } : result));

  test('has the results of the real run, and stores no entity and no event', async () => {
    const id = await newItem({ n: 0 });
    const headers = { 'X-Request-Id': `dry-${id}`, 'Idempotency-Key': `dry-${id}` };
    const dry = await resultsOf(bulk({ dryRun: true, operations: operations(id) }, headers));
    expect(await resultsOf(bulk({ dryRun: true, operations: operations(id) }, headers))).toEqual(
      dry,
    );
    expect(await stored(id)).toMatchObject({ status: 'active', data: { n: 0 } });
    expect(await count({ 'data.dry': id })).toBe(0);
    const { rowCount } = await api.db.pool.query('select from events where request_id = $1', [
      `dry-${id}`,
    ]);
    expect(rowCount).toBe(0);
    await bulk({ operations: operations(id) }, headers).expect(409);
    expect(ids(dry)).toEqual(ids(await resultsOf(bulk({ operations: operations(id) }))));
    expect(await count({ 'data.dry': id })).toBe(1);
  });

  test('that is atomic has the error of the first operation that fails', async () => {
    const id = await newItem({ n: 0 });
    const { body } = await bulk({ dryRun: true, atomic: true, operations: operations(id) }).expect(
      400,
    );
    expect(body).toMatchObject({
      code: 'invalid_body',
      error: 'operations.1.data.n: must be of type number',
    });
  });

  test('with a new field does not hide the field in a later run', async () => {
    const fresh = { operations: [create({ fresh: 1 })] };
    for (const dryRun of [true, false, true]) await resultsOf(bulk({ ...fresh, dryRun }));
    expect(await count({ 'data.fresh': 1 })).toBe(1);
  });
});

test.each<[string, unknown, string]>([
  ['no operations', { operations: [] }, 'operations'],
  ['too many operations', { operations: Array(501).fill(create({})) }, 'operations'],
  ['no list', { operations: create({}) }, 'operations'],
  ['nothing', undefined, ''],
  [
    'an unknown action',
    { operations: [create({}), { action: 'upsert', data: {} }] },
    'operations.1.action',
  ],
  ['an update without an id', { operations: [{ action: 'update', data: {} }] }, 'operations.0.id'],
  ['a create without data', { operations: [{ action: 'create' }] }, 'operations.0.data'],
  ['a create with an id', { operations: [{ ...create({}), id: 'ent_1' }] }, 'operations.0.id'],
  [
    'a delete with data',
    { operations: [{ action: 'delete', id: 'ent_1', data: {} }] },
    'operations.0.data',
  ],
  ['data that is no object', { operations: [create([] as never)] }, 'operations.0.data'],
  ['an unknown field', { operations: [create({})], all: true }, 'all'],
  ['dryRun as a text', { operations: [create({})], dryRun: 'yes' }, 'dryRun'],
  ['atomic as a text', { operations: [create({})], atomic: 'yes' }, 'atomic'],
])('%s is refused with 400', async (_name, body, path) => {
  const response = await bulk(body).expect(400);
  expect(response.body.code).toBe('invalid_body');
  if (path)
    expect(response.body.details.map((detail: { path: string }) => detail.path)).toContain(path);
});

test('500 operations and 8 MiB are accepted, more bytes are refused with 413', async () => {
  const text = 'x'.repeat(16_000);
  const list = Array.from({ length: 500 }, (_, n) => create({ n, batch: 'large', text }));
  expect((await resultsOf(bulk({ operations: list }))).filter(({ ok }) => ok)).toHaveLength(500);
  await bulk({ operations: [create({ text: 'x'.repeat(8 * 1_048_576) })] }).expect(413);
});

test('an unknown type is a 404 of the request', async () => {
  const { body } = await api
    .call('post', '/v1/data/nothing/bulk', key, { operations: [create({})] })
    .expect(404);
  expect(body.code).toBe('entity_type_not_found');
});

test('a retry with the same Idempotency-Key changes nothing twice', async () => {
  const headers = { 'Idempotency-Key': 'bulk-once' };
  const body = { operations: [create({ once: 1 }), create({ n: 'x' }), create({ once: 1 })] };
  const answers = await Promise.all(
    Array.from({ length: 3 }, () => resultsOf(bulk(body, headers))),
  );
  expect(answers[1]).toEqual(answers[0]);
  expect(answers[2]).toEqual(answers[0]);
  expect(await count({ 'data.once': 1 })).toBe(2);
  await bulk({ operations: [create({ once: 2 })] }, headers).expect(409);
});

test('the changes and the stored response are committed together or not at all', async () => {
  await api.db.pool.query(`
    create function refuse_answer() returns trigger language plpgsql as 'begin raise exception ''crash''; end';
    create trigger refuse_answer before update on idempotency_records for each row
      when (new.status is not null) execute function refuse_answer()`);
  const body = { operations: [create({ crashed: 1 })] };
  await bulk(body, { 'Idempotency-Key': 'bulk-crash' }).expect(500);
  expect(await count({ 'data.crashed': 1 })).toBe(0);
  await api.db.pool.query('drop trigger refuse_answer on idempotency_records');
  expect(await resultsOf(bulk(body, { 'Idempotency-Key': 'bulk-crash' }))).toHaveLength(1);
  expect(await count({ 'data.crashed': 1 })).toBe(1);
});

test('requests that change the same entities in opposite order wait for each other', async () => {
  const ids = await Promise.all(Array.from({ length: 40 }, (_, n) => newItem({ n })));
  const update = (list: string[], field: string) =>
    resultsOf(
      bulk({ operations: list.map((id) => ({ action: 'update', id, data: { [field]: 1 } })) }),
    );
  for (let round = 0; round < 4; round += 1)
    await Promise.all([update(ids, 'a'), update([...ids].reverse(), 'b')]);
  expect(await stored(ids[0]!)).toMatchObject({ data: { a: 1, b: 1 } });
});

test('entities of another tenant and of another type are not found', async () => {
  const other = await api.organization();
  await api.push({ tenant: other }, { entityTypes: [{ slug: 'item', name: 'Item', schema: {} }] });
  const otherKey = await api.key({ tenant: other, permissions: ['data'] });
  const id = await newItem({ n: 1 });
  const changes = {
    operations: [
      { action: 'update', id, data: { n: 2 } },
      { action: 'delete', id },
    ],
  };
  const missing = [failed('entity_not_found'), failed('entity_not_found')];
  expect(await resultsOf(bulk(changes, {}, otherKey))).toEqual(missing);
  expect(await resultsOf(api.call('post', '/v1/data/other/bulk', key, changes))).toEqual(missing);
  expect(await stored(id)).toMatchObject({ data: { n: 1 } });
});

test('the roles of the key apply to each operation', async () => {
  const clerk = await api.key({ tenant, permissions: ['data'], role: 'clerk' });
  const [mine, theirs] = [await newItem({ owner: 'me' }), await newItem({ owner: 'you' })];
  const results = await resultsOf(
    bulk(
      {
        operations: [
          create({ owner: 'me' }),
          create({ owner: 'you' }),
          create({ owner: 'me', cost: 1 }),
          { action: 'update', id: mine, data: { n: 1 } },
          { action: 'update', id: theirs, data: { n: 1 } },
          { action: 'update', id: mine, data: {}, status: 'deleted' },
          { action: 'delete', id: mine },
        ],
      },
      {},
      clerk,
    ),
  );
  expect(results).toEqual([
    { ok: true, id: expect.any(String) },
    failed('out_of_scope'),
    failed('masked_field'),
    { ok: true, id: mine },
    failed('out_of_scope'),
    failed('permission_denied'),
    failed('permission_denied'),
  ]);
  const atomic = {
    atomic: true,
    operations: [create({ owner: 'me', denied: 1 }), { action: 'delete', id: mine }],
  };
  const { body } = await bulk(atomic, {}, clerk).expect(403);
  expect(body).toMatchObject({
    code: 'permission_denied',
    error: expect.stringMatching(/^operations\.1: /),
  });
  expect(await count({ 'data.denied': 1 })).toBe(0);
  const chatOnly = await api.key({ tenant, permissions: ['chat'] });
  await bulk({ operations: [create({})] }, {}, chatOnly).expect(403);
});

test('an organization has a share of the bulk requests that run at the same time', async () => {
  const list = Array.from({ length: 300 }, (_, n) => create({ n }));
  const answers = await Promise.all(Array.from({ length: 12 }, () => bulk({ operations: list })));
  const refused = answers.filter(({ status }) => status === 429);
  expect(refused.length).toBeGreaterThan(0);
  expect(refused[0]!.body).toMatchObject({
    code: 'too_many_bulk_requests',
    retryAt: expect.any(Number),
  });
  expect(answers.filter(({ status }) => status === 200).length).toBe(12 - refused.length);
});
