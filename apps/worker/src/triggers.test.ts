import type {
  EntityTypeDefinition,
  JsonObject,
  Scope,
  ToolDefinition,
  TriggerDefinition,
} from '@parley/contracts';
import { type Db, createDb, unprepared } from '@parley/db';
import {
  type RedisConnection,
  closeRedis,
  connectRedis,
  createQueues,
  createRelayWaker,
  waitForRedis,
} from '@parley/redis';
import { pushResources } from '@parley/resources';
import { createMetrics, loadConfig, silentLogger } from '@parley/service';
import { createTestRedis, openTestDatabase, seedOrganization, until } from '@parley/testing';
import { builtInToolNames } from '@parley/tools';
import { createTriggers } from '@parley/triggers';
import { retentionDays, workerVariables } from './config';
import { type JobRuntime, createJobRuntime } from './job-runtime';
import { createWorker } from './worker';

const limits = { limitMs: 20_000, everyMs: 25 };

const hourMs = 3_600_000;
let db: Db & { url: string };
let runtime: JobRuntime;
const metrics = createMetrics('worker');
let producer: RedisConnection;
let stop: () => Promise<void>;

const types: EntityTypeDefinition[] = ['order', 'note', 'log'].map((slug) => ({
  slug,
  name: slug,
  schema: {},
}));

beforeAll(async () => {
  db = await openTestDatabase(createDb);
  const redis = await createTestRedis();
  producer = connectRedis({ url: redis.url, role: 'producer' });
  await waitForRedis(producer, 5_000);
  const config = loadConfig(workerVariables, {
    DATABASE_URL: db.url,
    REDIS_URL: redis.url,
    SECRETS_KEY: Buffer.alloc(32).toString('base64'),
    TRIGGER_LEASE_MS: '1000',
    TRIGGER_RUNS_PER_ROOT: '40',
  });
  const wakeRelay = createRelayWaker(producer);
  runtime = createJobRuntime({ config, db, log: silentLogger(), metrics, wakeRelay });
  const queues = createQueues({ redis: producer });
  const connection = connectRedis({ url: redis.url, role: 'worker' });
  const worker = createWorker({
    ...runtime,
    db,
    queues,
    redis: connection,
    log: silentLogger(),
    ...retentionDays(config),
  });
  stop = async () => {
    await worker.close();
    await queues.close();
    await closeRedis(connection);
  };
});
afterAll(async () => {
  await stop();
  for (const { close } of runtime.closing) await close();
  await closeRedis(producer);
  await db.close();
});

/** Creates an organization with triggers. Each test has its own. */
async function setUp(
  triggers: TriggerDefinition[],
  { timezone, tools }: { timezone?: string; tools?: ToolDefinition[] } = {},
) {
  const { scope } = await seedOrganization(db.pool, { timezone });
  await push(scope, triggers, tools);
  return scope;
}

async function push(
  scope: Scope,
  triggers: TriggerDefinition[],
  tools: ToolDefinition[] = [],
): Promise<void> {
  const result = await pushResources(db, scope, {
    source: { actor: { type: 'system', id: null, name: null } },
    mayGrantRights: true,
    resources: { entityTypes: types, tools, triggers },
    knownTools: builtInToolNames,
  });
  if (!result.ok) throw new Error(JSON.stringify(result));
}

const system = { type: 'system' as const };

async function create(scope: Scope, type: string, data: JsonObject): Promise<string> {
  const result = await runtime.entities.create(scope, { type, data, actor: system });
  if (!result.ok) throw new Error(result.reason);
  return (JSON.parse(result.entity.json) as { id: string }).id;
}

async function update(scope: Scope, type: string, id: string, data: JsonObject): Promise<void> {
  const result = await runtime.entities.update(scope, { type, id, data, actor: system });
  if (!result.ok) throw new Error(result.reason);
}

async function list(scope: Scope, type: string): Promise<{ id: string; data: JsonObject }[]> {
  const result = await runtime.entities.list(scope, { type, limit: 100 });
  if (!result.ok) throw new Error(result.reason);
  return (
    JSON.parse(result.page.json) as { data: { id: string; data: JsonObject }[] }
  ).data.reverse();
}

