import type { Scope } from '@parley/contracts';
import { createTestDatabase, parseStateTable, seedOrganization } from '@parley/testing';
import { insertRuns } from './insert-runs';
import {
  type ClaimedRun,
  type RunEnd,
  type RunStep,
  claimDueRuns,
  claimRun,
  dueRuns,
  holdRuns,
  nextDueInMs,
  recordRuns,
  releaseRun,
  renewLease,
} from './run-store';
import { type TestRuns, leaseMs, expiredLeaseMs, startRuns } from './testing/start-runs';

let bench: TestRuns;
/** The scope of another organization. */
let elsewhere: Scope;
beforeAll(async () => {
  bench = await startRuns(await createTestDatabase(), (pool) => seedOrganization(pool));
  elsewhere = (await seedOrganization(bench.db.pool)).scope;
});
afterAll(() => bench.stop());

const hourMs = 3_600_000;
const step: RunStep = {
  tool: 'entity.get',
  status: 'success',
  attempt: 1,
  startedAt: 1,
  durationMs: 1,
};
const record = async (run: ClaimedRun, end?: RunEnd, forMs = leaseMs) =>
  (await recordRuns(bench.db, run.scope, [{ run, step, end }], forMs)).has(run.id);
const hold = (run: ClaimedRun) =>
  bench.db.transaction(async (tx) => (await holdRuns(tx, run.scope, [run])).has(run.id));
const retryIn = (inMs: number): RunEnd => ({ status: 'scheduled', error: 'failed', inMs });

/** Each function brings a run into a state and returns the run as its first worker claimed it. */
const states: Record<string, (id: string) => Promise<ClaimedRun>> = {
  'released, due': async (id) => {
    const run = await bench.claim(id);
    await releaseRun(bench.db, run, -1_000);
    return run;
  },
  'released for later': async (id) => {
    const run = await bench.claim(id);
    await releaseRun(bench.db, run, hourMs);
    return run;
  },
  'due again': (id) => ended(id, retryIn(-1_000)),
  'to be tried again': (id) => ended(id, retryIn(hourMs)),
  running: (id) => bench.claim(id),
  silent: (id) => bench.claim(id, expiredLeaseMs),
  'taken over': async (id) => {
    const run = await bench.claim(id, expiredLeaseMs);
    await bench.claim(id);
    return run;
  },
  succeeded: (id) => ended(id, { status: 'succeeded' }),
  dead: (id) => ended(id, { status: 'dead', error: 'failed' }),
  cancelled: (id) => ended(id, { status: 'cancelled', error: 'by hand' }),
};

async function ended(id: string, end: RunEnd): Promise<ClaimedRun> {
  const run = await bench.claim(id);
  await recordRuns(bench.db, run.scope, [{ run, end }], leaseMs);
  return run;
}

/** Operations of a worker on a run; false when the store refuses them. */
const actions: Record<string, (run: ClaimedRun) => Promise<unknown>> = {
  claim: async ({ id }) => (await claimRun(bench.db, id, leaseMs, bench.scope)) !== null,
  renewal: (run) => renewLease(bench.db, run, leaseMs),
  hold,
  step: (run) => record(run),
  success: (run) => record(run, { status: 'succeeded' }),
  failure: (run) => record(run, retryIn(1_000)),
  death: (run) => record(run, { status: 'dead', error: 'failed' }),
  cancellation: (run) => record(run, { status: 'cancelled', error: 'by hand' }),
  release: (run) => releaseRun(bench.db, run, 1_000),
};

/**
 * Each cell has the next state; `-` means refused. A silent run is running with an expired lease.
 */
const transitions = parseStateTable(`
  run                | claim   | renewal | hold    | step    | success   | failure   | death | cancellation | release
  released, due      | running | -       | -       | -       | -         | -         | -     | -            | -
  released for later | -       | -       | -       | -       | -         | -         | -     | -            | -
  due again          | running | -       | -       | -       | -         | -         | -     | -            | -
  to be tried again  | -       | -       | -       | -       | -         | -         | -     | -            | -
  running            | -       | running | running | running | succeeded | scheduled | dead  | cancelled    | scheduled
  silent             | running | running | running | running | succeeded | scheduled | dead  | cancelled    | scheduled
  taken over         | -       | -       | -       | -       | -         | -         | -     | -            | -
  succeeded          | -       | -       | -       | -       | -         | -         | -     | -            | -
  dead               | -       | -       | -       | -       | -         | -         | -     | -            | -
  cancelled          | -       | -       | -       | -       | -         | -         | -     | -            | -
`);

