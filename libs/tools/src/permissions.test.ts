import type {
  Actor,
  Json,
  JsonObject,
  Policy,
  RoleDefinition,
  Scope,
  ScopeRule,
} from '@parley/contracts';
import { type Db, createDb, prismaOf } from '@parley/db';
import type { Entities } from '@parley/entities';
import { openTestDatabase, seedOrganization } from '@parley/testing';
import { type Explanation, accessOf } from '@parley/permissions';
import { createTestTools } from './testing';
import type { ToolResult, Tools } from './types';

let db: Db;
let entities: Entities;
let tools: Tools;
let scope: Scope;
/** Ids of entities by the names that the tests use. */
const ids: Record<string, string> = {};
const nameOf = (id: string) => Object.keys(ids).find((name) => ids[name] === id) ?? id;

const run = (actor: Actor, name: string, args: JsonObject): Promise<ToolResult> =>
  tools.run(scope, { name, args, actor, allowed: ['*'], context: { hops: 0, depth: 0 } });

const agentWith = (...roles: string[]): Actor => ({ type: 'agent', slug: 'helper', roles });

let roleCount = 0;
async function roleWith(role: Partial<RoleDefinition>): Promise<string> {
  const slug = `role-${(roleCount += 1)}`;
  const definition = { policies: [allow('*', '*')], ...role } as unknown as JsonObject;
  await prismaOf(db).role.create({
    data: {
      tenant: scope.tenant,
      environment: scope.environment,
      id: slug,
      slug,
      name: slug,
      definition,
    },
  });
  return slug;
}

const allow = (resource: string, ...actions: Policy['actions']): Policy => ({
  resource,
  actions,
  effect: 'allow',
});
const deny = (resource: string, ...actions: Policy['actions']): Policy => ({
  resource,
  actions,
  effect: 'deny',
});
const rule = (field: string, operator: ScopeRule['operator'], value: unknown, anyOf?: string) =>
  ({
    entityType: 'order',
    field,
    operator,
    value,
    ...(anyOf !== undefined && { anyOf }),
  }) as ScopeRule;

async function create(
  name: string,
  type: string,
  data: JsonObject,
  status?: string,
): Promise<void> {
  const made = await entities.create(scope, { type, data, status, actor: { type: 'system' } });
  if (!made.ok) throw new Error(made.reason);
  ids[name] = made.entity.value.id;
}

/** Names of the orders that an actor sees. Every tool must return the same. */
async function visible(actor: Actor): Promise<string[]> {
  const found = async (tool: string, args: JsonObject) => {
    const result = await run(actor, tool, { type: 'order', limit: 100, ...args });
    if (!result.ok) throw new Error(result.message);
    return (result.result as { data: { id: string }[] }).data.map(({ id }) => nameOf(id)).sort();
  };
  const seen = await found('entity.query', {});
  expect(await found('entity.query', { sort: { field: 'data.n', direction: 'asc' } })).toEqual(
    seen,
  );
  expect(await found('entity.query', { filters: { 'data.word': 'order' } })).toEqual(seen);
  expect(await found('entity.search', { query: 'order' })).toEqual(seen);
  for (const name of orders) {
    const got = await run(actor, 'entity.get', { id: ids[name]! });
    if (seen.includes(name)) expect(got).toMatchObject({ ok: true });
    else expect(got).toEqual(outOfScope);
    if (seen.includes(name)) continue;
    expect(await run(actor, 'entity.update', { id: ids[name]!, data: { taken: true } })).toEqual(
      outOfScope,
    );
    expect(await run(actor, 'entity.delete', { id: ids[name]! })).toEqual(outOfScope);
    const link = { fromId: ids.ana!, relation: 'r', toId: ids[name]! };
    expect(await run(actor, 'entity.link', link)).toEqual(outOfScope);
  }
  return seen;
}

const orders = ['a', 'b', 'c', 'd'];
const outOfScope = {
  ok: false,
  errorType: 'permission_denied',
  message: 'Entity not accessible within scope',
};
const denied = (action: string, resource: string) => ({
  ok: false,
  errorType: 'permission_denied',
  message: `Permission denied: cannot perform '${action}' on '${resource}'`,
  reason: expect.any(String),
});