interface Run {
  id: string;
  trigger_slug: string;
  cause: string;
  status: string;
  attempts: number;
  fence: number;
  lease_expirations: number;
  hops: number;
  refused_runs: number;
  error: string | null;
  run_at: Date;
  context: JsonObject;
  steps: { tool: string; status: string; attempt: number; error?: string; result?: JsonObject }[];
}

async function runs(scope: Scope): Promise<Run[]> {
  const { rows } = await db.pool.query(
    'select * from trigger_runs where tenant = $1 and environment = $2::"Environment" order by created_at, event_id, id',
    [scope.tenant, scope.environment],
  );
  return rows;
}

/**
 * A second ago, because the column rounds to milliseconds. A job has been sent for it, so that no
 * sweep sends one.
 */
const makeDue = (id: string) =>
  db.pool.query(
    "update trigger_runs set run_at = now() - interval '1 s', enqueued_at = now() where id = $1",
    [id],
  );

/** Waits until every event is relayed and no run is due. Returns all runs. */
async function settled(scope: Scope): Promise<Run[]> {
  await until(
    async () =>
      (
        await db.pool.query(
          `select (select count(*) from events where tenant = $1 and relayed_at is null)
             + (select count(*) from trigger_runs where tenant = $1
                and (status = 'running' or status = 'scheduled' and run_at < now() + interval '10 s')) as left`,
          [scope.tenant],
        )
      ).rows[0].left as string,
    { ...limits, isThere: (left) => left === '0' },
  );
  return runs(scope);
}

const log = (text: string): TriggerDefinition['actions'][number] => ({
  tool: 'entity.create',
  args: { type: 'log', data: { text } },
});
const on = (
  action: 'created' | 'updated' | 'deleted',
  rest: Partial<TriggerDefinition> & { condition?: JsonObject; type?: string } = {},
): TriggerDefinition => {
  const { condition, type = 'order', ...trigger } = rest;
  return {
    slug: `on-${action}`,
    name: action,
    on: { entityType: type, action, ...(condition && { condition }) },
    actions: [log(`${action} {{trigger.data.n}}`)],
    ...trigger,
  };
};

const texts = async (scope: Scope) => (await list(scope, 'log')).map(({ data }) => data.text);

test('each creation, update and deletion fires its trigger once, in the order of the changes', async () => {
  const scope = await setUp([on('created'), on('updated'), on('deleted')]);
  const ids = await Promise.all([1, 2, 3].map((n) => create(scope, 'order', { n, k: n })));
  for (let n = 10; n < 15; n += 1)
    await Promise.all(ids.map((id) => update(scope, 'order', id, { n })));
  for (const id of ids) await runtime.entities.remove(scope, { type: 'order', id, actor: system });
  const done = await settled(scope);
  expect(done.map(({ status }) => status)).toEqual(Array(21).fill('succeeded'));
  const { rows } = await db.pool.query(
    `select r.entity_id, string_agg(e.payload->'data'->>'text', ',' order by e.id) as texts
     from events e join trigger_runs r on r.steps->0->'result'->>'id' = e.entity_id
     where e.tenant = $1 and e.entity_type = 'log' group by 1`,
    [scope.tenant],
  );
  const order = Object.fromEntries(rows.map((row) => [row.entity_id, row.texts]));
  const updates = [10, 11, 12, 13, 14].map((n) => `updated ${n}`).join(',');
  expect(ids.map((id) => order[id])).toEqual(
    [1, 2, 3].map((n) => `created ${n},${updates},deleted 14`),
  );
});

test('the outcome of a run is an event, and a change by a trigger names the trigger', async () => {
  const scope = await setUp([
    on('created'),
    on('updated', { actions: [{ tool: 'entity.get', args: { id: 'none' } }] }),
  ]);
  const id = await create(scope, 'order', { n: 1 });
  await update(scope, 'order', id, { n: 2 });
  const [first, second] = await settled(scope);
  const queried = await runtime.tools.run(scope, {
    name: 'event.query',
    args: {},
    actor: system,
    allowed: null,
    context: { hops: 0, depth: 0 },
  });
  const events = (
    queried as unknown as {
      result: { data: { type: string; payload: JsonObject; actor: JsonObject }[] };
    }
  ).result.data;
  expect(events.map(({ type }) => type).sort()).toEqual(
    [
      'entity.created',
      'entity.created',
      'entity.updated',
      'trigger.failed',
      'trigger.succeeded',
    ].sort(),
  );
  expect(events.find(({ type }) => type === 'trigger.succeeded')).toMatchObject({
    payload: { runId: first!.id, triggerSlug: 'on-created', entityId: id },
    actor: { type: 'system', id: 'on-created' },
  });
  expect(events.find(({ type }) => type === 'trigger.failed')!.payload).toMatchObject({
    runId: second!.id,
    error: 'entity.get: Entity not found',
  });
});

