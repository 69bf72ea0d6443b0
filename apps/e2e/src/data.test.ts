import { catalog } from './catalog';
import { type Client, push } from './client';
import type { Answer } from './conformance';
import { type Tenant, createTenant } from './tenant';

let tenant: Tenant;
let client: Client;
beforeAll(async () => {
  tenant = await createTenant();
  client = await tenant.client({ permissions: ['*'] });
  await push(client, catalog);
});
afterAll(() => tenant.close());

const idsOf = ({ body }: Answer): string[] => body.data.map(({ id }: { id: string }) => id);

async function create(
  type: string,
  data: object,
  status?: string,
): Promise<{ id: string; updatedAt: number }> {
  const answer = await client.post(`/v1/data/${type}`, { data, ...(status && { status }) });
  expect(answer.status).toBe(201);
  return answer.body;
}

/** Creates a type for one test, so that lists contain only its entities. */
let counter = 0;
async function newType(schema: object = {}, searchFields: string[] = []): Promise<string> {
  const slug = `kind-${(counter += 1)}`;
  await push(client, { entityTypes: [{ slug, name: slug, schema, searchFields }] });
  return slug;
}

describe('POST /v1/data/:type', () => {
  it('answers 201 with exactly the fields of an entity', async () => {
    const before = Date.now();
    const { status, body } = await client.post('/v1/data/product', {
      data: { name: 'Lamp', price: 12.5 },
    });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/.+/),
      type: 'product',
      status: 'active',
      data: { name: 'Lamp', price: 12.5 },
      createdAt: expect.any(Number),
      updatedAt: expect.any(Number),
    });
    expect(Math.abs(body.createdAt - before)).toBeLessThan(10_000);
    expect(Number.isInteger(body.createdAt)).toBe(true);
  });

  it('accepts any status', async () => {
    const { status, body } = await client.post('/v1/data/product', { data: {}, status: 'on-hold' });
    expect([status, body.status]).toEqual([201, 'on-hold']);
  });

  it('stores data unchanged, including undeclared fields', async () => {
    const data = {
      name: 'ñandú 🐦',
      extra: { deep: [1, 'two', null, { three: 3 }] },
      empty: '',
      zero: 0,
      no: false,
    };
    const { id } = await create('product', data);
    expect((await client.get(`/v1/data/product/${id}`)).body.data).toEqual(data);
  });

  it.each([
    ['no data', {}],
    ['data that is no object', { data: 'text' }],
    ['data that is a list', { data: [] }],
    ['data null', { data: null }],
    ['a status that is no text', { data: {}, status: 5 }],
    ['a declared field of another type', { data: { price: 'cheap' } }],
  ])('answers 400 to %s', async (_name, body) => {
    const answer = await client.post('/v1/data/product', body);
    expect(answer.status).toBe(400);
    expect(answer.body.error).toMatch(/.+/);
    expect(answer.body.details.length).toBeGreaterThan(0);
  });

  it('answers 404 for an unknown type', async () => {
    const answer = await client.post('/v1/data/unknown', { data: {} });
    expect(answer.status).toBe(404);
    expect(answer.body.error).toBe('Entity type unknown not found');
  });
});

describe('GET /v1/data/:type/:id', () => {
  it('answers the entity', async () => {
    const created = await create('product', { name: 'Chair' });
    expect((await client.get(`/v1/data/product/${created.id}`)).body).toEqual(created);
  });

  it('answers 404 for an unknown type, an unknown id, and an id of another type', async () => {
    const order = await create('order', { number: '1' });
    for (const [path, error] of [
      [`/v1/data/unknown/${order.id}`, 'Entity type unknown not found'],
      ['/v1/data/product/unknown', 'Entity not found'],
      [`/v1/data/product/${order.id}`, 'Entity not found'],
    ]) {
      const answer = await client.get(path!);
      expect([answer.status, answer.body.error]).toEqual([404, error]);
    }
  });
});