beforeAll(async () => {
  db = await openTestDatabase(createDb);
  ({ tools, entities } = createTestTools(db));
  ({ scope } = await seedOrganization(db.pool, {
    entityTypes: [
      { slug: 'order', name: 'Order', schema: {}, searchFields: ['word'] },
      { slug: 'customer', name: 'Customer', schema: {} },
    ],
  }));
  const word = 'order';
  await create('a', 'order', {
    word,
    n: 1,
    text: 'apple',
    owner: 'u1',
    tags: ['x', 'y'],
    deep: { city: 'Lima' },
  });
  await create('b', 'order', { word, n: 2, text: 'banana', owner: 'u2', tags: ['y'] });
  await create(
    'c',
    'order',
    { word, n: 3, text: 'cherry', owner: 'u1', deep: { city: 'Cusco' } },
    'archived',
  );
  await create('d', 'order', { word });
  await create('ana', 'customer', { name: 'Ana' });
  await create('bo', 'customer', { name: 'Bo' });
  const link = (fromId: string, toId: string) =>
    entities.link(scope, { fromId: ids[fromId]!, relation: 'ordered', toId: ids[toId]! });
  await link('ana', 'a');
  await link('b', 'ana');
  await link('bo', 'c');
  await link('ana', 'bo');
});

afterAll(async () => {
  await entities.settled();
  await db.close();
});

