import type { Entity, EntityTypeDefinition, JsonObject, Scope } from '@parley/contracts';
import { type Db, createDb, prismaOf } from '@parley/db';
import type { Entities } from '@parley/entities';
import { openTestDatabase, seedOrganization } from '@parley/testing';
import { createTestTools } from '../testing';
import type { ToolResult, Tools } from '../types';

let db: Db;
let entities: Entities;
let tools: Tools;
let scope: Scope;
let other: Scope;

const run = (name: string, args: unknown, where: Scope = scope): Promise<ToolResult> =>
  tools.run(where, {
    name,
    args,
    actor: { type: 'system' },
    allowed: null,
    context: { hops: 1, root: '17', depth: 0, requestId: 'req_1' },
  });

async function made(data: JsonObject, type = 'order'): Promise<Entity> {
  const result = await run('entity.create', { type, data });
  if (!result.ok) throw new Error(result.message);
  return result.result as unknown as Entity;
}

const fails = (errorType: string, message: unknown) => ({ ok: false, errorType, message });

beforeAll(async () => {
  db = await openTestDatabase(createDb);
  ({ tools, entities } = createTestTools(db));
  const entityTypes: EntityTypeDefinition[] = [
    {
      slug: 'order',
      name: 'Order',
      schema: { total: 'number', note: 'string' },
      searchFields: ['note'],
    },
    { slug: 'customer', name: 'Customer', schema: {} },
  ];
  ({ scope } = await seedOrganization(db.pool, { entityTypes }));
  ({ scope: other } = await seedOrganization(db.pool, { entityTypes }));
});

afterAll(async () => {
  await entities.settled();
  await db.close();
});

describe('entity.create', () => {
  it('returns the entity as in the Data API, and records an event', async () => {
    const result = await run('entity.create', { type: 'order', data: { total: 5, extra: [1] } });
    expect(result).toEqual({
      ok: true,
      result: {
        id: expect.any(String),
        type: 'order',
        status: 'active',
        data: { total: 5, extra: [1] },
        createdAt: expect.any(Number),
        updatedAt: expect.any(Number),
      },
    });
    const { id } = (result as { result: JsonObject }).result;
    const [event] = await prismaOf(db).event.findMany({ where: { entityId: id as string } });
    expect(event).toMatchObject({
      type: 'entity.created',
      actor: { type: 'system' },
      hops: 1,
      root: '17',
      requestId: 'req_1',
    });
  });

  it('accepts a status', async () => {
    const result = await run('entity.create', { type: 'order', data: {}, status: 'draft' });
    expect(result).toMatchObject({ ok: true, result: { status: 'draft' } });
  });

  it.each<[JsonObject, object]>([
    [
      { type: 'order', data: { total: '5' } },
      fails('invalid_arguments', expect.stringContaining('total')),
    ],
    [{ type: 'missing', data: {} }, fails('not_found', 'Entity type missing not found')],
    [{ type: 'order' }, fails('invalid_arguments', expect.stringContaining('data'))],
    [{ data: {} }, fails('invalid_arguments', expect.stringContaining('type'))],
    [{ type: 'order', data: [] }, fails('invalid_arguments', expect.stringContaining('data'))],
    [
      { type: 'order', data: {}, stauts: 'x' },
      fails('invalid_arguments', expect.stringContaining('stauts')),
    ],
    [
      { type: 'order', data: { a: 'x\u0000' } },
      fails('invalid_arguments', expect.stringContaining('NUL')),
    ],
  ])('refuses %j', async (args, expected) => {
    expect(await run('entity.create', args)).toEqual(expected);
  });

  it('keeps a key called __proto__', async () => {
    const data = JSON.parse('{"__proto__": {"a": 1}}') as JsonObject;
    expect(JSON.stringify((await made(data)).data)).toBe('{"__proto__":{"a":1}}');
  });
});