describe('GET /v1/data/:type/:id/relations', () => {
  it('answers with what entity.link related, from both sides', async () => {
    const [from, to] = [
      await create('product', { name: 'Lamp' }),
      await create('product', { name: 'Bulb' }),
    ];
    const args = { fromId: from.id, relation: 'needs', toId: to.id };
    expect((await client.post('/v1/run-tool', { toolName: 'entity.link', args })).status).toBe(200);
    const { status, body } = await client.get(`/v1/data/product/${from.id}/relations`);
    expect(status).toBe(200);
    const relation = { relation: 'needs', createdAt: expect.any(Number) };
    expect(body).toEqual({
      data: [{ ...relation, direction: 'outgoing', entity: { type: 'product', id: to.id } }],
      cursor: expect.stringMatching(/.+/),
      hasMore: false,
    });
    expect((await client.get(`/v1/data/product/${to.id}/relations`)).body.data).toEqual([
      { ...relation, direction: 'incoming', entity: { type: 'product', id: from.id } },
    ]);
    expect((await client.get('/v1/data/product/none/relations')).status).toBe(404);
  });
});

describe('PATCH /v1/data/:type/:id', () => {
  it('merges data shallowly, keeps other fields and changes updatedAt', async () => {
    const created = await create('product', { name: 'Desk', price: 1, nested: { a: 1, b: 2 } });
    const { status, body } = await client.patch(`/v1/data/product/${created.id}`, {
      data: { price: 2, nested: { c: 3 }, cleared: null },
    });
    expect(status).toBe(200);
    expect(body).toEqual({
      ...created,
      data: { name: 'Desk', price: 2, nested: { c: 3 }, cleared: null },
      updatedAt: expect.any(Number),
    });
    expect(body.updatedAt).toBeGreaterThanOrEqual(created.updatedAt);
  });

  it('sets the status that is given', async () => {
    const { id } = await create('product', {});
    const { body } = await client.patch(`/v1/data/product/${id}`, { data: {}, status: 'archived' });
    expect(body.status).toBe('archived');
  });

  it('requires data', async () => {
    const { id } = await create('product', {});
    expect((await client.patch(`/v1/data/product/${id}`, { status: 'archived' })).status).toBe(400);
  });

  it('answers 404 for an unknown id', async () => {
    expect((await client.patch('/v1/data/product/unknown', { data: {} })).status).toBe(404);
  });

  it('keeps all simultaneous changes of different fields', async () => {
    const { id } = await create('product', {});
    const names = Array.from({ length: 12 }, (_, index) => `field${index}`);
    await Promise.all(
      names.map((name) => client.patch(`/v1/data/product/${id}`, { data: { [name]: name } })),
    );
    const { body } = await client.get(`/v1/data/product/${id}`);
    expect(Object.keys(body.data).sort()).toEqual(names.sort());
  });
});

describe('DELETE /v1/data/:type/:id', () => {
  it('answers { success: true } and hides the entity from get, list, query and search', async () => {
    const type = await newType({ name: 'string' }, ['name']);
    const kept = await create(type, { name: 'kept word' });
    const deleted = await create(type, { name: 'deleted word' });
    const answer = await client.delete(`/v1/data/${type}/${deleted.id}`);
    expect([answer.status, answer.body]).toEqual([200, { success: true }]);

    const get = await client.get(`/v1/data/${type}/${deleted.id}`);
    expect([get.status, get.body.error]).toEqual([404, 'Entity has been deleted']);
    expect(idsOf(await client.get(`/v1/data/${type}`))).toEqual([kept.id]);
    expect(idsOf(await client.post(`/v1/data/${type}/query`, {}))).toEqual([kept.id]);
    expect(idsOf(await client.post(`/v1/data/${type}/search`, { query: 'word' }))).toEqual([
      kept.id,
    ]);
  });

  it('lists the deleted entity under its status, and it can be restored', async () => {
    const type = await newType();
    const { id } = await create(type, { name: 'x' });
    await client.delete(`/v1/data/${type}/${id}`);
    const deleted = await client.get(`/v1/data/${type}?status=deleted`);
    expect(deleted.body.data).toMatchObject([{ id, status: 'deleted' }]);
    expect((await client.delete(`/v1/data/${type}/${id}`)).status).toBe(200);
    expect(
      (await client.patch(`/v1/data/${type}/${id}`, { data: {}, status: 'active' })).status,
    ).toBe(200);
    expect((await client.get(`/v1/data/${type}/${id}`)).body.status).toBe('active');
  });

  it('answers 404 for an unknown id', async () => {
    expect((await client.delete('/v1/data/product/unknown')).status).toBe(404);
  });
});

