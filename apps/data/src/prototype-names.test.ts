import type { JsonObject } from '@parley/contracts';
import { createTestDatabase } from '@parley/testing';
import { type TestApi, createTestApi } from './testing/create-test-api';

/** Names that every JavaScript object has without having them itself. */
const names = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'valueOf',
  'hasOwnProperty',
  '__defineGetter__',
];

let api: TestApi;
let tenant: number;
let key: string;
beforeAll(async () => {
  api = createTestApi(await createTestDatabase());
  tenant = await api.organization();
  key = await api.key({ tenant });
});
afterAll(() => api.close());
afterEach(() => expect(Object.keys(Object.prototype)).toEqual([]));

/** As JSON, because a literal with `__proto__` would set the prototype. */
const jsonOf = (entries: [string, unknown][]): string =>
  `{${entries.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(',')}}`;
const parse = (text: string) => JSON.parse(text) as JsonObject;
const post = (path: string, body: string, status = 200) =>
  api.call('post', path, key, body).expect(status);
/** An object of the answer as the client reads it: supertest would lose `__proto__`. */
const dataOf = ({ text }: { text: string }) => parse(text).data as JsonObject;
const own = (data: JsonObject, name: string) => Object.getOwnPropertyDescriptor(data, name)?.value;

describe.each([
  ['undeclared', '{}'],
  ['declared', jsonOf(names.map((name) => [name, 'string']))],
  [
    'described by a schema',
    `{"type":"object","properties":${jsonOf(names.map((name) => [name, { type: 'string' }]))}}`,
  ],
])('fields with these names, %s', (kind, schema) => {
  const type = `type-${kind.split(' ')[0]}`;
  const search = JSON.stringify(names.map((name) => name));
  const declared = schema === '{}' ? '' : `,"searchFields":${search}`;
  const values = names.map((name, at): [string, unknown] => [name, `value ${at}`]);

  beforeAll(async () => {
    const resources = `{"entityTypes":[{"slug":"${type}","name":"T","schema":${schema}${declared}}]}`;
    const sync = await api.key({ tenant, permissions: ['sync'] });
    await api.call('post', '/v1/sync', sync, `{"resources":${resources}}`).expect(200);
    const { text } = await api.call('post', '/v1/sync/pull', sync, {}).expect(200);
    const pulled = (parse(text) as { resources: { entityTypes: JsonObject[] } }).resources
      .entityTypes;
    expect(JSON.stringify(pulled.find(({ slug }) => slug === type)!.schema)).toBe(
      JSON.stringify(JSON.parse(schema)),
    );
  });

  test('are created, read, listed, changed and changed in bulk', async () => {
    const created = await post(`/v1/data/${type}`, `{"data":${jsonOf(values)}}`, 201);
    const { id } = created.body as { id: string };
    for (const [name, value] of values) expect(own(dataOf(created), name)).toBe(value);
    const read = await api.call('get', `/v1/data/${type}/${id}`, key).expect(200);
    expect(own(dataOf(read), '__proto__')).toBe('value 0');
    for (const [name] of values) {
      const patch = `{"data":${jsonOf([[name, `changed ${name}`]])}}`;
      const changed = await api.call('patch', `/v1/data/${type}/${id}`, key, patch).expect(200);
      expect(own(dataOf(changed), name)).toBe(`changed ${name}`);
      expect(Object.keys(dataOf(changed)).sort()).toEqual([...names].sort());
    }
    const operations = `{"operations":[{"action":"create","data":${jsonOf(values)}},{"action":"update","id":"${id}","data":${jsonOf(values)}}]}`;
    const bulk = await post(`/v1/data/${type}/bulk`, operations);
    for (const { id: changed } of (bulk.body as { results: { id: string }[] }).results) {
      const stored = dataOf(await api.call('get', `/v1/data/${type}/${changed}`, key).expect(200));
      for (const [name, value] of values) expect(own(stored, name)).toBe(value);
    }
  });

  test.each(names)('%s is filtered, and found only where it is', async (name) => {
    const wanted = `only ${name} of ${type}`;
    await post(`/v1/data/${type}`, `{"data":${jsonOf([[name, wanted]])}}`, 201);
    const other = names.find((one) => one !== name)!;
    await post(`/v1/data/${type}`, `{"data":${jsonOf([[other, wanted]])}}`, 201);
    for (const condition of [wanted, { $eq: wanted }, { $in: [wanted] }, { $contains: wanted }]) {
      const found = await post(
        `/v1/data/${type}/query`,
        `{"filters":${jsonOf([[`data.${name}`, condition]])}}`,
      );
      expect((found.body as { data: unknown[] }).data).toHaveLength(1);
    }
    const existing = await post(
      `/v1/data/${type}/query`,
      `{"filters":${jsonOf([[`data.${name}`, { $exists: false }]])}}`,
    );
    expect((existing.body as { data: unknown[] }).data.length).toBeGreaterThan(0);
    for (const path of [`data.${name}.${name}`, `data.a.${name}`, 'data.name.length']) {
      const none = await post(
        `/v1/data/${type}/query`,
        `{"filters":${jsonOf([[path, { $exists: true }]])}}`,
      );
      expect((none.body as { data: unknown[] }).data).toEqual([]);
    }
    if (schema === '{}') return;
    const found = await post(`/v1/data/${type}/search`, JSON.stringify({ query: wanted }));
    expect((found.body as { data: unknown[] }).data.length).toBeGreaterThan(0);
  });

  if (schema !== '{}')
    test('a value of another type is refused under its name', async () => {
      for (const name of names) {
        const { body } = await post(`/v1/data/${type}`, `{"data":${jsonOf([[name, 5]])}}`, 400);
        expect(JSON.stringify(body.details)).toContain(`data.${name}`);
      }
    });
});

