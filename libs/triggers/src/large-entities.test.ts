import type { JsonObject, TriggerDefinition } from '@parley/contracts';
import { type Entities, setFollowedChanges } from '@parley/entities';
import { createTestDatabase, seedOrganization } from '@parley/testing';
import { createTestTools } from '@parley/tools/testing';
import { createTriggers } from './create-triggers';
import { followedChanges } from './followed-changes';
import { type TestRuns, startRuns } from './testing/start-runs';

let bench: TestRuns;
let entities: Entities;
let triggers: ReturnType<typeof createTriggers>;
const actor = { type: 'system' } as const;
const log = { error: () => {}, warn: () => {} };

beforeAll(async () => {
  bench = await startRuns(await createTestDatabase(), (pool) =>
    seedOrganization(pool, {
      entityTypes: ['order', 'log'].map((slug) => ({ slug, name: slug, schema: {} })),
    }),
  );
  const { db } = bench;
  const { tools, entities: stored } = createTestTools(db);
  entities = stored;
  triggers = createTriggers({ db, entities, log, tools });
});
afterAll(() => bench.stop());

const trigger = (args: JsonObject, more: Partial<TriggerDefinition> = {}): TriggerDefinition => ({
  slug: 'paid',
  name: 'paid',
  on: { entityType: 'order', action: 'updated' },
  actions: [{ tool: 'entity.create', args: { type: 'log', data: { args } } }],
  ...more,
});
const store = (definition: TriggerDefinition) => bench.addTrigger(definition);
async function push(definition: TriggerDefinition): Promise<void> {
  await store(definition);
  await setFollowedChanges(bench.db, bench.scope, followedChanges([definition]));
}
async function change(data: JsonObject, patch: JsonObject): Promise<string> {
  const created = await entities.create(bench.scope, { actor, type: 'order', data });
  if (!created.ok) throw new Error(created.reason);
  const { id } = created.entity.value;
  expect(
    await entities.update(bench.scope, { actor, type: 'order', id, data: patch }),
  ).toMatchObject({ ok: true });
  return id;
}
/** The arguments of the actions of all runs that the changes have started. */
async function run(): Promise<unknown[]> {
  let left = (await triggers.relay()).due.length;
  // A claim has only the first run of an entity.
  while (left > 0) {
    const claimed = await triggers.claimDue(bench.scope.tenant, 10);
    expect(claimed).not.toEqual([]);
    for (const run of claimed) expect(await triggers.execute(run)).toBe('succeeded');
    left -= claimed.length;
  }
  const { rows } = await bench.db.pool
    .query(`with deleted as (delete from entities e using entity_types t
    where t.no = e.part and t.slug = 'log' returning data, pos) select data -> 'args' as args from deleted order by pos`);
  return rows.map(({ args }) => args);
}
const payload = async (id: string): Promise<JsonObject> =>
  (
    await bench.db.pool.query(
      `select payload from events where entity_id = $1 order by id desc limit 1`,
      [id],
    )
  ).rows[0].payload;

const blob = { blob: 'x'.repeat(70_000) };
const order = {
  state: 'open',
  total: 5,
  customer: { name: 'Ana' },
  kind: 'gift',
  startsAt: '2020-01-01',
  note: 'call',
  tags: ['a'],
};
const naming = trigger(
  {
    name: '{{trigger.data.customer.name}}',
    was: '{{trigger.previousData.total}}',
    is: '{{trigger.data.state}}',
  },
  {
    on: {
      entityType: 'order',
      action: 'updated',
      condition: {
        'data.state': 'paid',
        'previousData.state': { $ne: 'paid' },
        'data.kind': { $in: ['gift'] },
      },
    },
    schedule: { at: 'data.startsAt' },
  },
);

test('a trigger that names keys sees the same of a large entity as of a small one', async () => {
  await push(naming);
  const small = await change(order, { state: 'paid', total: 6 });
  const large = await change({ ...order, ...blob }, { state: 'paid', total: 6 });
  await change({ ...order, ...blob, kind: 'sale' }, { state: 'paid' });
  await change({ ...order, ...blob, state: 'paid' }, { state: 'paid', total: 6 });
  expect(await run()).toEqual(Array(2).fill({ name: 'Ana', was: 5, is: 'paid' }));
  expect(await payload(small)).toEqual({
    data: { ...order, state: 'paid', total: 6 },
    previousData: order,
    status: 'active',
    previousStatus: 'active',
  });
  const { note: _note, tags: _tags, ...named } = order;
  expect(await payload(large)).toEqual({
    data: { ...named, state: 'paid', total: 6 },
    previousData: named,
    status: 'active',
    previousStatus: 'active',
    isPartial: true,
  });
});