describe('policies', () => {
  const everything = { create: true, read: true, list: true, update: true, delete: true };

  /** Returns the allowed actions on orders. Uses a new order, because some actions change it. */
  async function allowedActions(actor: Actor): Promise<Record<string, boolean>> {
    const made = await entities.create(scope, {
      type: 'order',
      data: {},
      actor: { type: 'system' },
    });
    const id = made.ok ? made.entity.value.id : '';
    const ok = async (name: string, args: JsonObject) => {
      const result = await run(actor, name, args);
      if (!result.ok) expect(result.errorType).toBe('permission_denied');
      return result.ok;
    };
    const result = {
      create: await ok('entity.create', { type: 'order', data: { temporary: true } }),
      read: await ok('entity.get', { id }),
      list: await ok('entity.query', { type: 'order' }),
      update: await ok('entity.update', { id, data: { x: 1 } }),
    };
    expect(await ok('entity.search', { type: 'order', query: 'x' })).toBe(result.list);
    // A change of the status can delete, and requires the same permission.
    const byStatus = await ok('entity.update', { id, status: 'deleted' });
    const deleted = await ok('entity.delete', { id });
    expect(byStatus).toBe(result.update && deleted);
    await entities.remove(scope, { type: 'order', id, actor: { type: 'system' } });
    expect(await ok('entity.update', { id, status: 'active' })).toBe(byStatus);
    await entities.remove(scope, { type: 'order', id, actor: { type: 'system' } });
    for (const { id } of await temporaries())
      await entities.remove(scope, { type: 'order', id, actor: { type: 'system' } });
    return { ...result, delete: deleted };
  }

  async function temporaries() {
    const found = await entities.query(scope, {
      type: 'order',
      filters: { 'data.temporary': true },
      limit: 100,
    });
    return found.ok ? found.page.entities : [];
  }

  it.each<[string, Actor]>([
    ['the system', { type: 'system' }],
    ['a webhook', { type: 'webhook', provider: 'flow' }],
    ['an agent without roles', agentWith()],
  ])('%s may do everything', async (_name, actor) => {
    expect(await allowedActions(actor)).toEqual(everything);
  });

  it.each<[string, Actor]>([
    ['a user without roles', { type: 'user', callerId: 'k', roles: [] }],
    ['an agent whose role does not exist', agentWith('missing')],
    ['a user whose role does not exist', { type: 'user', callerId: 'k', roles: ['missing'] }],
  ])('%s may do nothing', async (_name, actor) => {
    expect(await allowedActions(actor)).toEqual({
      create: false,
      read: false,
      list: false,
      update: false,
      delete: false,
    });
    expect(await run(actor, 'entity.get', { id: ids.a! })).toEqual(denied('read', 'order'));
  });

  it.each(['create', 'read', 'list', 'update', 'delete'] as const)(
    'a policy for the action %s allows no other action',
    async (action) => {
      const actor = agentWith(await roleWith({ policies: [allow('order', action)] }));
      const none = { create: false, read: false, list: false, update: false, delete: false };
      expect(await allowedActions(actor)).toEqual({ ...none, [action]: true });
    },
  );

  it('a role of another environment has no effect', async () => {
    const elsewhere = { tenant: scope.tenant, environment: 'production' as const };
    const definition = { policies: [allow('*', '*')] } as unknown as JsonObject;
    await prismaOf(db).role.create({
      data: { ...elsewhere, id: 'live', slug: 'live', name: 'Live', definition },
    });
    expect(await run(agentWith('live'), 'entity.get', { id: ids.a! })).toEqual(
      denied('read', 'order'),
    );
  });

  it('a deny of one role wins over the allow of another', async () => {
    const actor = agentWith(
      await roleWith({}),
      await roleWith({ policies: [deny('order', 'delete')] }),
    );
    expect(await allowedActions(actor)).toEqual({ ...everything, delete: false });
    expect(await run(actor, 'entity.delete', { id: ids.a! })).toEqual({
      ok: false,
      errorType: 'permission_denied',
      message: 'Permission denied: denied by policy',
      reason: expect.stringMatching(/^policies\.0 of the role "role-\d+" denies it$/),
    });
  });

  it('are checked before the arguments, for any type in the arguments', async () => {
    const actor = agentWith(await roleWith({ policies: [allow('customer', '*')] }));
    expect(await run(actor, 'entity.create', { type: 'order' })).toEqual(denied('create', 'order'));
    expect(await run(actor, 'entity.query', { type: 'order', filters: { bad: 1 } })).toEqual(
      denied('list', 'order'),
    );
    expect(await run(actor, 'entity.get', { type: 'customer', id: ids.a! })).toMatchObject({
      errorType: 'not_found',
    });
    expect(await run(actor, 'entity.delete', { type: 'customer', id: ids.a! })).toMatchObject({
      errorType: 'not_found',
    });
    expect(await run(actor, 'entity.query', { type: ['customer', 'order'] })).toMatchObject({
      errorType: 'invalid_arguments',
    });
    expect(await run(actor, 'entity.query', { type: 'nonsense' })).toEqual(
      denied('list', 'nonsense'),
    );
  });

  it('a link requires update on one entity and read on the other', async () => {
    const actor = agentWith(await roleWith({ policies: [allow('order', 'update', 'read')] }));
    const args = { fromId: ids.a!, relation: 'r', toId: ids.ana! };
    for (const tool of ['entity.link', 'entity.unlink']) {
      expect(await run(actor, tool, args)).toEqual(denied('read', 'customer'));
      expect(await run(actor, tool, { ...args, fromId: ids.ana!, toId: ids.a! })).toEqual(
        denied('update', 'customer'),
      );
      expect(await run(actor, tool, { ...args, toId: ids.b! })).toMatchObject({ ok: true });
    }
  });

  it('a tool without an entity type requires execute on its name', async () => {
    const none = agentWith(await roleWith({ policies: [allow('order', '*')] }));
    const some = agentWith(
      await roleWith({ policies: [allow('event.*', 'execute'), deny('event.emit', '*')] }),
    );
    expect(await run(none, 'event.query', {})).toEqual(denied('execute', 'event.query'));
    expect(await run(some, 'event.query', {})).toMatchObject({ ok: true });
    expect(await run(some, 'event.emit', { type: 'a.b' })).toMatchObject({
      message: 'Permission denied: denied by policy',
    });
  });
});