const eventOf: Record<string, string> = { succeeded: 'trigger.succeeded', dead: 'trigger.failed' };

describe.each(transitions)('of a run that is $row', ({ row: state, cells }) => {
  const named = Object.entries(cells).map(
    ([action, after]) =>
      [action, after === '-' ? 'is refused' : `makes it ${after}`, after] as const,
  );
  test.each(named)('the %s %s', async (action, _, after) => {
    const id = await bench.add();
    const run = await states[state]!(id);
    const before = { row: await bench.row(id), events: await bench.endsOf(id) };
    const outcome = await actions[action]!(run);
    const row = await bench.row(id);
    const events = await bench.endsOf(id);
    if (after === '-') {
      expect([false, undefined]).toContain(outcome);
      expect({ row, events }).toEqual(before);
      return;
    }
    expect([true, undefined]).toContain(outcome);
    expect(row.status).toBe(after);
    // Only success and death of a run are events.
    expect(events.map(({ type }) => type)).toEqual(after in eventOf ? [eventOf[after]] : []);
  });
});

test('a claim counts the attempt, begins a lease and increases the fence', async () => {
  await bench.addTrigger({ slug: 'on-order', actions: [{ tool: 'entity.get', args: {} }] });
  const id = await bench.add({ requestId: 'req-1', hops: 2, context: { a: 1 } });
  expect(await bench.claim(id)).toMatchObject({
    id,
    scope: bench.scope,
    triggerSlug: 'on-order',
    hops: 2,
    attempts: 1,
    maxAttempts: 3,
    fence: 1,
    leaseExpirations: 0,
    requestId: 'req-1',
    context: { a: 1 },
    steps: [],
    enabled: true,
    definition: { actions: [{ tool: 'entity.get' }] },
  });
  const { lease_until: lease, started_at: started } = await bench.row(id);
  expect(lease!.getTime() - started!.getTime()).toBe(leaseMs);
});

test('a claimed run reports that its trigger was deleted or disabled', async () => {
  await bench.addTrigger({ slug: 'off', enabled: false });
  expect(await bench.claim(await bench.add({ triggerSlug: 'off' }))).toMatchObject({
    enabled: false,
    definition: {},
  });
  const orphan = await bench.claim(await bench.add({ triggerSlug: 'no-such-trigger' }));
  expect(orphan).toMatchObject({ enabled: false, definition: null });
});

const workers = Array.from({ length: 8 });

test.each(['released, due', 'due again', 'silent'])(
  'of several workers that claim a run that is %s one gets it',
  async (state) => {
    for (let round = 0; round < 10; round += 1) {
      const id = await bench.add();
      const { fence } = await states[state]!(id);
      const claims = await Promise.all(
        workers.map(() => claimRun(bench.db, id, leaseMs, bench.scope)),
      );
      expect(claims.filter((run) => run !== null)).toMatchObject([{ id, fence: fence + 1 }]);
      expect(await bench.row(id)).toMatchObject({ status: 'running', fence: fence + 1 });
    }
  },
);

test.each(Object.keys(actions))(
  'the %s of a run is refused to another organization that knows its id and its fence',
  async (action) => {
    const id = await bench.add();
    const run = await bench.claim(id, expiredLeaseMs);
    const before = await bench.row(id);
    const outcome =
      action === 'claim'
        ? (await claimRun(bench.db, id, leaseMs, elsewhere)) !== null
        : await actions[action]!({ ...run, scope: elsewhere });
    expect([false, undefined]).toContain(outcome);
    expect(await bench.row(id)).toEqual(before);
    expect(await bench.endsOf(id)).toEqual([]);
    expect(await claimRun(bench.db, id, leaseMs, bench.scope)).toMatchObject({ id, fence: 2 });
  },
);