test('conditions read the data before and after the change', async () => {
  const paid = {
    'data.status': 'paid',
    'previousData.status': { $ne: 'paid' },
    'data.total': { $gte: 10 },
  };
  const scope = await setUp([on('updated', { condition: paid })]);
  const small = await create(scope, 'order', { n: 1, status: 'pending', total: 5 });
  const large = await create(scope, 'order', { n: 2, status: 'pending', total: 50 });
  for (const id of [small, large]) await update(scope, 'order', id, { status: 'paid' });
  await update(scope, 'order', large, { note: 'again' });
  expect((await settled(scope)).map(({ status }) => status)).toEqual(['succeeded']);
  expect(await texts(scope)).toEqual(['updated 2']);
});

test('actions run in order, read earlier results with their types, and stop at the first failure', async () => {
  const actions: TriggerDefinition['actions'] = [
    {
      tool: 'entity.create',
      as: 'note',
      args: { type: 'note', data: { from: '{{trigger.data.n}}', deep: '{{trigger.data.list}}' } },
    },
    {
      tool: 'entity.update',
      args: {
        id: '{{steps.note.id}}',
        data: {
          again: '{{note.data.from}}',
          text: 'n = {{steps.note.data.from}}',
          who: '{{trigger.entityType}}',
        },
      },
    },
    { tool: 'entity.get', args: { id: '{{trigger.data.missing}}' } },
    log('never'),
  ];
  const scope = await setUp([on('created', { actions })]);
  await create(scope, 'order', { n: 7, list: [1, { a: true }] });
  const [run] = await settled(scope);
  expect(run).toMatchObject({
    status: 'dead',
    attempts: 1,
    error: 'entity.get: {{trigger.data.missing}} not found',
  });
  expect(run!.steps.map(({ tool, status }) => [tool, status])).toEqual([
    ['entity.create', 'success'],
    ['entity.update', 'success'],
    ['entity.get', 'error'],
  ]);
  expect((await list(scope, 'note'))[0]!.data).toEqual({
    from: 7,
    deep: [1, { a: true }],
    again: 7,
    text: 'n = 7',
    who: 'order',
  });
  expect(await texts(scope)).toEqual([]);
});

test('a failed step is retried with increasing delays, without repeating earlier steps, and then the run is dead', async () => {
  const actions: TriggerDefinition['actions'] = [
    log('first'),
    { tool: 'entity.get', args: { id: 'ent_missing' } },
  ];
  const scope = await setUp([on('created', { actions, retry: { maxAttempts: 3, backoffMs: 20 } })]);
  await create(scope, 'order', { n: 1 });
  const [run] = await settled(scope);
  expect(run).toMatchObject({ status: 'dead', attempts: 3, error: 'entity.get: Entity not found' });
  expect(run!.steps.map(({ tool, status, attempt }) => [tool, status, attempt])).toEqual([
    ['entity.create', 'success', 1],
    ['entity.get', 'error', 1],
    ['entity.get', 'error', 2],
    ['entity.get', 'error', 3],
  ]);
  expect(await texts(scope)).toEqual(['first']);
});