describe('scope rules', () => {
  it.each<[string, ScopeRule['operator'], unknown, string[]]>([
    ['data.n', 'eq', 2, ['b']],
    ['data.n', '$eq', '2', []],
    ['n', 'eq', 2, ['b']],
    ['data.n', 'ne', 2, ['a', 'c', 'd']],
    ['data.n', 'neq', 2, ['a', 'c', 'd']],
    ['data.n', '$neq', 2, ['a', 'c', 'd']],
    ['data.n', 'in', [1, 3, 'x'], ['a', 'c']],
    ['data.n', 'in', [], []],
    ['data.n', 'nin', [1, 3], ['b', 'd']],
    ['data.n', 'gt', 2, ['c']],
    ['data.n', '$gte', 2, ['b', 'c']],
    ['data.n', 'lt', 2, ['a']],
    ['data.n', 'lte', 2, ['a', 'b']],
    ['data.text', 'gt', 'b', ['b', 'c']],
    ['data.text', 'contains', 'an', ['b']],
    ['data.tags', 'contains', 'y', ['a', 'b']],
    ['data.n', 'exists', true, ['a', 'b', 'c']],
    ['data.n', '$exists', false, ['d']],
    ['data.n', 'eq', null, ['d']],
    ['data.deep.city', 'eq', 'Lima', ['a']],
    ['data.tags', 'eq', ['x', 'y'], ['a']],
    ['status', 'eq', 'archived', ['c']],
    ['status', 'ne', 'archived', ['a', 'b', 'd']],
    ['createdAt', 'gt', 0, orders],
    ['createdAt', 'gt', 9e15, []],
    ['data.owner', 'eq', 'actor.userId', ['a', 'c']],
    ['data.owner', 'in', 'actor.userId', ['a', 'c']],
    ['data.owner', 'in', ['actor.userId', 'u2'], ['a', 'b', 'c']],
    ['data.owner', 'ne', 'actor.userId', ['b', 'd']],
    ['id', 'eq', 'actor.entityId', []],
    ['id', 'in', 'actor.relatedIds:order', ['a', 'b']],
    ['id', 'eq', 'actor.relatedIds:order', ['a', 'b']],
    ['id', 'nin', 'actor.relatedIds:order', ['c', 'd']],
    ['id', 'ne', 'actor.relatedIds:order', ['c', 'd']],
    ['id', 'in', 'actor.relatedIds:missing', []],
  ])('%s %s %j', async (field, operator, value, expected) => {
    const role = await roleWith({ scopeRules: [rule(field, operator, value)] });
    const actor: Actor = {
      type: 'agent',
      slug: 'helper',
      roles: [role],
      userId: 'u1',
      entityId: ids.ana,
    };
    expect(await visible(actor)).toEqual(expected);
  });

  it('apply together, except alternatives with the same anyOf', async () => {
    const both = await roleWith({ scopeRules: [rule('n', 'gt', 1), rule('owner', 'eq', 'u1')] });
    expect(await visible(agentWith(both))).toEqual(['c']);
    const either = await roleWith({
      scopeRules: [rule('n', 'eq', 2, 'x'), rule('owner', 'eq', 'u1', 'x')],
    });
    expect(await visible(agentWith(either))).toEqual(['a', 'b', 'c']);
    const alternatives = [
      rule('n', 'eq', 2, 'x'),
      rule('owner', 'eq', 'u1', 'x'),
      rule('n', 'lt', 3),
    ];
    expect(await visible(agentWith(await roleWith({ scopeRules: alternatives })))).toEqual([
      'a',
      'b',
    ]);
    const twoNames = [rule('n', 'eq', 2, 'x'), rule('owner', 'eq', 'u1', 'y')];
    expect(await visible(agentWith(await roleWith({ scopeRules: twoNames })))).toEqual([]);
  });

  it('of a second role only restrict further, even with the same anyOf', async () => {
    const one = await roleWith({ scopeRules: [rule('n', 'eq', 1, 'x'), rule('n', 'eq', 2, 'x')] });
    const two = await roleWith({ scopeRules: [rule('n', 'eq', 2, 'x'), rule('n', 'eq', 3, 'x')] });
    expect(await visible(agentWith(one))).toEqual(['a', 'b']);
    expect(await visible(agentWith(one, two))).toEqual(['b']);
    expect(await visible(agentWith(one, await roleWith({})))).toEqual(['a', 'b']);
  });

  it('match nothing when the actor does not have the value, with any operator', async () => {
    for (const value of ['actor.userId', 'actor.entityId', 'actor.relatedIds:order']) {
      for (const operator of ['eq', 'ne', 'in', 'nin'] as const) {
        const role = await roleWith({ scopeRules: [rule('data.owner', operator, value)] });
        expect(await visible(agentWith(role))).toEqual([]);
      }
    }
    const oneAlternative = [rule('owner', 'ne', 'actor.userId', 'x'), rule('n', 'eq', 2, 'x')];
    expect(await visible(agentWith(await roleWith({ scopeRules: oneAlternative })))).toEqual(['b']);
  });

  it.each<[string, ScopeRule]>([
    ['an unknown dynamic value', rule('data.owner', 'ne', 'actor.userID')],
    ['an unknown operator', rule('data.n', 'near' as 'eq', 1)],
    ['a wrong operand', rule('data.n', 'in', 1)],
    ['a wrong operand of exists', rule('data.n', 'exists', 'yes')],
    ['a broken path', rule('data..n', 'ne', 1)],
  ])('with %s hide everything', async (_name, broken) => {
    expect(await visible(agentWith(await roleWith({ scopeRules: [broken] })))).toEqual([]);
  });

  it('of other types have no effect', async () => {
    const role = await roleWith({
      scopeRules: [{ ...rule('n', 'eq', 99), entityType: 'customer' }],
    });
    expect(await visible(agentWith(role))).toEqual(orders);
  });

  it('refuse changes that move an entity into or out of the scope', async () => {
    const role = await roleWith({ scopeRules: [rule('owner', 'eq', 'u1')] });
    const actor = agentWith(role);
    expect(await run(actor, 'entity.create', { type: 'order', data: { owner: 'u2' } })).toEqual(
      outOfScope,
    );
    expect(await run(actor, 'entity.create', { type: 'order', data: {} })).toEqual(outOfScope);
    expect(await run(actor, 'entity.update', { id: ids.a!, data: { owner: 'u2' } })).toEqual(
      outOfScope,
    );
    expect(await run(actor, 'entity.update', { id: ids.b!, data: { owner: 'u1' } })).toEqual(
      outOfScope,
    );
    expect(await run(actor, 'entity.update', { id: ids.a!, data: { seen: true } })).toMatchObject({
      ok: true,
    });
    expect(await visible(actor)).toEqual(['a', 'c']);
  });

  it('do not match deleted related entities', async () => {
    await create('e', 'order', { n: 5 });
    await entities.link(scope, { fromId: ids.bo!, relation: 'ordered', toId: ids.e! });
    const role = await roleWith({ scopeRules: [rule('owner', 'in', 'actor.relatedIds:order')] });
    const actor: Actor = { type: 'user', callerId: 'k', roles: [role], entityId: ids.bo };
    const operand = async () =>
      (await accessOf(db, scope, actor, 'order')).access!.clauses[0]![0]!.operand;
    expect(await operand()).toEqual([ids.c, ids.e].sort());
    await entities.remove(scope, { type: 'order', id: ids.e!, actor: { type: 'system' } });
    expect(await operand()).toEqual([ids.c]);
  });
});