test('the due runs of an organization are not runs of another one', async () => {
  const entityId = 'entity_of_two';
  const id = await bench.add({ entityId, tenant: elsewhere.tenant });
  expect(
    (await claimDueRuns(bench.db, bench.scope, leaseMs, 1_000)).map((run) => run.id),
  ).not.toContain(id);
  expect(await claimDueRuns(bench.db, elsewhere, leaseMs, 1_000)).toMatchObject([
    { id, scope: elsewhere },
  ]);
});

test('a claim after an expired lease keeps the completed steps and counts no attempt', async () => {
  const id = await bench.add();
  const first = await bench.claim(id);
  expect(await record(first)).toBe(true);
  await record(first, undefined, expiredLeaseMs);
  const second = await bench.claim(id, expiredLeaseMs);
  expect(second).toMatchObject({ attempts: 1, leaseExpirations: 1, fence: 2, steps: [step, step] });
  expect(await bench.claim(id)).toMatchObject({ attempts: 1, leaseExpirations: 2, fence: 3 });
});

test('a late worker can renew its expired lease, and then the run cannot be claimed', async () => {
  const id = await bench.add();
  const run = await bench.claim(id, expiredLeaseMs);
  expect(await renewLease(bench.db, run, leaseMs)).toBe(true);
  expect(await claimRun(bench.db, id, leaseMs, bench.scope)).toBeNull();
});

test('a step renews the lease of its worker', async () => {
  const id = await bench.add();
  const run = await bench.claim(id, expiredLeaseMs);
  expect(await record(run)).toBe(true);
  expect(await claimRun(bench.db, id, leaseMs, bench.scope)).toBeNull();
  expect(await bench.row(id)).toMatchObject({ status: 'running', steps: [step], fence: 1 });
});

test('a run that a transaction has locked cannot be claimed before the transaction ends', async () => {
  const id = await bench.add();
  const run = await bench.claim(id, expiredLeaseMs);
  await bench.db.transaction(async (tx) => {
    expect(await holdRuns(tx, run.scope, [run])).toEqual(new Set([id]));
    expect(await claimRun(bench.db, id, leaseMs, bench.scope)).toBeNull();
  });
  expect(await bench.claim(id)).toMatchObject({ fence: 2 });
});

test('the end of a run is one event, even when several workers record it concurrently', async () => {
  for (const status of ['succeeded', 'dead'] as const) {
    const id = await bench.add();
    const stale = await bench.claim(id, expiredLeaseMs);
    const run = await bench.claim(id);
    const end: RunEnd = status === 'dead' ? { status, error: 'x' } : { status };
    const recorded = await Promise.all(
      [stale, run, run, stale, run].map((one) => record(one, end)),
    );
    expect(recorded.filter(Boolean)).toHaveLength(1);
    expect(await bench.endsOf(id)).toHaveLength(1);
    expect((await bench.row(id)).steps).toEqual([step]);
  }
});

test('the event of an end has the run, its trigger, attempts, error and request', async () => {
  const id = await bench.add({ hops: 4, requestId: 'req-2', entityId: 'entity_of_event' });
  await record(await bench.claim(id), { status: 'dead', error: 'entity.get: Entity not found' });
  expect(await bench.endsOf(id)).toMatchObject([
    {
      type: 'trigger.failed',
      hops: 4,
      requestId: 'req-2',
      actor: { type: 'system', trigger: 'on-order' },
      payload: {
        runId: id,
        triggerSlug: 'on-order',
        entityId: 'entity_of_event',
        attempts: 1,
        error: 'entity.get: Entity not found',
      },
    },
  ]);
});

