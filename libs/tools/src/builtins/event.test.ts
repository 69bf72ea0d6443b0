import type { Actor, JsonObject, RoleDefinition, Scope } from '@parley/contracts';
import { type Db, createDb, prismaOf } from '@parley/db';
import { openTestDatabase } from '@parley/testing';
import { createTestTools } from '../testing';
import type { ToolResult, Tools } from '../types';

const place = { tenant: 1, environment: 'development' as const };
const scope: Scope = { organizationId: 'org_1', ...place };
const system: Actor = { type: 'system' };
const withRoles = (...roles: string[]): Actor => ({ type: 'agent', slug: 'helper', roles });

let db: Db;
let tools: Tools;

const run = (name: string, args: JsonObject, actor: Actor = system, hops = 0) =>
  tools.run(scope, {
    name,
    args,
    actor,
    allowed: null,
    context: { hops, depth: 0, requestId: 'req_1' },
  });

const pageOf = (result: ToolResult) => {
  if (!result.ok) throw new Error(result.message);
  return result.result as unknown as { data: JsonObject[]; cursor: string; hasMore: boolean };
};

const changeOf = (type: string, id: string, data: JsonObject) =>
  prismaOf(db).event.create({
    data: {
      ...place,
      type: 'entity.updated',
      entityType: type,
      entityId: id,
      payload: { data, previousData: data },
      actor: { type: 'system' },
    },
  });

beforeAll(async () => {
  db = await openTestDatabase(createDb);
  ({ tools } = createTestTools(db));
  for (const slug of ['order', 'customer', 'salary', 'ticket']) {
    const { no } = await prismaOf(db).entityType.create({
      data: { ...place, id: `t-${slug}`, slug, name: slug, schema: {} },
    });
    const times = { pos: 1n, createdAt: 1n, updatedAt: 1n };
    const row = {
      ...place,
      ...times,
      id: `${slug}1`,
      part: no,
      segment: 0,
      status: 'active',
      data: {},
    };
    await prismaOf(db).entity.create({ data: row });
    await changeOf(slug, `${slug}1`, { secret: `${slug} secret` });
  }
  const policies: RoleDefinition['policies'] = [
    { resource: 'event.*', actions: ['execute'], effect: 'allow' },
    ...['order', 'customer', 'ticket'].map((resource) => ({
      resource,
      actions: ['read' as const],
      effect: 'allow' as const,
    })),
  ];
  const clerk: JsonObject = {
    policies,
    fieldMasks: [{ entityType: 'customer', fieldPath: 'secret', maskType: 'hide' }],
    scopeRules: [
      { entityType: 'ticket', field: 'data.owner', operator: 'eq', value: 'actor.userId' },
    ],
  };
  await prismaOf(db).role.create({
    data: { ...place, id: 'r1', slug: 'clerk', name: 'Clerk', definition: clerk },
  });
  const none = { policies: [{ resource: 'order', actions: ['read'], effect: 'allow' }] };
  await prismaOf(db).role.create({
    data: { ...place, id: 'r2', slug: 'mute', name: 'Mute', definition: none },
  });
});

afterAll(() => db.close());

describe('event.emit', () => {
  it('records an event with its actor and entity', async () => {
    const args = { type: 'order.reviewed', payload: { stars: 5 }, entityId: 'order1' };
    const result = await run('event.emit', args, withRoles(), 2);
    expect(result).toEqual({
      ok: true,
      result: { eventId: expect.stringMatching(/^\d+$/), type: 'order.reviewed' },
    });
    const [event] = pageOf(await run('event.query', { type: 'order.reviewed' })).data;
    expect(event).toEqual({
      id: expect.any(String),
      type: 'order.reviewed',
      entityType: 'order',
      entityId: 'order1',
      payload: { stars: 5 },
      actor: { type: 'agent', id: 'helper' },
      createdAt: expect.any(Number),
    });
    expect(Math.abs(Date.now() - (event!.createdAt as number))).toBeLessThan(60_000);
    expect(await prismaOf(db).event.findFirst({ where: { type: 'order.reviewed' } })).toMatchObject(
      {
        hops: 2,
        requestId: 'req_1',
      },
    );
  });

  it.each([
    'entity.created',
    'Entity.updated',
    'payment.paid',
    'router.transferred',
    'trigger.fired',
  ])('cannot record %s', async (type) => {
    const message = `Invalid arguments for event.emit: the namespace of "${type}" is reserved`;
    expect(await run('event.emit', { type })).toEqual({
      ok: false,
      errorType: 'invalid_arguments',
      message,
    });
  });

  it.each(['reviewed', 'order.', '.a', 'a b.c', ''])('refuses the type %j', async (type) => {
    expect(await run('event.emit', { type })).toMatchObject({
      ok: false,
      errorType: 'invalid_arguments',
    });
  });

  it('requires that the entity exists and may be read', async () => {
    const about = (entityId: string, actor?: Actor) =>
      run('event.emit', { type: 'a.b', entityId }, actor);
    expect(await about('missing')).toEqual({
      ok: false,
      errorType: 'not_found',
      message: 'Entity not found',
    });
    expect(await about('salary1', withRoles('clerk'))).toEqual({
      ok: false,
      errorType: 'permission_denied',
      message: "Permission denied: cannot perform 'read' on 'salary'",
      reason: 'no policy of the role "clerk" allows it',
    });
    expect(await about('ticket1', withRoles('clerk'))).toMatchObject({
      errorType: 'permission_denied',
      message: 'Entity not accessible within scope',
    });
    expect(await about('order1', withRoles('clerk'))).toMatchObject({ ok: true });
  });

  it('and event.query require the permission to execute', async () => {
    const denied = { ok: false, errorType: 'permission_denied' };
    expect(await run('event.emit', { type: 'a.b' }, withRoles('mute'))).toMatchObject({
      ...denied,
      message: "Permission denied: cannot perform 'execute' on 'event.emit'",
    });
    expect(await run('event.query', {}, withRoles('mute'))).toMatchObject(denied);
  });
});

