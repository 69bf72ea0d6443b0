import type { ResourceSet, Scope } from '@parley/contracts';
import { type Db, type Queryable, createDb } from '@parley/db';
import { createEntities, ensureType } from '@parley/entities';
import { openTestDatabase, seedOrganization, until } from '@parley/testing';
import { pullResources } from './pull-resources';
import { type PushRequest, pushResources } from './push-resources';
import { resourceState } from './resource-state';

const source = { actor: { type: 'system', id: null, name: null } } as const;

let db: Db;
const knownTools = ['entity.query', 'entity.get', 'payment.create'];

beforeAll(async () => {
  db = await openTestDatabase(createDb);
});
afterAll(() => db.close());

const newScope = async (): Promise<Scope> => (await seedOrganization(db.pool)).scope;
const inProduction = (scope: Scope): Scope => ({ ...scope, environment: 'production' });

const push = (scope: Scope, resources: ResourceSet, options: Partial<PushRequest> = {}) =>
  pushResources(db, scope, { resources, knownTools, source, mayGrantRights: true, ...options });

async function pushed(scope: Scope, resources: ResourceSet, options: Partial<PushRequest> = {}) {
  const result = await push(scope, resources, options);
  if (!result.ok) throw new Error(JSON.stringify(result));
  return result.result;
}

async function problemsOf(
  scope: Scope,
  resources: ResourceSet,
  options: Partial<PushRequest> = {},
) {
  const result = await push(scope, resources, options);
  return !result.ok && result.reason === 'invalid' ? result.problems : [];
}

const agent = (slug: string, more = {}) => ({ slug, name: slug, systemPrompt: 'Hello', ...more });
const type = (slug: string, more = {}) => ({
  slug,
  name: slug,
  schema: { name: 'string' },
  ...more,
});
const router = (slug: string, agents: string[]) => ({
  slug,
  name: slug,
  mode: 'classify' as const,
  agents,
  fallback: agents[0]!,
});

const everything: ResourceSet = {
  entityTypes: [
    type('order', {
      schema: { zeta: 'string', alpha: { type: 'number' }, number: 'string' },
      searchFields: ['zeta', 'alpha'],
      displayConfig: { title: 'zeta', a: [] },
    }),
    type('customer'),
  ],
  roles: [
    {
      slug: 'clerk',
      name: 'Clerk',
      policies: [
        { resource: 'order', actions: ['read', 'list'], effect: 'allow' },
        { resource: 'shop.refund', actions: ['execute'], effect: 'deny' },
      ],
      scopeRules: [
        { entityType: 'order', field: 'data.owner', operator: 'eq', value: 'actor.userId' },
      ],
      fieldMasks: [{ entityType: 'customer', fieldPath: 'email', maskType: 'hide' }],
    },
  ],
  tools: [
    {
      name: 'shop.refund',
      description: 'Refunds',
      parameters: {
        type: 'object',
        properties: { z: { type: 'string' }, a: { type: 'number', minimum: 0.5 } },
      },
      handlerCode: 'return args;\n',
    },
  ],
  agents: [
    agent('helper', {
      tools: ['entity.query', 'shop.*'],
      roles: ['clerk'],
      model: 'openai/gpt-5-mini',
    }),
  ],
  routers: [
    {
      slug: 'front',
      name: 'Front',
      mode: 'rules',
      agents: ['helper'],
      rules: [
        {
          conditions: [{ field: 'customer.tier', operator: '$in', value: ['gold'] }],
          route: 'helper',
        },
      ],
      fallback: 'helper',
    },
  ],
  triggers: [
    {
      slug: 'on-paid',
      name: 'Paid',
      on: { entityType: 'payment', action: 'updated', condition: { 'data.status': 'paid' } },
      actions: [{ tool: 'shop.refund', args: { id: '{{trigger.data.id}}' } }],
    },
    {
      slug: 'nightly',
      name: 'Nightly',
      on: { schedule: '*/15 2-4 * * mon-fri', timezone: 'America/Santiago' },
      actions: [{ tool: 'entity.query', args: {} }],
      enabled: false,
    },
  ],
};