test('the error of a failure is kept until the run ends', async () => {
  const id = await bench.add();
  await record(await bench.claim(id), {
    status: 'scheduled',
    error: 'e'.repeat(5_000),
    inMs: -1_000,
  });
  const waiting = await bench.row(id);
  expect(waiting).toMatchObject({
    attempts: 1,
    lease_until: null,
    enqueued_at: null,
    finished_at: null,
  });
  expect(waiting.error).toHaveLength(4_000);
  const again = await bench.claim(id);
  expect(again).toMatchObject({ attempts: 2, leaseExpirations: 0, steps: [step] });
  expect(await record(again)).toBe(true);
  expect((await bench.row(id)).error).toBe(waiting.error);
  await record(again, { status: 'succeeded' });
  const done = await bench.row(id);
  expect(done).toMatchObject({ status: 'succeeded', error: null, lease_until: null, attempts: 2 });
  expect(done.finished_at).toEqual(expect.any(Date));
  expect(done.started_at).toEqual(waiting.started_at);
});

test('after a failure or a release a run is due after its delay, and its job is sent again', async () => {
  for (const wait of [
    (run: ClaimedRun) => record(run, retryIn(hourMs)),
    (run: ClaimedRun) => releaseRun(bench.db, run, hourMs),
  ]) {
    const id = await bench.add();
    const fromMs = Date.now();
    await wait(await bench.claim(id));
    const { run_at: at, enqueued_at: enqueued } = await bench.row(id);
    expect(Math.abs(at.getTime() - fromMs - hourMs)).toBeLessThan(20_000);
    expect(enqueued).toBeNull();
  }
});

test('a release does not count as an attempt', async () => {
  const id = await bench.add();
  await releaseRun(bench.db, await bench.claim(id), -1_000);
  expect(await bench.row(id)).toMatchObject({ attempts: 0, lease_until: null, error: null });
  expect(await bench.claim(id)).toMatchObject({ attempts: 1, fence: 2, leaseExpirations: 0 });
});

describe('a later run of the same entity', () => {
  /** Whether a run can be claimed, by the state of the previous run. */
  const order = parseStateTable(`
    run before         | same trigger | other trigger
    due                | no           | no
    due later          | yes          | yes
    released, due      | no           | no
    released for later | no           | no
    due again          | no           | yes
    to be tried again  | no           | yes
    running            | no           | no
    silent             | no           | no
    succeeded          | yes          | yes
    dead               | yes          | yes
    cancelled          | yes          | yes
  `);
  const cases = order.flatMap(({ row, cells }) =>
    Object.entries(cells).map(([key, cell]) => [row, key, cell] as const),
  );

  test.each(cases)(
    'behind one that is %s, of the %s, may begin: %s',
    async (state, trigger, answer) => {
      const entityId = `entity_${state}_${trigger}`;
      const first = await bench.add({
        entityId,
        ...(state === 'due later' && { runAtMs: Date.now() + hourMs }),
      });
      if (state in states) await states[state]!(first);
      const second = await bench.add({
        entityId,
        triggerSlug: trigger === 'same trigger' ? 'on-order' : 'other',
      });
      const unrelated = await bench.add({ entityId: `${entityId}_2` });
      const jobs = await dueRuns(bench.db, { limit: 1_000, lostAfterMs: -1_000 });
      expect(jobs.some(({ id }) => id === second)).toBe(answer === 'yes');
      const claimed = await claimRun(bench.db, second, leaseMs, bench.scope);
      expect(claimed === null ? 'no' : 'yes').toBe(answer);
      expect(await claimRun(bench.db, unrelated, leaseMs, bench.scope)).not.toBeNull();
    },
  );

  test('does not block an earlier one', async () => {
    const entityId = 'entity_earlier';
    const first = await bench.add({ entityId, runAtMs: Date.now() + hourMs });
    const second = await bench.add({ entityId });
    await bench.claim(second);
    await bench.db.pool.query(
      "update trigger_runs set run_at = now() - interval '1 s' where id = $1",
      [first],
    );
    expect(await bench.claim(first)).toMatchObject({ id: first });
  });

  test('begins when the previous one has ended, with any number of workers', async () => {
    await bench.db.pool.query('delete from trigger_runs');
    const entityId = 'entity_of_many';
    const ids: string[] = [];
    for (let n = 0; n < 12; n += 1)
      ids.push(await bench.add({ entityId, triggerSlug: `t${n % 3}` }));
    const seen: string[] = [];
    let atWork = 0;
    const work = async () => {
      while (seen.length < ids.length) {
        const claimed = await claimDueRuns(bench.db, bench.scope, leaseMs, 10);
        if (claimed.length === 0) continue;
        // A claim has only the first of the runs of an entity.
        expect(claimed).toHaveLength(1);
        const run = claimed[0]!;
        atWork += 1;
        seen.push(run.id);
        expect(atWork).toBe(1);
        await hold(run);
        atWork -= 1;
        await record(run, { status: 'succeeded' });
      }
    };
    await Promise.all([work(), work(), work(), work()]);
    expect(seen).toEqual(ids);
  });
});