describe('field masks', () => {
  type FieldMask = NonNullable<RoleDefinition['fieldMasks']>[number];
  const mask = (fieldPath: string, maskType: FieldMask['maskType']): FieldMask => ({
    entityType: 'customer',
    fieldPath,
    maskType,
  });
  const secret = 'S3CRET';
  let actor: Actor;
  let id: string;

  beforeAll(async () => {
    const masks = [
      mask('salary', 'hide'),
      mask('data.phone', 'redact'),
      mask('address.street', 'hide'),
      mask('card', 'redact'),
    ];
    actor = agentWith(await roleWith({ fieldMasks: masks }));
    const address = { street: secret, city: 'Lima' };
    await create('masked', 'customer', {
      name: 'Cy',
      salary: secret,
      phone: secret,
      address,
      card: { number: secret },
    });
    id = ids.masked!;
  });

  const shown = { name: 'Cy', phone: '[redacted]', address: { city: 'Lima' }, card: '[redacted]' };

  it('remove fields from every result', async () => {
    expect(await run(actor, 'entity.get', { id })).toMatchObject({
      ok: true,
      result: { data: shown },
    });
    const results = [
      await run(actor, 'entity.get', { id }),
      await run(actor, 'entity.query', { type: 'customer' }),
      await run(actor, 'entity.query', {
        type: 'customer',
        sort: { field: 'data.name', direction: 'asc' },
      }),
      await run(actor, 'entity.update', { id, data: { name: 'Cy' } }),
      await run(actor, 'event.query', { entityType: 'customer', limit: 100 }),
    ];
    for (const result of results) {
      expect(result.ok).toBe(true);
      expect(JSON.stringify(result)).toContain(id);
      expect(JSON.stringify(result)).not.toContain(secret);
    }
  });

  it.each([
    'salary',
    'phone',
    'address',
    'address.street',
    'address.street.no',
    'card',
    'card.number',
  ])('refuse filters and sorting by %s', async (field) => {
    const masked = {
      ok: false,
      errorType: 'permission_denied',
      message: expect.stringContaining('is masked'),
    };
    for (const wanted of [
      secret,
      { $contains: 'S' },
      { $gt: '' },
      { $exists: true },
      { $ne: 'x' },
      null,
      { $in: [secret] },
    ]) {
      const filters = { 'data.name': 'Cy', [`data.${field}`]: wanted as Json };
      expect(await run(actor, 'entity.query', { type: 'customer', filters })).toEqual(masked);
    }
    const sort = { field: `data.${field}`, direction: 'asc' };
    expect(await run(actor, 'entity.query', { type: 'customer', sort })).toEqual(masked);
  });

  it('do not affect other fields', async () => {
    const filters = { 'data.address.city': 'Lima', 'data.salaries': { $exists: false } };
    expect(await run(actor, 'entity.query', { type: 'customer', filters })).toMatchObject({
      result: { data: [{ id }] },
    });
  });

  it('refuse a search in masked fields', async () => {
    const role = await roleWith({
      fieldMasks: [{ entityType: 'order', fieldPath: 'word', maskType: 'redact' }],
    });
    const result = await run(agentWith(role), 'entity.search', { type: 'order', query: 'order' });
    expect(result).toMatchObject({ ok: false, errorType: 'permission_denied' });
  });

  it('of several roles apply together, and hide is stronger than redact', async () => {
    const masks = [mask('salary', 'redact'), mask('phone', 'hide')];
    const role = await roleWith({ fieldMasks: masks });
    const both = {
      ...(actor as { roles: string[] }),
      roles: [...(actor as { roles: string[] }).roles, role],
    } as Actor;
    const { phone: _, ...rest } = shown;
    expect(await run(both, 'entity.get', { id })).toMatchObject({
      ok: true,
      result: { data: rest },
    });
    expect(JSON.stringify(await run(both, 'entity.get', { id }))).not.toMatch(
      /S3CRET|phone|salary/,
    );
  });

  it('refuse writes to masked fields', async () => {
    const patches: JsonObject[] = [{ salary: 1 }, { address: { city: 'x' } }, { card: null }];
    for (const data of patches) {
      expect(await run(actor, 'entity.update', { id, data })).toMatchObject({
        errorType: 'permission_denied',
      });
    }
    const stored = await entities.get(scope, { type: 'customer', id });
    expect(stored.ok && stored.entity.value.data).toMatchObject({
      salary: secret,
      address: { street: secret },
    });
  });

  it('do not apply to an actor without a role', async () => {
    expect(await run(agentWith(), 'entity.get', { id })).toMatchObject({
      result: { data: { salary: secret } },
    });
  });
});