describe('entity.get', () => {
  it('finds an entity by id, with or without its type', async () => {
    const order = await made({ total: 1 });
    expect(await run('entity.get', { id: order.id })).toEqual({ ok: true, result: order });
    expect(await run('entity.get', { type: 'order', id: order.id })).toEqual({
      ok: true,
      result: order,
    });
  });

  it('does not find missing, deleted or foreign entities', async () => {
    const order = await made({ total: 1 });
    const deleted = await made({ total: 1 });
    await run('entity.delete', { id: deleted.id });
    expect(await run('entity.get', { id: 'nope' })).toEqual(fails('not_found', 'Entity not found'));
    expect(await run('entity.get', { type: 'customer', id: order.id })).toEqual(
      fails('not_found', 'Entity not found'),
    );
    expect(await run('entity.get', { type: 'missing', id: order.id })).toEqual(
      fails('not_found', 'Entity type missing not found'),
    );
    expect(await run('entity.get', { id: deleted.id })).toEqual(
      fails('not_found', 'Entity has been deleted'),
    );
    expect(await run('entity.get', { id: order.id }, other)).toEqual(
      fails('not_found', 'Entity not found'),
    );
    expect(await run('entity.get', { id: 'x\u0000' })).toEqual(
      fails('invalid_arguments', expect.stringContaining('NUL')),
    );
    expect(await run('entity.get', { id: 7 })).toEqual(
      fails('invalid_arguments', expect.stringContaining('id')),
    );
  });
});

describe('entity.query', () => {
  it('returns matching entities in pages, newest first', async () => {
    const items = [];
    for (let n = 0; n < 5; n += 1) items.push(await made({ group: 'page', n }));
    const filters = { 'data.group': 'page', 'data.n': { $gte: 1 } };
    const args = { type: 'order', filters, limit: 3 };
    const first = await run('entity.query', args);
    const { cursor } = (first as { result: JsonObject }).result;
    expect(first).toEqual({
      ok: true,
      result: { data: [items[4], items[3], items[2]], cursor: expect.any(String), hasMore: true },
    });
    const rest = await run('entity.query', { ...args, cursor });
    expect(rest).toMatchObject({ result: { data: [items[1]], hasMore: false } });
  });

  it('sorts, and returns all entities of a type without filters', async () => {
    for (const n of [2, 3, 1]) await made({ n, kind: 'sorted' }, 'customer');
    const sorted = await run('entity.query', {
      type: 'customer',
      sort: { field: 'data.n', direction: 'asc' },
      limit: 500,
    });
    expect(sorted).toMatchObject({
      result: { data: [{ data: { n: 1 } }, { data: { n: 2 } }, { data: { n: 3 } }] },
    });
  });

  it.each<[JsonObject, unknown]>([
    [{ filters: { total: 1 } }, expect.stringContaining('data.<')],
    [{ filters: { status: 'active' } }, expect.stringContaining('data.status')],
    [{ filters: { 'data.total': { $near: 1 } } }, expect.stringContaining('$near')],
    [{ limit: 0 }, expect.stringContaining('limit')],
    [{ limit: 1.5 }, expect.stringContaining('limit')],
    [{ cursor: 'nonsense' }, expect.stringContaining('cursor')],
    [{ sort: { field: 'total' } }, expect.stringContaining('sort')],
    [{ filter: {} }, expect.stringContaining('filter')],
  ])('refuses %j', async (args, message) => {
    expect(await run('entity.query', { type: 'order', ...args })).toEqual(
      fails('invalid_arguments', message),
    );
  });
});

describe('entity.search', () => {
  it('finds entities by words', async () => {
    const order = await made({ note: 'Cámara fotográfica roja' });
    await made({ note: 'Cámara negra' });
    const result = await run('entity.search', { type: 'order', query: 'camara foto' });
    expect(result).toEqual({ ok: true, result: { data: [order] } });
  });
});

describe('entity.update and entity.delete', () => {
  it('merge, set a status, delete and restore', async () => {
    const { id } = await made({ total: 1, note: 'a' });
    const changed = await run('entity.update', { id, data: { note: null, more: true } });
    expect(changed).toMatchObject({
      ok: true,
      result: { id, data: { total: 1, note: null, more: true } },
    });
    expect(await run('entity.update', { id, status: 'archived' })).toMatchObject({
      result: { status: 'archived' },
    });
    expect(await run('entity.delete', { id })).toEqual({ ok: true, result: { success: true } });
    expect(await run('entity.delete', { id })).toEqual({ ok: true, result: { success: true } });
    expect(await run('entity.update', { id, data: { a: 1 } })).toEqual(
      fails('not_found', 'Entity has been deleted'),
    );
    expect(await run('entity.update', { id, status: 'active' })).toMatchObject({
      result: { status: 'active' },
    });
  });

  it('refuse a missing entity, and an update without changes', async () => {
    const { id } = await made({});
    expect(await run('entity.update', { id: 'nope', data: {} })).toEqual(
      fails('not_found', 'Entity not found'),
    );
    expect(await run('entity.delete', { id: 'nope' })).toEqual(
      fails('not_found', 'Entity not found'),
    );
    expect(await run('entity.delete', { id }, other)).toEqual(
      fails('not_found', 'Entity not found'),
    );
    expect(await run('entity.update', { id })).toEqual(
      fails('invalid_arguments', 'Invalid arguments for entity.update: data or status is required'),
    );
    expect(await run('entity.update', { id, data: { total: 'x' } })).toEqual(
      fails('invalid_arguments', expect.stringContaining('total')),
    );
  });
});