describe('a push', () => {
  test('creates definitions of every kind and reports them by kind', async () => {
    const scope = await newScope();
    const { version, results } = await pushed(scope, everything);
    expect(version).toBe(1);
    expect(results.entityTypes).toEqual({
      created: ['order', 'customer'],
      updated: [],
      deleted: [],
      unchanged: [],
    });
    expect(results.triggers!.created).toEqual(['on-paid', 'nightly']);
    const { rows } = await db.pool.query(
      'select slug, enabled, entity_type, action from triggers order by slug',
    );
    expect(rows).toEqual([
      { slug: 'nightly', enabled: false, entity_type: null, action: null },
      { slug: 'on-paid', enabled: true, entity_type: 'payment', action: 'updated' },
    ]);
  });

  test('of pulled definitions changes nothing, and a pull returns them byte for byte', async () => {
    const scope = await newScope();
    await pushed(scope, everything);
    const pulled = await pullResources(db, scope);
    const bySlug = (a: object, b: object) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);
    for (const kind of Object.keys(everything) as (keyof ResourceSet)[]) {
      expect(JSON.stringify([...pulled.resources[kind]].sort(bySlug))).toBe(
        JSON.stringify([...everything[kind]!].sort(bySlug)),
      );
    }
    const again = await pushed(scope, pulled.resources, { prune: true });
    expect(again.version).toBe(1);
    for (const result of Object.values(again.results)) {
      expect(result).toMatchObject({ created: [], updated: [], deleted: [] });
    }
    expect(await pullResources(db, scope)).toEqual(pulled);
  });

  test('ignores the order of keys and an empty list of search fields', async () => {
    const scope = await newScope();
    await pushed(scope, { entityTypes: [type('a', { schema: { x: 'string', y: 'number' } })] });
    const { results } = await pushed(scope, {
      entityTypes: [
        { schema: { y: 'number', x: 'string' }, searchFields: [], name: 'a', slug: 'a' },
      ],
    });
    expect(results.entityTypes!.unchanged).toEqual(['a']);
  });

  test('of some definitions updates only these, and deletes nothing without prune', async () => {
    const scope = await newScope();
    await pushed(scope, everything);
    const { results, version } = await pushed(scope, {
      agents: [agent('helper', { systemPrompt: 'Changed' })],
    });
    expect(results).toEqual({
      agents: { created: [], updated: ['helper'], deleted: [], unchanged: [] },
    });
    expect(version).toBe(2);
    const state = await resourceState(db, scope);
    expect(state.resources.agents).toEqual([
      {
        id: expect.stringMatching(/^agent_/),
        slug: 'helper',
        name: 'helper',
        version: 2,
        hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    ]);
    expect(state.resources.routers).toMatchObject([{ slug: 'front', version: 1 }]);
  });

  test('prunes only the given kinds', async () => {
    const scope = await newScope();
    await pushed(scope, { agents: [agent('a'), agent('b')], entityTypes: [type('t')] });
    const { results } = await pushed(scope, { agents: [agent('a')] }, { prune: true });
    expect(results).toEqual({
      agents: { created: [], updated: [], deleted: ['b'], unchanged: ['a'] },
    });
    expect((await resourceState(db, scope)).resources.entityTypes).toHaveLength(1);
  });

  test('does not prune the entity type of payments, which Parley creates', async () => {
    const scope = await newScope();
    await ensureType(db, scope, { slug: 'payment', name: 'Payment', schema: {}, searchFields: [] });
    await pushed(scope, { entityTypes: [type('t')] });
    const { results } = await pushed(scope, { entityTypes: [] }, { prune: true });
    expect(results).toEqual({
      entityTypes: { created: [], updated: [], deleted: ['t'], unchanged: [] },
    });
  });

  test('with dryRun reports the same changes and writes nothing', async () => {
    const scope = await newScope();
    const dry = await pushed(scope, everything, { dryRun: true });
    expect(dry).toMatchObject({ dryRun: true, version: 0 });
    expect((await pullResources(db, scope)).resources.agents).toEqual([]);
    expect((await pushed(scope, everything)).results).toEqual(dry.results);
  });

  test('with an outdated expectedVersion is refused', async () => {
    const scope = await newScope();
    await pushed(scope, { agents: [agent('a')] }, { expectedVersion: 0 });
    expect(await push(scope, { agents: [agent('b')] }, { expectedVersion: 0 })).toEqual({
      ok: false,
      reason: 'version_conflict',
      version: 1,
    });
  });

  test('that fails in the middle is rolled back', async () => {
    const scope = await newScope();
    await db.pool.query(
      `create or replace function refuse() returns trigger as $$ begin raise exception 'no'; end $$ language plpgsql`,
    );
    await db.pool.query(
      `create trigger refuse before insert on triggers for each row when (new.slug = 'cursed') execute function refuse()`,
    );
    const cursed = { ...everything.triggers![0]!, slug: 'cursed' };
    await expect(push(scope, { ...everything, triggers: [cursed] })).rejects.toThrow('no');
    expect((await resourceState(db, scope)).resources).toMatchObject({
      entityTypes: [],
      agents: [],
      tools: [],
    });
    const { rowCount } = await db.pool.query('select 1 from agents where tenant = $1', [
      scope.tenant,
    ]);
    expect(rowCount).toBe(0);
  });

  test('runs one at a time: 12 concurrent pushes raise the version by 12, and of 6 with one expectedVersion one succeeds', async () => {
    const scope = await newScope();
    const versions = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        pushed(scope, { agents: [agent(`a${index}`), agent(`b${index}`)] }),
      ),
    );
    expect(versions.map(({ version }) => version).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 12 }, (_, index) => index + 1),
    );
    const racing = await Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        push(scope, { agents: [agent(`c${index}`)] }, { expectedVersion: 12 }),
      ),
    );
    expect(racing.filter(({ ok }) => ok)).toHaveLength(1);
  });

  test('concurrent with one to the other environment never deletes an agent that both share', async () => {
    const scope = await newScope();
    // One push deletes the agent while the other creates it: the shared identity must survive.
    for (let round = 0; round < 20; round += 1) {
      await pushed(scope, { agents: [agent('shared')] });
      await pushed(inProduction(scope), { agents: [] }, { prune: true });
      await Promise.all([
        pushed(scope, { agents: [] }, { prune: true }),
        pushed(inProduction(scope), { agents: [agent('shared')] }),
      ]);
      expect((await resourceState(db, inProduction(scope))).resources.agents).toHaveLength(1);
    }
  });
});