describe('accessOf', () => {
  it('reports what a key with a role may do, with the message of a denial', async () => {
    const role = await roleWith({
      policies: [allow('order', 'read')],
      scopeRules: [rule('n', 'eq', 1)],
    });
    const { can, access } = await accessOf(
      db,
      scope,
      { type: 'user', callerId: 'k', roles: [role] },
      'order',
    );
    expect(can('read')).toEqual({ allowed: true });
    expect(can('delete')).toEqual({
      allowed: false,
      message: "Permission denied: cannot perform 'delete' on 'order'",
      reason: `the role "${role}" of the key does not allow it`,
    });
    expect(await entities.get(scope, { type: 'order', id: ids.b!, access })).toEqual({
      ok: false,
      reason: 'out_of_scope',
    });
    expect(await entities.get(scope, { type: 'order', id: ids.a!, access })).toMatchObject({
      ok: true,
    });
  });

  it('does not restrict the system', async () => {
    const { can, access } = await accessOf(db, scope, { type: 'system' }, 'order');
    expect([can('delete'), access]).toEqual([{ allowed: true }, undefined]);
  });
});

describe('a denied call names', () => {
  const reasonOf = async (
    actor: Actor,
    allowed: string[] | null = null,
    name = 'entity.create',
  ) => {
    const args = { type: 'order', data: {} };
    const result = await tools.run(scope, {
      name,
      args,
      actor,
      allowed,
      context: { hops: 0, depth: 0 },
    });
    if (result.ok) throw new Error('allowed');
    return result.reason;
  };

  it('the agent whose tools lack it', async () => {
    expect(await reasonOf(agentWith(), ['entity.get'])).toBe(
      '"entity.create" is not in the tools of the agent "helper"',
    );
  });

  it('the roles without a policy, the policy that denies it, or the role that does not exist', async () => {
    const [reads, denies] = [
      await roleWith({ policies: [allow('order', 'read')] }),
      await roleWith({
        policies: [allow('*', '*'), deny('customer', '*'), deny('order', 'create')],
      }),
    ];
    expect(await reasonOf(agentWith(reads))).toBe(`no policy of the role "${reads}" allows it`);
    expect(await reasonOf(agentWith(reads, denies))).toBe(
      `policies.2 of the role "${denies}" denies it`,
    );
    expect(await reasonOf(agentWith('missing'))).toBe('the role "missing" does not exist');
    expect(await reasonOf(agentWith(reads, 'missing'))).toBe('the role "missing" does not exist');
  });

  it('to a key with a role only its own role, and nothing of the agent', async () => {
    const [all, reads] = [
      await roleWith({}),
      await roleWith({ policies: [deny('order', 'create')] }),
    ];
    const key: Actor = { type: 'user', callerId: 'key', roles: [reads] };
    expect(await reasonOf(key)).toBe(`the role "${reads}" of the key does not allow it`);
    const within = (own: string, caller: string): Actor =>
      ({ ...agentWith(own), within: [[caller]] }) as Actor;
    expect(await reasonOf(within(all, reads))).toBe('a role of the caller does not allow it');
    expect(await reasonOf(within(reads, all))).toBe('the roles of the agent do not allow it');
    expect(await reasonOf(within(all, all), ['x'])).toBe(
      '"entity.create" is not in the tools of the agent',
    );
  });

  it('nothing for a tool that does not exist, as for a tool of another organization', async () => {
    expect(await reasonOf({ type: 'system' }, null, 'shop.nothing')).toBeUndefined();
  });
});