test('a run that waits for a retry delays later runs of its trigger for the entity, and no others', async () => {
  const failing = on('updated', {
    slug: 'failing',
    actions: [
      { tool: 'entity.get', args: { id: '{{trigger.data.other}}' } },
      log('late {{trigger.data.n}}'),
    ],
    retry: { maxAttempts: 20, backoffMs: 100 },
  });
  const scope = await setUp([failing, on('updated')]);
  const id = await create(scope, 'order', { n: 0, other: 'none' });
  for (const n of [1, 2]) await update(scope, 'order', id, { n });
  await until(() => texts(scope), { ...limits, isThere: (seen) => seen.length === 2 });
  expect(await texts(scope)).toEqual(['updated 1', 'updated 2']);
  const waiting = (await runs(scope)).filter(({ trigger_slug }) => trigger_slug === 'failing');
  expect(waiting[1]).toMatchObject({ status: 'scheduled', attempts: 0 });
  await db.pool.query(
    `update events set payload = jsonb_set(payload, '{data,other}', to_jsonb($2::text)) where tenant = $1 and entity_id = $2`,
    [scope.tenant, id],
  );
  await settled(scope);
  expect((await texts(scope)).slice(2)).toEqual(['late 1', 'late 2']);
});

test('a change by a trigger fires triggers that cascade, at most 5 in a row, and the refused run is recorded', async () => {
  const again = (cascade: boolean): TriggerDefinition[] => [
    on('created', {
      type: 'note',
      slug: 'again',
      cascade,
      actions: [
        { tool: 'entity.create', args: { type: 'note', data: { n: '{{trigger.data.n}}' } } },
      ],
    }),
  ];
  const quiet = await setUp(again(false));
  await create(quiet, 'note', { n: 1 });
  expect((await settled(quiet)).map(({ status }) => status)).toEqual(['succeeded']);
  expect(await list(quiet, 'note')).toHaveLength(2);

  const loud = await setUp(again(true));
  await create(loud, 'note', { n: 1 });
  const done = await until(() => settled(loud), {
    ...limits,
    isThere: (seen) => seen.length === 6,
  });
  expect(done.map(({ status, hops }) => [status, hops])).toEqual([
    ...[1, 2, 3, 4, 5].map((hops) => ['succeeded', hops]),
    ['dead', 6],
  ]);
  expect(done[5]).toMatchObject({
    refused_runs: 1,
    error:
      'Refused runs: 1. At most 5 triggers run in a row, and 40 in all after one event, schedule or request',
  });
  expect(await list(loud, 'note')).toHaveLength(6);
});

test('five cascading triggers make as many runs as one root may have, and one record of all others', async () => {
  const refusals =
    (await metrics.registry.metrics()).match(/limit="trigger_runs_per_root".*\} (\d+)/)?.[1] ?? '0';
  const wide = [1, 2, 3, 4, 5].map((n) =>
    on('created', {
      type: 'note',
      slug: `wide-${n}`,
      cascade: true,
      actions: [{ tool: 'entity.create', args: { type: 'note', data: {} } }],
    }),
  );
  const scope = await setUp(wide);
  const id = await create(scope, 'note', {});
  const all = await until(() => settled(scope), {
    ...limits,
    isThere: (seen) => seen.some(({ refused_runs }) => refused_runs === 165),
  });
  const records = all.filter(({ refused_runs }) => refused_runs > 0);
  expect(all.filter(({ status }) => status === 'succeeded')).toHaveLength(40);
  expect(records).toMatchObject([{ status: 'dead', refused_runs: 5 + 40 * 5 - 40 }]);
  expect(all).toHaveLength(41);
  const { rows } = await db.pool.query<{
    id: string;
    entity_id: string;
    root: string | null;
    type: string;
  }>('select id, entity_id, root, type from events where tenant = $1 order by id', [scope.tenant]);
  const first = rows.find(({ entity_id, type }) => entity_id === id && type === 'entity.created')!;
  expect(first.root).toBeNull();
  expect(new Set(rows.filter((row) => row !== first).map(({ root }) => root))).toEqual(
    new Set([first.id]),
  );
  expect(rows.filter(({ type }) => type === 'trigger.failed')).toHaveLength(1);
  expect(
    (await metrics.registry.metrics()).match(/limit="trigger_runs_per_root".*\} (\d+)/)?.[1],
  ).toBe(String(Number(refusals) + 165));
});