describe('the actions with enabled triggers are stored with the entity type', () => {
  const trigger = (slug: string, action: string, { of = 'order', enabled = true } = {}) =>
    ({
      slug,
      name: slug,
      enabled,
      on: { entityType: of, action },
      actions: [{ tool: 'entity.get', args: { id: 'x' } }],
    }) as NonNullable<ResourceSet['triggers']>[number];
  const actionsOf = async ({ tenant, environment }: Scope) => {
    const { rows } = await db.pool.query(
      `select slug, relayed_actions from entity_types where tenant = $1 and environment = $2::"Environment"`,
      [tenant, environment],
    );
    return Object.fromEntries(rows.map(({ slug, relayed_actions }) => [slug, relayed_actions]));
  };

  test('by the push that adds, enables, disables, moves or prunes a trigger', async () => {
    const scope = await newScope();
    const types = { entityTypes: [type('order'), type('note')] };
    const change = async (resources: ResourceSet, options?: Partial<PushRequest>) => {
      await pushed(scope, resources, options);
      return actionsOf(scope);
    };
    expect(await change({ ...types, triggers: [trigger('a', 'created')] })).toEqual({
      order: ['created'],
      note: [],
    });
    const off = trigger('c', 'deleted', { enabled: false });
    const second = [trigger('b', 'updated'), trigger('b2', 'updated'), off];
    expect(await change({ triggers: second })).toEqual({ order: ['created', 'updated'], note: [] });
    expect(await change({ triggers: [{ ...off, enabled: true }] })).toMatchObject({
      order: ['created', 'deleted', 'updated'],
    });
    expect(
      await change({ triggers: [off, { ...trigger('b', 'updated'), enabled: false }] }),
    ).toMatchObject({
      order: ['created', 'updated'],
    });
    expect(await change({ triggers: [trigger('a', 'created', { of: 'note' })] })).toEqual({
      order: ['updated'],
      note: ['created'],
    });
    expect(await change({ entityTypes: [type('order', { name: 'Renamed' })] })).toMatchObject({
      order: ['updated'],
    });
    expect(await change({ triggers: [trigger('b2', 'deleted')] }, { dryRun: true })).toMatchObject({
      order: ['updated'],
    });
    expect(await change({ triggers: [trigger('b2', 'updated')] }, { prune: true })).toEqual({
      order: ['updated'],
      note: [],
    });
    expect(await change({ triggers: [] }, { prune: true })).toEqual({ order: [], note: [] });
  });

  test('even if the type is created after its trigger, and only in the same environment', async () => {
    const scope = await newScope();
    for (const one of [scope, inProduction(scope)])
      await pushed(one, { entityTypes: [type('order')] });
    await pushed(scope, { triggers: [trigger('paid', 'updated', { of: 'payment' })] });
    expect(await actionsOf(scope)).toEqual({ order: [] });
    await ensureType(db, scope, { slug: 'payment', name: 'Payment', schema: {}, searchFields: [] });
    expect(await actionsOf(scope)).toEqual({
      order: [],
      payment: ['created', 'updated', 'deleted'],
    });
    await pushed(scope, { triggers: [trigger('made', 'created')] });
    expect(await actionsOf(scope)).toEqual({ order: ['created'], payment: ['updated'] });
    await pushed(scope, { entityTypes: [type('payment')], triggers: [] }, { prune: true });
    expect(await actionsOf(scope)).toEqual({ payment: [] });
    expect(await actionsOf(inProduction(scope))).toEqual({ order: [] });
  });

  test('in order with concurrent writes: events that commit after the push wait for the relay', async () => {
    const scope = await newScope();
    const entities = createEntities({ db });
    const create = async (tx?: Queryable) =>
      expect(
        await entities.create(scope, { type: 'order', data: {}, actor: { type: 'system' } }, tx),
      ).toMatchObject({
        ok: true,
      });
    const waits = async () =>
      (
        await db.pool.query(
          'select relayed_at is null as waits from events where tenant = $1 order by events.id',
          [scope.tenant],
        )
      ).rows.map((row) => row.waits);
    await pushed(scope, {
      entityTypes: [type('order')],
      triggers: [trigger('a', 'created', { enabled: false })],
    });
    await create();
    let push: Promise<unknown> | undefined;
    await db.transaction(async (tx) => {
      await create(tx);
      push = pushed(scope, { triggers: [trigger('a', 'created')] });
      await until(
        async () => (await db.pool.query(`select from pg_locks where not granted`)).rowCount! > 0,
        {
          limitMs: 5_000,
        },
      );
    });
    await push;
    expect(await waits()).toEqual([false, false]);
    await create();
    expect(await waits()).toEqual([false, false, true]);
    // Repeated with concurrent writes: a transaction that commits after the push waits, even
    // if it began first.
    for (let n = 0; n < 20; n += 1) {
      const enabled = n % 2 === 1;
      await Promise.all([
        create(),
        pushed(scope, { triggers: [trigger('a', 'created', { enabled })] }),
        create(),
      ]);
      await create();
      expect((await waits()).at(-1)).toBe(enabled);
    }
    await entities.settled();
  });
});