describe('event.query', () => {
  it('returns every event once, in pages, newest first', async () => {
    for (let n = 0; n < 7; n += 1)
      expect(await run('event.emit', { type: 'page.item', payload: { n } })).toMatchObject({
        ok: true,
      });
    const seen: unknown[] = [];
    let cursor = '';
    for (let pages = 1; ; pages += 1) {
      const page = pageOf(await run('event.query', { type: 'page.item', limit: 3, cursor }));
      seen.push(...page.data.map(({ payload }) => (payload as JsonObject).n));
      cursor = page.cursor;
      expect(page.hasMore).toBe(pages < 3);
      if (!page.hasMore) break;
    }
    expect(seen).toEqual([6, 5, 4, 3, 2, 1, 0]);
    expect(pageOf(await run('event.query', { type: 'page.item', cursor }))).toEqual({
      data: [],
      cursor,
      hasMore: false,
    });
  });

  it('filters by entity and time', async () => {
    const about = (await run('event.query', { entityId: 'salary1' })) as ToolResult;
    expect(pageOf(about).data).toHaveLength(1);
    expect(pageOf(await run('event.query', { entityType: 'salary' })).data).toHaveLength(1);
    expect(pageOf(await run('event.query', { since: Date.now() + 60_000 })).data).toEqual([]);
  });

  it('refuses an invalid cursor, and a limit below 1', async () => {
    const refused = { ok: false, errorType: 'invalid_arguments' };
    expect(await run('event.query', { cursor: "1' or '1" })).toMatchObject(refused);
    expect(await run('event.query', { limit: 0 })).toMatchObject(refused);
    expect(pageOf(await run('event.query', { limit: 5_000 })).data.length).toBeGreaterThan(5);
  });

  it('hides events of entities that a role may not read', async () => {
    const changes = pageOf(
      await run('event.query', { type: 'entity.updated', limit: 100 }, withRoles('clerk')),
    ).data;
    const seen = Object.fromEntries(
      changes.map(({ entityType, payload }) => [entityType, payload]),
    );
    const order = { data: { secret: 'order secret' }, previousData: { secret: 'order secret' } };
    // No policy for salary, a scope rule on ticket, a mask on customer.
    expect(seen).toEqual({ order, customer: null });
    const all = pageOf(await run('event.query', { type: 'entity.updated', limit: 100 })).data;
    expect(all.map(({ entityType }) => entityType).sort()).toEqual([
      'customer',
      'order',
      'salary',
      'ticket',
    ]);
  });

  it('shows a role neither errors nor ids in events of the product without an entity', async () => {
    const failed = {
      runId: 'run_1',
      triggerSlug: 'pay',
      entityId: 'salary1',
      attempts: 3,
      error: 'salary1 is 900',
    };
    const transferred = { threadId: 'thread_1', from: 'a', to: 'b', reason: 'asks about salary1' };
    for (const [type, payload] of Object.entries({
      'trigger.failed': failed,
      'router.transferred': transferred,
    }))
      await prismaOf(db).event.create({
        data: { ...place, type, payload, actor: { type: 'system', trigger: 'pay' } },
      });
    for (const [type, payload] of Object.entries({
      'trigger.failed': failed,
      'router.transferred': transferred,
    })) {
      const asRole = pageOf(await run('event.query', { type }, withRoles('clerk'))).data;
      expect(asRole).toMatchObject([{ type, entityId: null, payload: null }]);
      expect(JSON.stringify(asRole)).not.toMatch(/salary1|thread_1|run_1/);
      expect(pageOf(await run('event.query', { type })).data).toMatchObject([{ payload }]);
    }
    const all = pageOf(await run('event.query', { limit: 100 }, withRoles('clerk')));
    expect(JSON.stringify(all)).not.toMatch(/salary1|thread_1|run_1/);
  });

  it.each(['callerId', 'apiKeyId'])(
    'returns the API key of a change, stored as %s',
    async (member) => {
      const actor = { type: 'user', [member]: 'key_1', roles: [] };
      await prismaOf(db).event.create({
        data: { ...place, type: `by.${member}`, payload: {}, actor },
      });
      const { data } = pageOf(await run('event.query', { type: `by.${member}` }));
      expect(data).toMatchObject([{ actor: { type: 'user', id: 'key_1' } }]);
    },
  );

  it('returns events of its environment only', async () => {
    const elsewhere = { ...scope, environment: 'production' as const };
    const result = await tools.run(elsewhere, {
      name: 'event.query',
      args: {},
      actor: system,
      allowed: null,
      context: { hops: 0, depth: 0 },
    });
    expect(pageOf(result).data).toEqual([]);
  });
});

test('event.query ends at 1 MiB of payloads', async () => {
  for (let n = 0; n < 5; n += 1)
    await changeOf('bulky', 'bulky1', { text: 'x'.repeat(n === 2 ? 1_000_000 : 200_000) });
  const sizes: number[] = [];
  for (let cursor = '', hasMore = true; hasMore;) {
    const page = pageOf(await run('event.query', { entityType: 'bulky', cursor, limit: 100 }));
    sizes.push(page.data.length);
    ({ cursor, hasMore } = page);
  }
  expect(sizes).toEqual([2, 1, 2]);
});