test('a run waits for its delay or for a time in the data, and a later change can replace it', async () => {
  const scope = await setUp(
    [
      on('created', { slug: 'soon', schedule: { delay: 300 } }),
      on('created', {
        slug: 'reminder',
        schedule: { at: '{{trigger.data.startsAt}}', offset: '-1h' },
      }),
      on('created', { slug: 'past', schedule: { at: 'data.past' }, actions: [log('past')] }),
      on('created', { slug: 'unclear', schedule: { at: '{{trigger.data.n}} o clock' } }),
      on('updated', { slug: 'quiet', schedule: { delay: '2h', cancelPrevious: true } }),
    ],
    { timezone: 'America/Santiago' },
  );
  const id = await create(scope, 'order', {
    n: 1,
    startsAt: '2031-01-15T10:00',
    past: 1_500_000_000_000,
  });
  for (const n of [2, 3, 4]) await update(scope, 'order', id, { n });
  const done = await settled(scope);
  const of = (slug: string) => done.filter(({ trigger_slug }) => trigger_slug === slug);
  expect(of('soon')).toMatchObject([{ status: 'succeeded' }]);
  const [soon] = (
    await db.pool.query(
      "select started_at - created_at > interval '290 ms' as late from trigger_runs where id = $1",
      [of('soon')[0]!.id],
    )
  ).rows;
  expect(soon.late).toBe(true);
  // 10:00 in Santiago in January is 13:00 UTC.
  expect(of('reminder')).toMatchObject([
    { status: 'scheduled', run_at: new Date('2031-01-15T12:00:00Z') },
  ]);
  expect(of('past')).toMatchObject([{ status: 'succeeded' }]);
  expect(of('unclear')).toMatchObject([
    { status: 'dead', error: 'schedule.at: "1 o clock" is not a time' },
  ]);
  expect(of('quiet').map(({ status, error }) => [status, error])).toEqual([
    ['cancelled', 'Replaced by a later change'],
    ['cancelled', 'Replaced by a later change'],
    ['scheduled', null],
  ]);
  expect(of('quiet')[2]!.run_at.getTime()).toBeGreaterThan(Date.now() + 2 * hourMs - 60_000);
});

test('a cron trigger runs once per tick with several relays, and once for all ticks that an outage has missed', async () => {
  const cron: TriggerDefinition = {
    slug: 'nightly',
    name: 'nightly',
    on: { schedule: '0 * * * *', timezone: 'America/Lima' },
    actions: [log('tick {{trigger.timestamp}}')],
  };
  const scope = await setUp([cron]);
  const next = () =>
    db.pool
      .query('select next_tick_at from triggers where tenant = $1', [scope.tenant])
      .then(({ rows }) => rows[0].next_tick_at as Date | null);
  const planned = await until(next, { ...limits, isThere: (at) => at !== null });
  expect(planned!.getTime() % hourMs).toBe(0);
  expect(await runs(scope)).toEqual([]);

  // Simulates that no worker ran for three hours, and then several start at the same time.
  await db.pool.query(
    `update triggers set next_tick_at = next_tick_at - interval '3 h' where tenant = $1`,
    [scope.tenant],
  );
  await Promise.all(Array.from({ length: 4 }, () => runtime.triggers.sweep()));
  const done = await settled(scope);
  expect(done).toHaveLength(1);
  const tickMs = Number(done[0]!.cause.slice('tick-'.length));
  expect(Date.now() - tickMs).toBeLessThan(hourMs + 60_000);
  expect(done[0]).toMatchObject({
    status: 'succeeded',
    context: { missedSince: planned!.getTime() - 3 * hourMs },
  });
  expect(await texts(scope)).toEqual([`tick ${tickMs}`]);
  expect((await next())!.getTime()).toBeGreaterThan(Date.now() - 1_000);

  // Ticks while the trigger was disabled are not missed ticks.
  await push(scope, [{ ...cron, enabled: false }]);
  await until(next, { ...limits, isThere: (at) => at === null });
  await push(scope, [cron]);
  await until(next, { ...limits, isThere: (at) => at !== null });
  expect((await runs(scope)).length).toBeLessThanOrEqual(2);
}, 40_000);

test('disabling a trigger cancels its waiting runs, and new changes do not fire it', async () => {
  const scope = await setUp([on('created', { schedule: { delay: 400 } })]);
  await create(scope, 'order', { n: 1 });
  await until(() => runs(scope), { ...limits, isThere: (seen) => seen.length === 1 });
  await push(scope, [on('created', { schedule: { delay: 400 }, enabled: false })]);
  await create(scope, 'order', { n: 2 });
  const done = await settled(scope);
  expect(done.map(({ status, error }) => [status, error])).toEqual([
    ['cancelled', 'The trigger was disabled'],
  ]);
});