describe('prune', () => {
  test('deletes an agent from one environment and keeps it in the other', async () => {
    const scope = await newScope();
    await pushed(scope, { agents: [agent('a')] });
    await pushed(inProduction(scope), { agents: [agent('a')] });
    await pushed(scope, { agents: [] }, { prune: true });
    expect((await resourceState(db, scope)).resources.agents).toEqual([]);
    expect((await resourceState(db, inProduction(scope))).resources.agents).toHaveLength(1);
    await pushed(inProduction(scope), { agents: [] }, { prune: true });
    const { rowCount } = await db.pool.query('select 1 from agents where tenant = $1', [
      scope.tenant,
    ]);
    expect(rowCount).toBe(0);
  });

  test('deletes the stored definitions of every given kind', async () => {
    const scope = await newScope();
    await pushed(scope, everything);
    const { resources: empty } = await pullResources(db, await newScope());
    const { results } = await pushed(scope, empty, { prune: true });
    expect(results.tools!.deleted).toEqual(['shop.refund']);
    expect((await pullResources(db, scope)).resources).toEqual(empty);
  });

  test('keeps and reports a type that has entities, and deletes the others', async () => {
    const scope = await newScope();
    await pushed(scope, { entityTypes: [type('full'), type('empty')] });
    await db.pool.query(
      `insert into entities (id, tenant, environment, part, segment, pos, status, data, created_at, updated_at)
       select 'ent_' || id, tenant, environment, -no, 0, 1, 'deleted', '{}', 1, 1 from entity_types
       where tenant = $1 and slug = 'full'`,
      [scope.tenant],
    );
    const { results } = await pushed(scope, { entityTypes: [] }, { prune: true });
    expect(results.entityTypes).toEqual({
      created: [],
      updated: [],
      deleted: ['empty'],
      unchanged: [],
      refused: [{ slug: 'full', reason: 'still has 1 entity' }],
    });
    expect((await resourceState(db, scope)).resources.entityTypes.map(({ slug }) => slug)).toEqual([
      'full',
    ]);
  });

  test('reports how many entities a kept type has, up to 1,000', async () => {
    const scope = await newScope();
    await pushed(scope, { entityTypes: [type('few'), type('many')] });
    await db.pool.query(
      `insert into entities (id, tenant, environment, part, segment, pos, status, data, created_at, updated_at)
       select 'ent_' || id || n, tenant, environment, no, 0, n, 'active', '{}', 1, 1
       from entity_types, generate_series(1, case slug when 'few' then 1000 else 1001 end) n where tenant = $1`,
      [scope.tenant],
    );
    const { results } = await pushed(scope, { entityTypes: [] }, { prune: true });
    expect(results.entityTypes!.refused).toEqual(
      expect.arrayContaining([
        { slug: 'few', reason: 'still has 1000 entities' },
        { slug: 'many', reason: 'still has more than 1,000 entities' },
      ]),
    );
  });

  test('does not change the definitions of another organization, and neither does a push', async () => {
    const [scope, other] = [await newScope(), await newScope()];
    for (const where of [scope, other]) await pushed(where, everything);
    const before = await resourceState(db, other);
    await pushed(
      scope,
      { agents: [agent('helper', { systemPrompt: 'Changed' })] },
      { prune: true },
    );
    await pushed(scope, (await pullResources(db, await newScope())).resources, { prune: true });
    expect(await resourceState(db, other)).toEqual(before);
  });

  test('keeps a role that an active key has', async () => {
    const scope = await newScope();
    await pushed(scope, { roles: [{ slug: 'clerk', name: 'Clerk', policies: [] }] });
    await db.pool.query(
      `insert into api_keys (id, tenant, environment, name, hash, prefix, permissions, role)
       values ('key_clerk', $1, 'development', 'k', decode(md5('clerk'), 'hex'), 'sk_dev_abc', '{data}', 'clerk')`,
      [scope.tenant],
    );
    const { results } = await pushed(scope, { roles: [] }, { prune: true });
    expect(results.roles!.refused).toEqual([
      { slug: 'clerk', reason: 'is the role of the API key sk_dev_abc' },
    ]);
  });

  test('keeps the agents and routers that answer on a connection of the environment', async () => {
    const scope = await newScope();
    const resources = {
      agents: ['a', 'b', 'c'].map((slug) => agent(slug)),
      routers: [router('front', ['c'])],
    };
    for (const where of [scope, inProduction(scope)]) await pushed(where, resources);
    await db.pool.query(
      `insert into channel_connections (id, tenant, environment, phone_number_id, status, agent_slug, router_slug, updated_at)
       select gen_random_uuid()::text, $1, e::"Environment", gen_random_uuid()::text, 'connected', a, r, now()
       from (values ('development', 'a', null), ('development', 'a', null), ('production', 'b', null),
         ('production', null, 'front')) v(e, a, r)`,
      [scope.tenant],
    );
    const { results } = await pushed(scope, { agents: [], routers: [] }, { prune: true });
    const reason = 'answers on a connected channel';
    expect(results.agents).toMatchObject({ deleted: ['b', 'c'], refused: [{ slug: 'a', reason }] });
    expect(results.routers).toMatchObject({ deleted: ['front'] });
    const inOther = await pushed(inProduction(scope), { routers: [] }, { prune: true });
    expect(inOther.results.routers).toMatchObject({
      deleted: [],
      refused: [{ slug: 'front', reason }],
    });
  });

  test('is refused if a definition that stays refers to one that it would delete', async () => {
    const scope = await newScope();
    await pushed(scope, {
      agents: [agent('a'), agent('b')],
      routers: [router('front', ['a', 'b'])],
    });
    expect(await problemsOf(scope, { agents: [agent('a')] }, { prune: true })).toEqual([
      { path: 'agents', message: '"b" cannot be deleted: it is used by router "front" (agents.1)' },
    ]);
    expect(
      await pushed(scope, { agents: [agent('a')], routers: [] }, { prune: true }),
    ).toMatchObject({
      results: { agents: { deleted: ['b'] }, routers: { deleted: ['front'] } },
    });
  });
});