describe('a run that is inserted', () => {
  test('with the same cause is stored once, even by concurrent calls', async () => {
    const runs = workers.map(() => bench.newRun({ cause: 'event-same' }));
    const due = await Promise.all(runs.map((run) => insertRuns(bench.db, [run])));
    expect(due.flat()).toHaveLength(1);
    const { rows } = await bench.db.pool.query(
      "select id from trigger_runs where cause = 'event-same'",
    );
    expect(rows).toEqual([{ id: due.flat()[0]!.id }]);
  });

  test('is returned for its job only when it is due', async () => {
    const now = bench.newRun({ requestId: 'req-3' });
    const later = bench.newRun({ runAtMs: Date.now() + hourMs });
    expect(await insertRuns(bench.db, [now, later])).toMatchObject([
      { id: now.id, requestId: 'req-3' },
    ]);
    expect((await bench.row(now.id)).enqueued_at).toEqual(expect.any(Date));
    expect((await bench.row(later.id)).enqueued_at).toBeNull();
  });

  test('with a problem is dead immediately, is never executed, and is one event', async () => {
    const run = bench.newRun({ problem: 'schedule.at: "soon" is not a time' });
    expect(await insertRuns(bench.db, [run])).toEqual([]);
    expect(await insertRuns(bench.db, [{ ...run, id: 'run_twin' }])).toEqual([]);
    expect(await bench.row(run.id)).toMatchObject({
      status: 'dead',
      error: run.problem,
      attempts: 0,
    });
    expect(await claimRun(bench.db, run.id, leaseMs, bench.scope)).toBeNull();
    expect(await bench.endsOf(run.id)).toMatchObject([
      { type: 'trigger.failed', payload: { error: run.problem } },
    ]);
    expect(await bench.endsOf('run_twin')).toEqual([]);
  });
});

