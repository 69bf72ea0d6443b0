import type { Json, JsonObject, TriggerDefinition } from '@parley/contracts';
import { createChannels } from '@parley/channels';
import { createSecretBox } from '@parley/db';
import type { Entities } from '@parley/entities';
import {
  type ProviderServer,
  countStatements,
  createTestDatabase,
  seedOrganization,
  startProviderServer,
  until,
} from '@parley/testing';
import { createTestTools } from '@parley/tools/testing';
import { type ExecuteDeps, executeRun } from './execute-run';
import { claimRun } from './run-store';
import { groupSteps } from './group-steps';
import { type TestRuns, leaseMs, expiredLeaseMs, startRuns } from './testing/start-runs';

let bench: TestRuns;
let entities: Entities;
let provider: ProviderServer;
/** The e-mail provider waits for this promise before it answers. */
let beforeAnswer: () => Promise<void> | void = () => {};
let calls = 0;
let deps: ExecuteDeps;

beforeAll(async () => {
  bench = await startRuns(await createTestDatabase(), (pool) =>
    seedOrganization(pool, { entityTypes: [{ slug: 'log', name: 'log', schema: {} }] }),
  );
  provider = await startProviderServer(async () => {
    calls += 1;
    await beforeAnswer();
    return { status: 200, body: { id: `email-${calls}` } };
  });
  const { db } = bench;
  const log = { error: () => {}, warn: () => {} };
  const channels = createChannels({
    db,
    box: createSecretBox(Buffer.alloc(32).toString('base64')),
    settings: {
      KAPSO_API_URL: provider.url,
      RESEND_API_URL: provider.url,
      RESEND_API_KEY: 'k',
      EMAIL_FROM: 'a@b.cl',
    },
    log,
  });
  const { tools, entities: stored } = createTestTools(db, { channels, log });
  entities = stored;
  deps = {
    db,
    tools,
    log,
    leaseMs,
    together: groupSteps({ db, leaseMs }),
  };
});
afterEach(() => {
  beforeAnswer = () => {};
});
afterAll(async () => {
  await provider.stop();
  await bench.stop();
});

type Action = TriggerDefinition['actions'][number];
const log = (text: string): Action => ({
  tool: 'entity.create',
  args: { type: 'log', data: { text } },
});
const missing: Action = { tool: 'entity.get', args: { id: 'entity_missing' } };
const email: Action = {
  tool: 'email.send',
  args: { to: 'c@d.cl', subject: 'Hello', text: 'Hello' },
};

let count = 0;
/** Adds a due run of a new trigger. */
async function addRun(
  actions: Action[],
  {
    retry,
    enabled,
    cause,
    maxAttempts = 1,
    context,
  }: Partial<TriggerDefinition> & {
    cause?: string;
    maxAttempts?: number;
    context?: JsonObject;
  } = {},
) {
  const slug = `trigger-${(count += 1)}`;
  await bench.addTrigger({ slug, actions, enabled, ...(retry && { retry }) });
  return {
    slug,
    id: await bench.add({
      triggerSlug: slug,
      maxAttempts,
      ...(cause !== undefined && { cause }),
      ...(context && { context }),
    }),
  };
}

const run = async (id: string, forMs = leaseMs, signal?: AbortSignal) =>
  executeRun(deps, await bench.claim(id, forMs), signal);
const becomesDue = (id: string) =>
  bench.db.pool.query("update trigger_runs set run_at = now() - interval '1 s' where id = $1", [
    id,
  ]);
async function texts(prefix: string): Promise<unknown[]> {
  const listed = await entities.list(bench.scope, { type: 'log', limit: 100 });
  if (!listed.ok) throw new Error(listed.reason);
  const { data } = JSON.parse(listed.page.json) as { data: { data: JsonObject }[] };
  return data
    .map(({ data: { text } }) => text)
    .filter((text) => String(text).startsWith(prefix))
    .reverse();
}
const endsOf = async (id: string) => (await bench.endsOf(id)).map(({ type }) => type);

test('a run whose actions are completed has succeeded, with one event, and is not executed again', async () => {
  const { id } = await addRun([log('a1'), log('a2')]);
  expect(await run(id)).toBe('succeeded');
  expect(await bench.row(id)).toMatchObject({ status: 'succeeded', attempts: 1, error: null });
  expect(await texts('a')).toEqual(['a1', 'a2']);
  expect(await endsOf(id)).toEqual(['trigger.succeeded']);
  expect(await claimRun(bench.db, id, leaseMs, bench.scope)).toBeNull();
});