describe('checks', () => {
  test('report every problem at once with its path, and nothing is written', async () => {
    const scope = await newScope();
    const problems = await problemsOf(scope, {
      entityTypes: [
        type('order'),
        type('order'),
        type('line', {
          schema: {
            order: { type: 'string', references: 'order' },
            item: { type: 'string', references: 'thing' },
          },
        }),
        type('wrong', { schema: { total: 7, state: { type: 'string', enum: [] } } }),
        type('flat', {
          schema: {
            references: 'string',
            name: { type: 'object', properties: { references: 'string' } },
          },
        }),
      ],
      roles: [
        {
          slug: 'clerk',
          name: 'Clerk',
          policies: [{ resource: 'ordr', actions: ['read'], effect: 'allow' }],
          scopeRules: [
            { entityType: 'order', field: 'data.owner', operator: 'eq', value: 'actor.usrId' },
          ],
        },
      ],
      tools: [
        { name: 'entity.query', description: 'x', parameters: {}, handlerCode: 'x' },
        { name: 'payment_create', description: 'x', parameters: {}, handlerCode: 'x' },
        {
          name: 'a',
          description: 'x',
          parameters: { type: 'object', properties: { b: { type: 'txt' } } },
          handlerCode: 'x',
        },
      ],
      agents: [agent('a', { tools: ['entity.query', 'nope', 'missing.*'], roles: ['boss'] })],
      routers: [
        {
          ...router('front', ['a', 'ghost']),
          rules: [{ conditions: [{ field: 'tier', operator: 'in', value: 'gold' }], route: 'a' }],
        },
      ],
      triggers: [
        {
          slug: 't',
          name: 't',
          on: {
            entityType: 'invoice',
            action: 'created',
            condition: { 'data.x': { $gte: 1, $lesser: 2 }, 'dta.x': 1 },
          },
          actions: [{ tool: 'nope', args: {} }],
          schedule: { delay: 5, at: '{{trigger.data.at}}' },
        },
        {
          slug: 'cron',
          name: 'cron',
          on: { schedule: '61 * * * *', timezone: 'Mars/Olympus' },
          actions: [{ tool: 'entity.get', args: {} }],
          schedule: { delay: 'a while', offset: '-1h' },
        },
        {
          slug: 'never',
          name: 'never',
          on: { schedule: '0 0 31 2 *' },
          actions: [{ tool: 'entity.get', args: { id: '{{steps.none.id}}' } }],
        },
      ],
    });
    expect(problems.map(({ path, message }) => `${path}: ${message}`).sort()).toEqual([
      'agents.0.roles.0: unknown role "boss"',
      'agents.0.tools.1: unknown tool "nope"',
      'agents.0.tools.2: no tool matches "missing.*"',
      'entityTypes.1.slug: "order" is given more than once',
      'entityTypes.2.schema.item.references: unknown entity type "thing"',
      'entityTypes.3.schema.state.enum: must be a list of the allowed values',
      'entityTypes.3.schema.total: must be a type name or an object that describes the field',
      'roles.0.policies.0.resource: "ordr" is neither an entity type nor a tool',
      expect.stringMatching(/^roles\.0\.scopeRules\.0\.value: /),
      'routers.0.agents.1: unknown agent "ghost"',
      'routers.0.rules.0.conditions.0.field: must be <entity type>.<field>, such as customer.tier',
      'routers.0.rules.0.conditions.0.field: unknown entity type "tier"',
      'routers.0.rules.0.conditions.0.value: in requires a list',
      'tools.0.name: "entity.query" is a built-in tool',
      'tools.1.name: "payment_create" and "payment.create" are the same name for a model',
      expect.stringMatching(/^tools\.2\.parameters: is not a JSON Schema: /),
      'triggers.0.actions.0.tool: unknown tool "nope"',
      expect.stringMatching(/^triggers\.0\.on\.condition\.data\.x\.\$lesser: unknown operator/),
      'triggers.0.on.condition.dta.x: must name data.<field>, previousData.<field> or status',
      'triggers.0.on.entityType: unknown entity type "invoice"',
      'triggers.0.schedule: accepts either delay or at, not both',
      'triggers.1.on.schedule: has "61" as minute, which allows 0-59',
      'triggers.1.on.timezone: "Mars/Olympus" is not a time zone',
      'triggers.1.schedule.delay: "a while" is not a duration such as 1500, "30s" or "1h30m"',
      'triggers.2.actions.0.args: {{steps.none.id}} names no earlier step; earlier steps: none',
      'triggers.2.on.schedule: describes a time that never occurs',
    ]);
    expect((await resourceState(db, scope)).version).toBe(0);
  });

  test('resolve references to stored definitions of the same environment only', async () => {
    const scope = await newScope();
    await pushed(scope, { agents: [agent('a')] });
    expect(await problemsOf(scope, { routers: [router('front', ['a'])] })).toEqual([]);
    expect(
      await problemsOf(inProduction(scope), { routers: [router('front', ['a'])] }),
    ).toHaveLength(2);
    const other = await newScope();
    expect(await problemsOf(other, { routers: [router('front', ['a'])] })).toHaveLength(2);
  });

  test('refuse a router with too many conditions', async () => {
    const scope = await newScope();
    const conditions = Array(501).fill({ field: 'order.a', operator: 'eq', value: 1 });
    const rule = { conditions, route: 'a' };
    expect(
      await problemsOf(scope, {
        agents: [agent('a')],
        entityTypes: [type('order')],
        routers: [{ ...router('front', ['a']), mode: 'rules', rules: [rule, rule] }],
      }),
    ).toEqual([{ path: 'routers.0.rules', message: 'have more than 1000 conditions' }]);
  });

  test('name templates of triggers that are unclosed or call an unknown function', async () => {
    const scope = await newScope();
    const template = (args: Record<string, string>) => ({
      slug: 't',
      name: 'T',
      on: { schedule: '0 9 * * *' },
      actions: [{ tool: 'entity.get', args }],
    });
    expect(
      await problemsOf(scope, {
        triggers: [
          template({ id: '{{entity.get({"id":"{{trigger.runId}}"})}}' }),
          template({
            id: '{{entity.gte({"id":"1"})}}',
            b: '{{nope.find() | "none"}}',
            c: 'at {{today',
          }),
          template({ id: '{{entity.get({"id":"{{inner.call()}}"})}}' }),
        ].map((trigger, n) => ({ ...trigger, slug: `t${n}` })),
      }),
    ).toEqual([
      { path: 'triggers.1.actions.0.args', message: 'has an unclosed template: {{today' },
      { path: 'triggers.1.actions.0.args', message: 'unknown tool "entity.gte"' },
      { path: 'triggers.1.actions.0.args', message: 'unknown tool "nope.find"' },
      { path: 'triggers.2.actions.0.args', message: 'unknown tool "inner.call"' },
    ]);
  });

  test('refuse text that cannot be stored', async () => {
    const scope = await newScope();
    expect(await problemsOf(scope, { agents: [agent('a', { systemPrompt: 'a\u0000b' })] })).toEqual(
      [{ path: 'agents.0.systemPrompt', message: expect.stringContaining('NUL') }],
    );
  });
});