describe('GET /v1/data/:type', () => {
  let type: string;
  const made: string[] = [];
  beforeAll(async () => {
    type = await newType();
    for (let index = 0; index < 7; index += 1) {
      made.unshift((await create(type, { index }, index === 3 ? 'archived' : undefined)).id);
    }
  });

  it('answers with data, cursor and hasMore, newest first', async () => {
    const answer = await client.get(`/v1/data/${type}`);
    expect(answer.body).toEqual({
      data: expect.any(Array),
      cursor: expect.any(String),
      hasMore: false,
    });
    expect(idsOf(answer)).toEqual(made);
  });

  it('returns each entity once over all pages', async () => {
    const seen: string[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < 10; page += 1) {
      const answer = await client.get(
        `/v1/data/${type}?limit=3${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}`,
      );
      seen.push(...idsOf(answer));
      cursor = answer.body.cursor;
      if (!answer.body.hasMore) break;
      expect(answer.body.data).toHaveLength(3);
    }
    expect(seen).toEqual(made);
  });

  it('filters by status', async () => {
    expect((await client.get(`/v1/data/${type}?status=archived`)).body.data).toMatchObject([
      { status: 'archived' },
    ]);
    expect(idsOf(await client.get(`/v1/data/${type}?status=active`))).toHaveLength(6);
    expect(idsOf(await client.get(`/v1/data/${type}?status=none`))).toEqual([]);
  });

  it('reduces a limit above 100 and refuses one that is not a positive integer', async () => {
    expect((await client.get(`/v1/data/${type}?limit=100000`)).status).toBe(200);
    for (const limit of ['0', '-1', '1.5', 'ten', '']) {
      expect([limit, (await client.get(`/v1/data/${type}?limit=${limit}`)).status]).toEqual([
        limit,
        400,
      ]);
    }
  });

  it('refuses a broken cursor', async () => {
    expect((await client.get(`/v1/data/${type}?cursor=broken`)).status).toBe(400);
  });

  it('gives 50 by default and 100 at most', async () => {
    const many = await newType();
    const pushes = Array.from({ length: 103 }, (_, index) => create(many, { index }));
    await Promise.all(pushes);
    const standard = await client.get(`/v1/data/${many}`);
    expect([standard.body.data.length, standard.body.hasMore]).toEqual([50, true]);
    const most = await client.get(`/v1/data/${many}?limit=500`);
    expect([most.body.data.length, most.body.hasMore]).toEqual([100, true]);
    const query = await client.post(`/v1/data/${many}/query`, {});
    expect([query.body.data.length, query.body.hasMore]).toEqual([50, true]);
  });

  it('answers 404 for an unknown type', async () => {
    expect((await client.get('/v1/data/unknown')).status).toBe(404);
  });
});