describe('the decision of a call is explained', () => {
  const decisionOf = async (actor: Actor, name: string, args: JsonObject, allowed = ['*']) => {
    const decisions: Explanation[] = [];
    const context = { hops: 0, depth: 0 };
    await tools.run(scope, {
      name,
      args,
      actor,
      allowed,
      context,
      onDecision: (made) => decisions.push(made),
    });
    expect(decisions.length).toBeLessThanOrEqual(1);
    return decisions[0];
  };

  test('by the policy of a role that allows it, of each list of roles that restricts the actor', async () => {
    const agent = await roleWith({ policies: [deny('payment', '*'), allow('order', 'list')] });
    const caller = await roleWith({ policies: [allow('*', 'list')] });
    const allowed = { allowed: true, policies: [{ role: agent, policy: 1 }] };
    expect(await decisionOf(agentWith(agent), 'entity.query', { type: 'order' })).toEqual({
      ...allowed,
      reason: `policies.1 of the role "${agent}" allows it`,
    });
    const within: Actor = { type: 'agent', slug: 'helper', roles: [agent], within: [[caller]] };
    expect(await decisionOf(within, 'entity.query', { type: 'order' })).toMatchObject({
      policies: [...allowed.policies, { role: caller, policy: 0 }],
    });
    expect(await decisionOf(within, 'entity.query', { type: 'payment' })).toEqual({
      allowed: false,
      reason: `policies.0 of the role "${agent}" denies it`,
      policies: [{ role: agent, policy: 0 }],
    });
  });

  test('without a policy that decides it', async () => {
    const role = await roleWith({ policies: [] });
    const query = (actor: Actor, allowed?: string[]) =>
      decisionOf(actor, 'entity.query', { type: 'order' }, allowed);
    const reasons = {
      [`no policy of the role "${role}" allows it`]: await query(agentWith(role)),
      'the role "missing" does not exist': await query(agentWith('missing')),
      'the agent has no roles': await query(agentWith()),
      'no role restricts the system': await query({ type: 'system' }),
      '"entity.query" is not in the tools of the agent "helper"': await query(agentWith(), [
        'web.*',
      ]),
    };
    for (const [reason, decision] of Object.entries(reasons))
      expect(decision).toMatchObject({ reason, policies: [] });
    expect(Object.values(reasons).map((decision) => decision?.allowed)).toEqual([
      false,
      false,
      true,
      true,
      false,
    ]);
  });
});