test('several concurrent relays plan each run once', async () => {
  const scope = await setUp([on('created', { schedule: { delay: '1h' } })]);
  await Promise.all(
    Array.from({ length: 60 }, async (_, n) => {
      await create(scope, 'order', { n });
      await runtime.triggers.relay();
    }),
  );
  await until(() => runs(scope), { ...limits, isThere: (seen) => seen.length === 60 });
  await settled(scope);
  expect(await runs(scope)).toHaveLength(60);
});

test('a worker that was paused for longer than its lease changes nothing afterwards', async () => {
  const scope = await setUp([
    on('created', { schedule: { delay: '1h' }, actions: [log('once'), log('twice')] }),
  ]);
  await create(scope, 'order', { n: 1 });
  const [run] = await until(() => runs(scope), { ...limits, isThere: (seen) => seen.length === 1 });
  const gate = Promise.withResolvers<void>();
  const blocked: typeof runtime.tools = {
    ...runtime.tools,
    describe: (...args) => gate.promise.then(() => runtime.tools.describe(...args)),
  };
  const slow = createTriggers({
    ...runtime,
    db,
    tools: blocked,
    log: silentLogger(),
    leaseMs: 300,
  });
  await makeDue(run!.id);
  const [claimed] = await slow.claimDue(scope.tenant, 1);
  const outcome = slow.execute(claimed!);
  const [taken] = await until(() => runs(scope), {
    ...limits,
    isThere: (seen) => seen[0]!.status === 'succeeded',
  });
  expect(taken).toMatchObject({ attempts: 1, fence: 2 });
  gate.resolve();
  expect(await outcome).toBe('lost');
  expect(await texts(scope)).toEqual(['once', 'twice']);
  expect((await runs(scope))[0]!.steps).toHaveLength(2);
});

test('a run that is cancelled while it is processed ends before its next effect', async () => {
  const scope = await setUp([
    on('created', { schedule: { delay: '1h' }, actions: [log('once'), log('twice')] }),
  ]);
  await create(scope, 'order', { n: 1 });
  const [run] = await until(() => runs(scope), { ...limits, isThere: (seen) => seen.length === 1 });
  let described = 0;
  const gate = Promise.withResolvers<void>();
  const blocked: typeof runtime.tools = {
    ...runtime.tools,
    describe: (...args) =>
      (described++ === 0 ? Promise.resolve() : gate.promise).then(() =>
        runtime.tools.describe(...args),
      ),
  };
  const slow = createTriggers({
    ...runtime,
    db,
    tools: blocked,
    log: silentLogger(),
    leaseMs: 60_000,
  });
  await makeDue(run!.id);
  const [claimed] = await slow.claimDue(scope.tenant, 1);
  const outcome = slow.execute(claimed!);
  await until(() => texts(scope), { ...limits, isThere: (seen) => seen.length === 1 });
  await db.pool.query(
    "update trigger_runs set status = 'cancelled', fence = fence + 1 where id = $1",
    [run!.id],
  );
  gate.resolve();
  expect(await outcome).toBe('lost');
  expect(await texts(scope)).toEqual(['once']);
});

test('a run whose workers were killed too often is dead; released runs do not count', async () => {
  const scope = await setUp([on('created', { schedule: { delay: '1h' } })]);
  for (const n of [1, 2]) await create(scope, 'order', { n });
  const [released, deadly] = await until(() => runs(scope), {
    ...limits,
    isThere: (seen) => seen.length === 2,
  });
  await db.pool.query('update trigger_runs set fence = 60, run_at = now() where id = $1', [
    released!.id,
  ]);
  await db.pool.query(
    `update trigger_runs set status = 'running', lease_expirations = 50, attempts = 1, lease_until = now() where id = $1`,
    [deadly!.id],
  );
  expect(await settled(scope)).toMatchObject([
    { status: 'succeeded', attempts: 1, lease_expirations: 0 },
    { status: 'dead', error: 'Stopped: the lease of the run expired 51 times' },
  ]);
});