describe('POST /v1/data/:type/query', () => {
  let type: string;
  const ids: Record<string, string> = {};
  beforeAll(async () => {
    type = await newType({ price: 'number', name: 'string' });
    for (const [name, data] of Object.entries({
      cheap: { name: 'cheap', price: 5, tags: ['red'], status: 'open', place: { city: 'Lima' } },
      middle: { name: 'middle', price: 10, tags: ['red', 'blue'], status: 'closed', sold: false },
      dear: { name: 'dear', price: 20, note: 'a long note', sold: true, when: null },
    })) {
      ids[name] = (await create(type, data)).id;
    }
  });

  const names = async (filters: object, rest: object = {}) => {
    const answer = await client.post(`/v1/data/${type}/query`, { filters, ...rest });
    expect([answer.status, answer.body.error]).toEqual([200, undefined]);
    return answer.body.data.map(({ data }: { data: { name: string } }) => data.name).sort();
  };

  it.each<[name: string, filters: object, found: string[]]>([
    ['a literal', { 'data.name': 'cheap' }, ['cheap']],
    ['a number', { 'data.price': 10 }, ['middle']],
    ['a boolean', { 'data.sold': false }, ['middle']],
    ['null', { 'data.when': null }, ['cheap', 'dear', 'middle']],
    ['several fields', { 'data.status': 'open', 'data.price': 5 }, ['cheap']],
    ['$eq', { 'data.price': { $eq: 5 } }, ['cheap']],
    ['$ne', { 'data.name': { $ne: 'cheap' } }, ['dear', 'middle']],
    ['$neq', { 'data.name': { $neq: 'cheap' } }, ['dear', 'middle']],
    ['$in', { 'data.price': { $in: [5, 20] } }, ['cheap', 'dear']],
    ['$nin', { 'data.price': { $nin: [5, 20] } }, ['middle']],
    ['$gt', { 'data.price': { $gt: 5 } }, ['dear', 'middle']],
    ['$gte', { 'data.price': { $gte: 10 } }, ['dear', 'middle']],
    ['$lt', { 'data.price': { $lt: 10 } }, ['cheap']],
    ['$lte', { 'data.price': { $lte: 10 } }, ['cheap', 'middle']],
    ['a range', { 'data.price': { $gt: 5, $lt: 20 } }, ['middle']],
    ['$contains in text', { 'data.note': { $contains: 'long' } }, ['dear']],
    ['$contains in a list', { 'data.tags': { $contains: 'blue' } }, ['middle']],
    ['$exists true', { 'data.note': { $exists: true } }, ['dear']],
    ['$exists false', { 'data.note': { $exists: false } }, ['cheap', 'middle']],
    ['a nested path', { 'data.place.city': 'Lima' }, ['cheap']],
    ['text is no number', { 'data.price': '5' }, []],
    ['createdAt', { createdAt: { $gt: 0 } }, ['cheap', 'dear', 'middle']],
  ])('finds by %s', async (_name, filters, found) => {
    expect(await names(filters)).toEqual(found);
  });

  it('finds by id', async () => {
    expect(await names({ id: ids.dear })).toEqual(['dear']);
    expect(await names({ id: { $in: [ids.dear, ids.cheap] } })).toEqual(['cheap', 'dear']);
  });

  it('filters by lifecycle status outside of the filters', async () => {
    await client.patch(`/v1/data/${type}/${ids.cheap}`, { data: {}, status: 'archived' });
    expect(await names({}, { status: 'archived' })).toEqual(['cheap']);
    expect(await names({ 'data.status': 'open' }, { status: 'archived' })).toEqual(['cheap']);
    await client.patch(`/v1/data/${type}/${ids.cheap}`, { data: {}, status: 'active' });
  });

  it('refuses an unsupported top-level field, and names it and the supported ones', async () => {
    const answer = await client.post(`/v1/data/${type}/query`, { filters: { price: 5 } });
    expect(answer.status).toBe(400);
    for (const part of ['price', 'id', 'createdAt', 'updatedAt', 'data.<fieldName>']) {
      expect(answer.body.error).toContain(part);
    }
  });

  it('refuses status inside filters, and names the alternatives', async () => {
    const answer = await client.post(`/v1/data/${type}/query`, { filters: { status: 'open' } });
    expect(answer.status).toBe(400);
    expect(answer.body.error).toMatch(/lifecycle/);
    expect(answer.body.error).toContain('data.status');
  });

  it.each([
    ['an unknown operator', { 'data.price': { $near: 5 } }, '$near'],
    ['mixed keys', { 'data.price': { $gt: 5, other: 1 } }, 'other'],
    ['an operand of the wrong type', { 'data.price': { $in: 5 } }, '$in'],
  ])('refuses %s', async (_name, filters, named) => {
    const answer = await client.post(`/v1/data/${type}/query`, { filters });
    expect(answer.status).toBe(400);
    expect(answer.body.error).toContain(named);
  });

  it('pages by cursor, and refuses a cursor of another query', async () => {
    const first = await client.post(`/v1/data/${type}/query`, { limit: 2 });
    expect([first.body.data.length, first.body.hasMore]).toEqual([2, true]);
    const second = await client.post(`/v1/data/${type}/query`, {
      limit: 2,
      cursor: first.body.cursor,
    });
    expect([second.body.data.length, second.body.hasMore]).toEqual([1, false]);
    expect(new Set([...idsOf(first), ...idsOf(second)]).size).toBe(3);
    const other = { filters: { 'data.price': 5 }, cursor: first.body.cursor };
    expect((await client.post(`/v1/data/${type}/query`, other)).status).toBe(400);
  });

  it('sorts by a field that may be filtered', async () => {
    const answer = await client.post(`/v1/data/${type}/query`, {
      sort: { field: 'data.price', direction: 'asc' },
    });
    expect(answer.body.data.map(({ data }: { data: { price: number } }) => data.price)).toEqual([
      5, 10, 20,
    ]);
  });
});