test('the data of an entity is a literal in filters, and one recipient of an e-mail', async () => {
  for (const text of ['f1', 'f2'])
    await entities.create(bench.scope, { type: 'log', data: { text }, actor: { type: 'system' } });
  const find = (filters: JsonObject | string): Action => ({
    tool: 'entity.query',
    args: { type: 'log', filters },
    as: 'found',
  });
  const end = async (action: Action, data: JsonObject) => {
    const { id } = await addRun([action], { context: { data } });
    const outcome = await run(id);
    const [step] = (await bench.row(id)).steps;
    const { data: found } = (step!.result ?? {}) as { data?: unknown[] };
    return { outcome, found: found?.length, error: step!.error };
  };
  const byText = find({ 'data.text': '{{trigger.data.text}}' });
  expect(await end(byText, { text: 'f1' })).toMatchObject({ found: 1 });
  for (const text of <Json[]>[
    { $ne: 'nobody' },
    { $contains: 'f' },
    {},
    { $exists: true, a: 1 },
    ['f1'],
  ])
    expect(await end(byText, { text })).toMatchObject({ outcome: 'succeeded', found: 0 });
  const inList = find({ 'data.text': { $in: '{{trigger.data.text}}' } });
  expect(await end(inList, { text: ['f1', 'f2'] })).toMatchObject({ found: 2 });
  expect(await end(inList, { text: { $ne: 'nobody' } })).toMatchObject({
    outcome: 'dead',
    error: expect.stringContaining('$in takes an array'),
  });
  expect(await end(find('{{trigger.data.filters}}'), { filters: {} })).toEqual({
    outcome: 'dead',
    error: '{{trigger.data.filters}} cannot be all of "filters": name each field',
  });
  const before = calls;
  for (const field of ['to', 'cc', 'bcc', 'replyTo']) {
    const mail = { ...email, args: { ...email.args, [field]: '{{trigger.data.email}}' } };
    expect(await end(mail, { email: ['a@b.cl', 'c@d.cl'] })).toEqual({
      outcome: 'dead',
      error: `{{trigger.data.email}} makes a list of "${field}"`,
    });
  }
  expect(calls).toBe(before);
  expect(
    await end(
      { ...email, args: { ...email.args, to: '{{trigger.data.email}}' } },
      { email: 'a@b.cl' },
    ),
  ).toEqual({
    outcome: 'succeeded',
  });
});

test('a run of one action takes 6 statements: claim, transaction of the action with its step, and end', async () => {
  await run((await addRun([log('measured 1')])).id); // caches the entity type and its fields
  const { id } = await addRun([log('measured 2')]);
  expect(await countStatements(bench.db.pool, () => run(id))).toBe(6);
});

test('a failed run is retried from the failed step, after increasing delays, and then is dead', async () => {
  const { id } = await addRun([log('b'), missing], {
    maxAttempts: 3,
    retry: { maxAttempts: 3, backoffMs: 60_000 },
  });
  for (const [outcome, status, waitMs] of [
    ['retry', 'scheduled', 60_000],
    ['retry', 'scheduled', 120_000],
    ['dead', 'dead', null],
  ] as const) {
    expect(await endsOf(id)).toEqual([]);
    const fromMs = Date.now();
    expect(await run(id)).toBe(outcome);
    const row = await bench.row(id);
    expect(row).toMatchObject({ status, error: 'entity.get: Entity not found' });
    if (waitMs !== null)
      expect(Math.abs(row.run_at.getTime() - fromMs - waitMs)).toBeLessThan(20_000);
    await becomesDue(id);
  }
  expect(
    (await bench.row(id)).steps.map(({ tool, status, attempt }) => [tool, status, attempt]),
  ).toEqual([
    ['entity.create', 'success', 1],
    ['entity.get', 'error', 1],
    ['entity.get', 'error', 2],
    ['entity.get', 'error', 3],
  ]);
  expect(await texts('b')).toEqual(['b']);
  expect(await endsOf(id)).toEqual(['trigger.failed']);
});