test('a statement that exceeds its time limit fails the step', async () => {
  const scope = await setUp([on('created', { schedule: { delay: '1h' } })]);
  await create(scope, 'order', { n: 1 });
  const [run] = await until(() => runs(scope), { ...limits, isThere: (seen) => seen.length === 1 });
  const heavy: typeof runtime.tools = {
    ...runtime.tools,
    async run(runScope, call) {
      await call.tx?.query(scope, unprepared('set-timeout', 'set local statement_timeout = 20'));
      await call.tx?.query(scope, unprepared('sleep', 'select from pg_sleep(5)'));
      return runtime.tools.run(runScope, call);
    },
  };
  const triggers = createTriggers({ ...runtime, db, tools: heavy, log: silentLogger() });
  await makeDue(run!.id);
  const [claimed] = await triggers.claimDue(scope.tenant, 1);
  expect(await triggers.execute(claimed!)).toBe('dead');
});

test('later changes of an entity wait for a run that was released, and do not replace it', async () => {
  const slow = on('updated', { schedule: { delay: '1h', cancelPrevious: true } });
  const scope = await setUp([slow]);
  const id = await create(scope, 'order', { n: 0 });
  await update(scope, 'order', id, { n: 1 });
  const [first] = await until(() => runs(scope), {
    ...limits,
    isThere: (seen) => seen.length === 1,
  });
  // The state that a release leaves, with a longer delay.
  await db.pool.query('update trigger_runs set started_at = now() where id = $1', [first!.id]);
  await update(scope, 'order', id, { n: 2 });
  const [, second] = await until(() => runs(scope), {
    ...limits,
    isThere: (seen) => seen.length === 2,
  });
  expect((await runs(scope)).map(({ status }) => status)).toEqual(['scheduled', 'scheduled']);
  await makeDue(second!.id);
  expect(await runtime.triggers.claimDue(scope.tenant, 1)).toEqual([]);
  await db.pool.query('update trigger_runs set run_at = now() where id = $1', [first!.id]);
  await settled(scope);
  expect(await texts(scope)).toEqual(['updated 1', 'updated 2']);
});

test('firing a trigger by hand reports that the run was cancelled before its end', async () => {
  const scope = await setUp([on('created')]);
  const cancelling: typeof runtime.tools = {
    ...runtime.tools,
    async describe(...args) {
      await db.pool.query(
        `update trigger_runs set status = 'cancelled', fence = fence + 1 where tenant = $1`,
        [scope.tenant],
      );
      return runtime.tools.describe(...args);
    },
  };
  const triggers = createTriggers({ ...runtime, db, tools: cancelling, log: silentLogger() });
  expect(await triggers.fire(scope, { triggerSlug: 'on-created', data: { n: 1 } })).toMatchObject({
    ok: false,
    reason: 'cancelled',
  });
});

test('the effects of tools in a transaction are rolled back with it', async () => {
  const scope = await setUp([]);
  const id = await create(scope, 'order', { n: 1 });
  const other = await create(scope, 'order', { n: 2 });
  const calls: [name: string, args: JsonObject][] = [
    ['entity.create', { type: 'note', data: {} }],
    ['entity.update', { id, data: { n: 5 } }],
    ['entity.link', { fromId: id, relation: 'before', toId: other }],
    ['entity.delete', { id: other }],
    ['event.emit', { type: 'order.seen', entityId: id }],
  ];
  const counts = `select (select count(*) from events where tenant = $1) as events,
    (select count(*) from entity_relations where tenant = $1) as relations`;
  const before = (await db.pool.query(counts, [scope.tenant])).rows;
  await expect(
    db.transaction(async (tx) => {
      for (const [name, args] of calls) {
        expect(await runtime.tools.describe(scope, name)).toMatchObject({ transactional: true });
        const context = { hops: 0, depth: 0 };
        const result = await runtime.tools.run(scope, {
          name,
          args,
          actor: system,
          allowed: null,
          context,
          tx,
        });
        expect({ name, ...result }).toMatchObject({ name, ok: true });
      }
      throw new Error('undone');
    }),
  ).rejects.toThrow('undone');
  expect((await db.pool.query(counts, [scope.tenant])).rows).toEqual(before);
  expect((await list(scope, 'order')).map(({ data }) => data.n)).toEqual([1, 2]);
  expect(await list(scope, 'note')).toEqual([]);
});