test('entity tools refuse data above 1 MiB, and what they read ends at 1 MiB', async () => {
  const refused = fails(
    'invalid_arguments',
    expect.stringMatching(/^Invalid arguments: data would have \d+ bytes/),
  );
  expect(
    await run('entity.create', { type: 'customer', data: { n: Array(4_000).fill(1e300) } }),
  ).toEqual(refused);
  const ids: string[] = [];
  const sizes = [300_000, 300_000, 1_000_000, 300_000, 300_000, 300_000];
  for (const [n, size] of sizes.entries())
    ids.unshift((await made({ total: n, note: `bulky ${'x'.repeat(size)}` })).id);
  expect(await run('entity.update', { id: ids[3], data: { more: 'x'.repeat(100_000) } })).toEqual(
    refused,
  );
  const filters = { id: { $in: ids } };
  for (const sort of [undefined, { field: 'data.total' }]) {
    const pages: string[][] = [];
    for (let cursor = '', hasMore = true; hasMore;) {
      const page = await run('entity.query', {
        type: 'order',
        filters,
        limit: 100,
        cursor,
        ...(sort && { sort }),
      });
      if (!page.ok) throw new Error(page.message);
      const { data, ...rest } = page.result as unknown as {
        data: { id: string }[];
        cursor: string;
        hasMore: boolean;
      };
      pages.push(data.map(({ id }) => id));
      ({ cursor, hasMore } = rest);
    }
    expect(pages).toEqual([ids.slice(0, 3), [ids[3]], ids.slice(4)]);
  }
  expect(await run('entity.search', { type: 'order', query: 'bulky' })).toMatchObject({
    result: { data: ids.slice(0, 3).map((id) => ({ id })) },
  });
});

describe('entity.link and entity.unlink', () => {
  const relations = async () =>
    (await prismaOf(db).entityRelation.findMany()).map(({ relation, toId }) => [relation, toId]);

  it('create and end a relation, and can be repeated', async () => {
    const [order, customer] = [await made({}), await made({}, 'customer')];
    const args = { fromId: order.id, relation: 'ordered_by', toId: customer.id };
    for (const _ of [1, 2])
      expect(await run('entity.link', args)).toEqual({ ok: true, result: { success: true } });
    expect(await relations()).toEqual([['ordered_by', customer.id]]);
    for (const _ of [1, 2])
      expect(await run('entity.unlink', args)).toEqual({ ok: true, result: { success: true } });
    expect(await relations()).toEqual([]);
  });

  it('refuse missing and foreign entities', async () => {
    const { id } = await made({});
    const foreign = (await run('entity.create', { type: 'order', data: {} }, other)) as {
      result: JsonObject;
    };
    for (const toId of ['nope', foreign.result.id]) {
      expect(await run('entity.link', { fromId: id, relation: 'r', toId })).toEqual(
        fails('not_found', 'Entity not found'),
      );
      expect(await run('entity.link', { fromId: toId, relation: 'r', toId: id })).toEqual(
        fails('not_found', 'Entity not found'),
      );
    }
    expect(await run('entity.link', { fromId: id, relation: 'a b', toId: id })).toEqual(
      fails('invalid_arguments', expect.stringContaining('relation')),
    );
    expect(await relations()).toEqual([]);
  });
});

describe('the offer to models', () => {
  it('contains all tools of a namespace, each with a JSON Schema of named arguments', async () => {
    const offer = await tools.offer(scope, ['entity.*']);
    expect(offer.map(({ name, sideEffects }) => [name, sideEffects])).toEqual([
      ['entity.create', true],
      ['entity.get', false],
      ['entity.query', false],
      ['entity.search', false],
      ['entity.update', true],
      ['entity.delete', true],
      ['entity.link', true],
      ['entity.unlink', true],
    ]);
    for (const { name, parameters, description } of offer) {
      expect({ name, ...parameters }).toMatchObject({
        type: 'object',
        additionalProperties: false,
      });
      expect(parameters).not.toHaveProperty('$schema');
      expect(JSON.stringify(parameters)).not.toContain('$ref');
      expect(description.length).toBeGreaterThan(40);
    }
    expect(offer[2]!.parameters).toMatchObject({
      required: ['type'],
      properties: { filters: { type: 'object' }, limit: { default: 50, minimum: 1 } },
    });
  });
});