test('the delay before a retry is at most an hour', async () => {
  const { id } = await addRun([missing], { maxAttempts: 100 });
  await bench.db.pool.query('update trigger_runs set attempts = 40 where id = $1', [id]);
  const fromMs = Date.now();
  expect(await run(id)).toBe('retry');
  expect(Math.abs((await bench.row(id)).run_at.getTime() - fromMs - 3_600_000)).toBeLessThan(
    20_000,
  );
});

test('a worker whose run was claimed by another has no effect, and the run is executed once', async () => {
  const { id } = await addRun([log('c1'), log('c2')]);
  const stale = await bench.claim(id, expiredLeaseMs);
  const fresh = await bench.claim(id);
  expect(await executeRun(deps, stale)).toBe('lost');
  expect(await texts('c')).toEqual([]);
  expect(await executeRun(deps, fresh)).toBe('succeeded');
  expect(await executeRun(deps, stale)).toBe('lost');
  expect(await texts('c')).toEqual(['c1', 'c2']);
  expect(await endsOf(id)).toEqual(['trigger.succeeded']);
});

test('when a worker and the one that claimed its run work concurrently, each action has its effect once', async () => {
  const { id } = await addRun([log('d1'), log('d2'), log('d3')]);
  const stale = await bench.claim(id, expiredLeaseMs);
  const staleOutcome = executeRun({ ...deps, leaseMs: expiredLeaseMs }, stale);
  const others: string[] = [];
  for (let other = null; (await bench.row(id)).status === 'running';) {
    other = await claimRun(bench.db, id, expiredLeaseMs, bench.scope);
    if (other !== null) others.push(await executeRun(deps, other));
  }
  const outcomes = [await staleOutcome, ...others];
  expect(outcomes.filter((outcome) => outcome === 'succeeded')).toHaveLength(1);
  expect(await texts('d')).toEqual(['d1', 'd2', 'd3']);
  expect(await endsOf(id)).toEqual(['trigger.succeeded']);
});

test('a worker that stops releases its run immediately, and the next one continues after the completed steps', async () => {
  const { id } = await addRun([log('e1'), email, log('e2')]);
  const stop = new AbortController();
  beforeAnswer = () => stop.abort();
  expect(await run(id, leaseMs, stop.signal)).toBe('released');
  expect(await bench.row(id)).toMatchObject({
    status: 'scheduled',
    attempts: 0,
    error: null,
    steps: [{}, {}],
  });
  const before = calls;
  expect(await run(id)).toBe('succeeded');
  expect(calls).toBe(before);
  expect(await texts('e')).toEqual(['e1', 'e2']);
});

test('a run cannot be claimed during the transaction of a step, even when its lease has expired', async () => {
  const { id } = await addRun([log('l')]);
  const blocker = await bench.db.pool.connect();
  try {
    await blocker.query('begin; lock table entities in exclusive mode');
    const outcome = executeRun(deps, await bench.claim(id, expiredLeaseMs));
    const waits = `select from pg_locks where not granted and relation = 'entities'::regclass`;
    await until(async () => (await bench.db.pool.query(waits)).rowCount !== 0, { everyMs: 1 });
    expect(await claimRun(bench.db, id, leaseMs, bench.scope)).toBeNull();
    await blocker.query('commit');
    expect(await outcome).toBe('succeeded');
  } finally {
    blocker.release();
  }
  expect(await bench.row(id)).toMatchObject({
    status: 'succeeded',
    fence: 1,
    lease_expirations: 0,
  });
});

describe('while a tool works outside of the database for longer than the lease', () => {
  async function begin() {
    const { id } = await addRun([email, log('f')]);
    const gate = Promise.withResolvers<void>();
    beforeAnswer = () => gate.promise;
    const before = calls;
    const outcome = executeRun({ ...deps, leaseMs: 150 }, await bench.claim(id, 150));
    await until(() => calls !== before, { everyMs: 5 });
    return { id, outcome, answer: gate.resolve };
  }

  test('its worker keeps the run', async () => {
    const { id, outcome, answer } = await begin();
    const { lease_until: first } = await bench.row(id);
    for (let beats = 0, last = first; beats < 6;) {
      const { lease_until: lease } = await bench.row(id);
      if (lease!.getTime() > last!.getTime()) [last, beats] = [lease, beats + 1];
    }
    answer();
    expect(await outcome).toBe('succeeded');
  });

  test('its worker stops when the run is cancelled', async () => {
    const { id, outcome, answer } = await begin();
    const done = (await texts('f')).length;
    await bench.db.pool.query(
      `update trigger_runs set status = 'cancelled', fence = fence + 1, lease_until = null where id = $1`,
      [id],
    );
    // The provider has not answered, and the time limit of 12 s is not reached.
    const fromMs = Date.now();
    expect(await outcome).toBe('lost');
    expect(Date.now() - fromMs).toBeLessThan(10_000);
    answer();
    expect(await bench.row(id)).toMatchObject({ status: 'cancelled', steps: [] });
    expect((await texts('f')).length).toBe(done);
    expect(await endsOf(id)).toEqual([]);
  });
});