test.each(names)('a filter with the operator or field %s is a clear error', async (name) => {
  const operator = await post(
    '/v1/data/type-undeclared/query',
    `{"filters":{"data.a":${jsonOf([[`$${name}`, 1]])}}}`,
    400,
  );
  expect(operator.body.error).toContain(name);
  const field = await post(
    '/v1/data/type-undeclared/query',
    `{"filters":${jsonOf([[name, 1]])}}`,
    400,
  );
  expect(field.body.error).toContain(name);
  await post(
    '/v1/data/type-undeclared/query',
    `{"sort":${jsonOf([
      ['field', name],
      ['direction', 'asc'],
    ])}}`,
    400,
  );
  await api.call('get', `/v1/data/${name}`, key).expect(404);
  await post(`/v1/data/type-undeclared`, `{"data":{},${JSON.stringify(name)}:1}`, 400);
});

test.each(['constructor', 'prototype', 'to-string'])(
  'definitions named %s behave as any others',
  async (slug) => {
    const on = { entityType: slug, action: 'created' };
    const resources = {
      entityTypes: [
        {
          slug,
          name: slug,
          schema: { [slug]: 'string' },
          displayConfig: { title: slug, labels: { [slug]: 'x' } },
        },
      ],
      roles: [
        {
          slug,
          name: slug,
          policies: [{ resource: slug, actions: ['*'], effect: 'allow' }],
          fieldMasks: [{ entityType: slug, fieldPath: `data.${slug}`, maskType: 'redact' }],
        },
      ],
      triggers: [
        {
          slug,
          name: slug,
          on,
          actions: [{ tool: 'event.emit', args: { type: 'a.b' }, as: slug.replace('-', '_') }],
        },
      ],
      agents: [
        {
          slug,
          name: slug,
          systemPrompt: 'x',
          threadContextParams: [{ name: slug, type: 'string' }],
          roles: [slug],
        },
      ],
      routers: [{ slug, name: slug, mode: 'rules', agents: [slug], rules: [], fallback: slug }],
      tools: [{ name: `${slug}.run`, description: 'x', parameters: {}, handlerCode: 'return 1' }],
    };
    const sync = await api.key({ tenant, permissions: ['sync'] });
    const { body } = await api.call('post', '/v1/sync', sync, { resources });
    expect(body.results).toMatchObject({
      entityTypes: { created: [slug] },
      roles: { created: [slug] },
      agents: { created: [slug] },
    });
    const again = await api.call('post', '/v1/sync', sync, { resources }).expect(200);
    expect(again.body.results).toMatchObject({
      entityTypes: { unchanged: [slug] },
      tools: { unchanged: [`${slug}.run`] },
    });
    const masked = await api.key({ tenant, permissions: ['data'], role: slug });
    await api.call('post', `/v1/data/${slug}`, key, { data: { [slug]: 'secret' } }).expect(201);
    const { text } = await api.call('get', `/v1/data/${slug}`, masked).expect(200);
    expect(text).toContain('[redacted]');
    expect(text).not.toContain('secret');
  },
);