describe('a run that replaces earlier ones', () => {
  /**
   * The state of a run after a later change of the entity has replaced runs that have not begun.
   */
  test.each([
    ['due', 'cancelled'],
    ['due later', 'cancelled'],
    ['released, due', 'scheduled'],
    ['released for later', 'scheduled'],
    ['due again', 'scheduled'],
    ['to be tried again', 'scheduled'],
    ['running', 'running'],
    ['silent', 'running'],
    ['succeeded', 'succeeded'],
    ['dead', 'dead'],
  ])('leaves one that is %s %s', async (state, after) => {
    const entityId = `entity_replaced_${state}`;
    const id = await bench.add({
      entityId,
      ...(state === 'due later' && { runAtMs: Date.now() + hourMs }),
    });
    if (state in states) await states[state]!(id);
    const before = await bench.row(id);
    const events = await bench.endsOf(id);
    await bench.add({ entityId, cancelsPrevious: true });
    const row = await bench.row(id);
    if (after === 'cancelled') {
      expect(row).toMatchObject({ status: 'cancelled', error: 'Replaced by a later change' });
      expect(row.finished_at).toEqual(expect.any(Date));
    } else expect(row).toEqual(before);
    expect(row.status).toBe(after);
    expect(await bench.endsOf(id)).toEqual(events);
  });

  test('does not replace runs of other triggers, entities, environments and later changes', async () => {
    const entityId = 'entity_replaced';
    const runAtMs = Date.now() + hourMs;
    const replacing = bench.newRun({ entityId, cancelsPrevious: true, runAtMs });
    const earlier = { entityId, runAtMs, eventId: String(Number(replacing.eventId) - 1) };
    const kept = [
      bench.newRun({ ...earlier, triggerSlug: 'other' }),
      bench.newRun({ ...earlier, entityId: 'entity_other' }),
      bench.newRun({ ...earlier, environment: 'production' }),
      bench.newRun({ ...earlier, tenant: elsewhere.tenant }),
      bench.newRun({ ...earlier, eventId: String(Number(replacing.eventId) + 1_000) }),
    ];
    const replaced = bench.newRun(earlier);
    await insertRuns(bench.db, [...kept, replaced]);
    await insertRuns(bench.db, [replacing]);
    const statuses = await Promise.all(
      [...kept, replaced, replacing].map(async ({ id }) => (await bench.row(id)).status),
    );
    expect(statuses).toEqual([...kept.map(() => 'scheduled'), 'cancelled', 'scheduled']);
  });

  test('replaces nothing when it already existed or is stored as dead', async () => {
    const entityId = 'entity_not_replaced';
    const runAtMs = Date.now() + hourMs;
    const replacing = bench.newRun({ entityId, cancelsPrevious: true, runAtMs });
    await insertRuns(bench.db, [replacing]);
    const eventId = String(Number(replacing.eventId) - 1);
    const id = await bench.add({ entityId, runAtMs, eventId });
    await insertRuns(bench.db, [{ ...replacing, id: 'run_again' }]);
    await bench.add({ entityId, runAtMs, cancelsPrevious: true, problem: 'no time' });
    expect((await bench.row(id)).status).toBe('scheduled');
  });

  test('inserted while a worker claims the earlier one leaves that claimed or cancelled, never both', async () => {
    for (let round = 0; round < 20; round += 1) {
      const entityId = `entity_race_${round}`;
      const id = await bench.add({ entityId });
      const [claimed] = await Promise.all([
        claimRun(bench.db, id, leaseMs, bench.scope),
        bench.add({ entityId, cancelsPrevious: true }),
      ]);
      expect((await bench.row(id)).status).toBe(claimed === null ? 'cancelled' : 'running');
      if (claimed !== null) expect(await record(claimed, { status: 'succeeded' })).toBe(true);
    }
  });
});

describe('the sweep', () => {
  const due = async (lostAfterMs: number, ids: string[]) =>
    (await dueRuns(bench.db, { limit: 1_000, lostAfterMs }))
      .map(({ id }) => id)
      .filter((id) => ids.includes(id));

  test('sends the job of a due run once, and again when it is considered lost', async () => {
    const id = await bench.add();
    expect(await due(hourMs, [id])).toEqual([]);
    await bench.db.pool.query('update trigger_runs set enqueued_at = null where id = $1', [id]);
    const sweeps = await Promise.all(workers.map(() => due(hourMs, [id])));
    expect(sweeps.flat()).toEqual([id]);
    await bench.db.pool.query(
      "update trigger_runs set enqueued_at = now() - interval '2 h' where id = $1",
      [id],
    );
    expect(await due(hourMs, [id])).toEqual([id]);
    expect(await due(hourMs, [id])).toEqual([]);
  });

  test('finds runs whose lease has expired, and no others', async () => {
    const ids: Record<string, string> = {};
    for (const [state, enter] of Object.entries(states)) {
      const id = (ids[state] = await bench.add());
      await enter(id);
      await bench.db.pool.query(
        "update trigger_runs set enqueued_at = now() - interval '2 s' where id = $1",
        [id],
      );
    }
    const found = await due(1_000, Object.values(ids));
    expect(found.sort()).toEqual([ids['released, due'], ids['due again'], ids.silent].sort());
  });

  test('returns the time until the next run is due', async () => {
    await bench.db.pool.query(
      "update trigger_runs set run_at = now() - interval '1 s' where status = 'scheduled'",
    );
    expect(await nextDueInMs(bench.db)).toBeNull();
    await bench.add({ runAtMs: Date.now() + 2 * hourMs });
    await bench.add({ runAtMs: Date.now() + hourMs });
    expect(Math.abs((await nextDueInMs(bench.db))! - hourMs)).toBeLessThan(20_000);
  });
});