describe('a run is not executed', () => {
  const setRow = (id: string, set: string) =>
    bench.db.pool.query(`update trigger_runs set ${set} where id = $1`, [id]);

  test('when its trigger was deleted', async () => {
    const id = await bench.add({ triggerSlug: 'never-there' });
    expect(await run(id)).toBe('cancelled');
    expect(await bench.row(id)).toMatchObject({
      status: 'cancelled',
      error: 'The trigger was deleted',
    });
    expect(await endsOf(id)).toEqual([]);
  });

  test('when its trigger was disabled, unless it was fired by hand', async () => {
    const { id } = await addRun([log('g1')], { enabled: false });
    expect(await run(id)).toBe('cancelled');
    expect(await bench.row(id)).toMatchObject({
      status: 'cancelled',
      error: 'The trigger was disabled',
    });
    const byHand = await addRun([log('g2')], { enabled: false, cause: 'manual-1' });
    expect(await run(byHand.id)).toBe('succeeded');
    expect(await texts('g')).toEqual(['g2']);
  });

  test('when its lease expired too often', async () => {
    const { id } = await addRun([log('h')]);
    await bench.claim(id, expiredLeaseMs);
    await setRow(id, 'lease_expirations = 50');
    expect(await run(id)).toBe('dead');
    expect((await bench.row(id)).error).toBe('Stopped: the lease of the run expired 51 times');
    expect(await endsOf(id)).toEqual(['trigger.failed']);
    expect(await texts('h')).toEqual([]);
  });

  test('when its actions were changed while it was in progress', async () => {
    const { id, slug } = await addRun([log('i1'), missing, log('i2')], { maxAttempts: 2 });
    expect(await run(id)).toBe('retry');
    await bench.addTrigger({ slug, actions: [missing, log('i3')] });
    await becomesDue(id);
    expect(await run(id)).toBe('dead');
    expect((await bench.row(id)).error).toBe(
      'The actions of the trigger were changed while this run was in progress',
    );
    expect(await texts('i')).toEqual(['i1']);
  });

  test('and has succeeded when its remaining actions were removed', async () => {
    const { id, slug } = await addRun([log('j'), missing], { maxAttempts: 2 });
    expect(await run(id)).toBe('retry');
    await bench.addTrigger({ slug, actions: [log('j')] });
    await becomesDue(id);
    expect(await run(id)).toBe('succeeded');
    expect(await bench.row(id)).toMatchObject({ status: 'succeeded', error: null });
    expect(await texts('j')).toEqual(['j']);
  });
});

describe('a step that PostgreSQL rejects', () => {
  afterEach(() => bench.db.pool.query('drop function refuse cascade'));

  test.each([
    ['a deadlock', '40P01', 'released'],
    ['a transaction that cannot be serialized', '40001', 'released'],
    ['a lock that is not free', '55P03', 'released'],
    ['a time limit', '57014', 'dead'],
    ['anything else', 'P0001', 'dead'],
  ] as const)('because of %s (%s) leaves the run %s', async (_reason, code, outcome) => {
    await bench.db.pool.query(
      `create function refuse() returns trigger language plpgsql as $$
         begin raise exception 'refused' using errcode = '${code}'; end $$;
       create trigger refuse before insert on entities for each row execute function refuse()`,
    );
    const { id } = await addRun([log('k')]);
    expect(await run(id)).toBe(outcome);
    expect(await texts('k')).toEqual([]);
    expect(await bench.row(id)).toMatchObject(
      outcome === 'dead'
        ? { status: 'dead', attempts: 1, error: 'entity.create: failed unexpectedly' }
        : { status: 'scheduled', attempts: 0, error: null, steps: [] },
    );
    expect(await endsOf(id)).toEqual(outcome === 'dead' ? ['trigger.failed'] : []);
  });
});