test('an event of a large entity keeps a changed key that no trigger names, and its size does not add up over patches', async () => {
  await push(naming);
  const id = await change({ ...order, ...blob }, { added: 1, note: null });
  expect(await payload(id)).toMatchObject({
    data: { added: 1, note: null },
    previousData: { note: 'call' },
    isPartial: true,
  });
  for (let n = 0; n < 10; n += 1)
    await entities.update(bench.scope, {
      actor,
      type: 'order',
      id,
      data: { [`more${n}`]: 'y'.repeat(70_000) },
    });
  const { rows } = await bench.db.pool.query(
    `select max(octet_length(payload::text)) as bytes from events where entity_id = $1 and type = 'entity.updated'`,
    [id],
  );
  expect(rows[0].bytes).toBeLessThan(72_000);
  await run();
});

test('a trigger that reads all of data has all of a large entity', async () => {
  await push(trigger({ data: '{{trigger.data}}', was: '{{trigger.previousData}}' }));
  await change({ ...order, ...blob }, { state: 'paid' });
  expect(await run()).toEqual([
    { data: { ...order, ...blob, state: 'paid' }, was: { ...order, ...blob } },
  ]);
});

test('a run reads keys that its trigger did not name when the event was recorded from the entity, also from a deleted one', async () => {
  for (const isDeleted of [false, true]) {
    await push(naming);
    const id = await change({ ...order, ...blob }, { state: 'paid', fresh: 1 });
    await store(
      trigger({
        note: '{{trigger.data.note}}',
        was: '{{trigger.previousData.tags}}',
        is: '{{trigger.previousData.fresh | "absent"}}',
      }),
    );
    if (isDeleted) await entities.remove(bench.scope, { actor, type: 'order', id });
    expect(await run()).toEqual([{ note: 'call', was: ['a'], is: 'absent' }]);
  }
});

test('types without stored keys keep whole events', async () => {
  await push(naming);
  await bench.db.pool.query('update entity_types set event_keys = null');
  const id = await change({ ...order, ...blob }, { state: 'paid' });
  expect(await payload(id)).not.toHaveProperty('isPartial');
  await run();
});

test.each<[string, Partial<TriggerDefinition>, string[] | null]>([
  [
    'conditions',
    {
      on: {
        entityType: 'order',
        action: 'created',
        condition: { 'data.a.b': 1, 'previousData.c': 1, status: 'x' },
      },
    },
    ['a', 'c'],
  ],
  ['schedule.at', { schedule: { at: 'trigger.data.when' } }, ['when']],
  ['a template in schedule.at', { schedule: { at: '{{trigger.data.when.start}}' } }, ['when']],
  [
    'templates inside of texts, lists and calls',
    {
      actions: [
        {
          tool: 'x',
          args: { a: ['to {{trigger.data.b}}', '{{x.y({"z":"{{trigger.previousData.c.d}}"})}}'] },
        },
      ],
    },
    ['b', 'c'],
  ],
  [
    'a template that reads all of trigger',
    { actions: [{ tool: 'x', args: { a: '{{trigger}}' } }] },
    null,
  ],
  [
    'a template that reads all of data',
    { actions: [{ tool: 'x', args: { a: 'all: {{trigger.data | "none"}}' } }] },
    null,
  ],
  [
    'other values',
    { actions: [{ tool: 'x', args: { a: '{{trigger.entityId}} {{today}} {{steps.data.x}}' } }] },
    [],
  ],
])('%s name keys', (_name, more, keys) => {
  expect(followedChanges([trigger({}, { actions: [], ...more })])).toMatchObject([
    { entityType: 'order', keys },
  ]);
});

test('disabled triggers and schedules follow no changes', () => {
  const disabled = trigger({}, { enabled: false });
  expect(followedChanges([disabled, trigger({}, { on: { schedule: '0 9 * * *' } })])).toEqual([]);
});