describe('the sweep over tenants', () => {
  /** Adds due runs of an organization, each of a new entity unless `entityId` is given. */
  const addMany = async (name: 'many' | 'few', count: number, entityId: string | null = null) => {
    const { tenant, environment } = name === 'many' ? bench.scope : elsewhere;
    await bench.db.pool.query(
      `insert into trigger_runs (id, tenant, environment, trigger_slug, cause, entity_id, event_id, run_at, context)
       select $1 || '_run_' || n, $4, $5::"Environment", 'on-order', 'event-' || n, coalesce($3, $1 || n), n,
         now() - interval '1 hour', '{}' from generate_series(1, $2::int) n`,
      [name, count, entityId, tenant, environment],
    );
  };
  const sweep = async (limit = 1_000) =>
    (await dueRuns(bench.db, { limit, lostAfterMs: hourMs })).map(({ id }) => id);
  const few = ['few_run_1', 'few_run_2', 'few_run_3'];
  beforeEach(() => bench.db.pool.query('delete from trigger_runs'));

  test('sends the runs of a tenant immediately despite the backlog of another, and each run once', async () => {
    await addMany('many', 5_000);
    await addMany('few', 3);
    await bench.db.pool.query(
      "update trigger_runs set run_at = now() - interval '1 minute' where id = any($1)",
      [few],
    );
    const sweeps = await Promise.all([sweep(), sweep()]);
    expect(sweeps.map((ids) => ids.length)).toEqual([1_000, 1_000]);
    expect(new Set(sweeps.flat()).size).toBe(2_000);
    expect(sweeps.flat()).toEqual(expect.arrayContaining(few));
    for (let left = 3_003; left > 0; left -= 1_000)
      expect(await sweep()).toHaveLength(Math.min(left, 1_000));
    expect(await sweep()).toEqual([]);
  });

  test('finds runs of a tenant when all runs of another wait for an earlier one', async () => {
    await addMany('many', 5_000, 'entity_blocked');
    await bench.claim('many_run_1');
    await addMany('few', 3);
    expect((await sweep(10)).sort()).toEqual(few);
  });

  test('a worker takes the due runs of a tenant in the order in which they became due', async () => {
    await addMany('many', 3);
    await addMany('few', 1);
    const set = (id: string, what: string) =>
      bench.db.pool.query(`update trigger_runs set ${what} where id = $1`, [id]);
    const next = async () => (await claimDueRuns(bench.db, bench.scope, leaseMs, 1))[0]?.id ?? null;
    await set('many_run_3', "run_at = now() - interval '2 hours'");
    await set('many_run_1', `entity_id = 'of a later run', event_id = 9`);
    await set(
      'many_run_2',
      `entity_id = 'of a later run', event_id = 8, run_at = now() - interval '1 minute'`,
    );
    // The run of the later event waits for the other, although it has been due for longer.
    expect([await next(), await next(), await next()]).toEqual(['many_run_3', 'many_run_2', null]);
    await set('many_run_3', "lease_until = now() - interval '1 s'");
    expect(await next()).toBe('many_run_3');
  });

  test('a worker does not take a run that fire-trigger has just stored for itself', async () => {
    await addMany('many', 1);
    await bench.db.pool.query("update trigger_runs set cause = 'manual-1', enqueued_at = now()");
    expect(await claimDueRuns(bench.db, bench.scope, leaseMs, 1)).toEqual([]);
    // Its process has ended. The sweep has just found the run.
    await bench.db.pool.query(
      "update trigger_runs set created_at = now() - interval '6 s', enqueued_at = now()",
    );
    expect(await claimDueRuns(bench.db, bench.scope, leaseMs, 1)).toMatchObject([
      { id: 'many_run_1' },
    ]);
  });

  test('finds runs with an expired lease behind a backlog', async () => {
    await addMany('many', 5_000);
    await addMany('few', 1);
    expect(await claimRun(bench.db, 'few_run_1', expiredLeaseMs, elsewhere)).not.toBeNull();
    expect(await sweep(20)).toContain('few_run_1');
  });
});