describe('POST /v1/data/:type/search', () => {
  let type: string;
  beforeAll(async () => {
    type = await newType({ title: 'string', body: 'string' }, ['title', 'body']);
    await create(type, { title: 'Café con leche', body: 'caliente', other: 'invisible' });
    await create(type, { title: 'Té verde', body: 'con limón' });
  });
  const titles = ({ body }: Answer): string[] =>
    body.data.map(({ data }: { data: { title: string } }) => data.title);

  it('answers with { data } only', async () => {
    const { status, body } = await client.post(`/v1/data/${type}/search`, { query: 'leche' });
    expect(status).toBe(200);
    expect(Object.keys(body)).toEqual(['data']);
    expect(body.data[0]).toMatchObject({ type, data: { title: 'Café con leche' } });
  });

  it.each([
    ['every word must match', 'con leche', ['Café con leche']],
    ['across fields', 'verde limon', ['Té verde']],
    ['accents and case are folded', 'CAFE', ['Café con leche']],
    ['the last word is a prefix', 'lech', ['Café con leche']],
    ['other fields are not searched', 'invisible', []],
    ['operators of the engine are plain words', "leche' | & ! :*", ['Café con leche']],
  ])('%s', async (_name, query, found) => {
    expect(titles(await client.post(`/v1/data/${type}/search`, { query }))).toEqual(found);
  });

  it('gives 20 by default and 100 at most', async () => {
    const many = await newType({ title: 'string' }, ['title']);
    await Promise.all(
      Array.from({ length: 25 }, (_, index) => create(many, { title: `word ${index}` })),
    );
    expect(
      (await client.post(`/v1/data/${many}/search`, { query: 'word' })).body.data,
    ).toHaveLength(20);
    expect(
      (await client.post(`/v1/data/${many}/search`, { query: 'word', limit: 1000 })).body.data,
    ).toHaveLength(25);
    expect((await client.post(`/v1/data/${many}/search`, { query: 'word', limit: 0 })).status).toBe(
      400,
    );
  });

  it.each([{}, { query: '' }, { query: 5 }])('refuses %j', async (body) => {
    expect((await client.post(`/v1/data/${type}/search`, body)).status).toBe(400);
  });
});

describe('GET /v1/entity-types', () => {
  it('answers slug, name, flat schema and searchFields', async () => {
    const { status, body } = await client.get('/v1/entity-types');
    expect(status).toBe(200);
    expect(Object.keys(body)).toEqual(['data']);
    const product = body.data.find(({ slug }: { slug: string }) => slug === 'product');
    expect(product).toEqual({
      slug: 'product',
      name: 'Product',
      schema: {
        name: 'string',
        price: 'number',
        inStock: 'boolean',
        tags: 'array',
        status: 'string',
      },
      searchFields: ['name', 'description'],
    });
  });
});
