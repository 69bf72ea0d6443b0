import type { JsonObject, TriggerDefinition } from '@parley/contracts';
import { createChannels } from '@parley/channels';
import { createSecretBox } from '@parley/db';
import type { Entities } from '@parley/entities';
import { countStatements, createTestDatabase, seedOrganization, until } from '@parley/testing';
import { createTestTools } from '@parley/tools/testing';
import { type ExecuteDeps, executeRun } from './execute-run';
import { groupSteps } from './group-steps';
import { type ClaimedRun, claimDueRuns } from './run-store';
import { type TestRuns, expiredLeaseMs, leaseMs, startRuns } from './testing/start-runs';

let bench: TestRuns;
let entities: Entities;
let deps: ExecuteDeps;
beforeAll(async () => {
  bench = await startRuns(await createTestDatabase(), (pool) =>
    seedOrganization(pool, { entityTypes: [{ slug: 'log', name: 'log', schema: {} }] }),
  );
  const { db } = bench;
  const log = { error: () => {}, warn: () => {} };
  const channels = createChannels({
    db,
    box: createSecretBox(Buffer.alloc(32).toString('base64')),
    settings: { KAPSO_API_URL: 'http://127.0.0.1:9', RESEND_API_URL: 'http://127.0.0.1:9' },
    log,
  });
  const { tools, entities: stored } = createTestTools(db, { channels, log });
  entities = stored;
  deps = { db, tools, log, leaseMs, together: groupSteps({ db, leaseMs }) };
});
beforeEach(async () => {
  await bench.db.pool.query('delete from trigger_runs');
  // A new group, without the actions that were slow or have failed in an earlier test.
  deps = { ...deps, together: groupSteps({ db: bench.db, leaseMs }) };
});
afterAll(() => bench.stop());

type Action = TriggerDefinition['actions'][number];
const log = (text: string): Action => ({
  tool: 'entity.create',
  args: { type: 'log', data: { text } },
});
/** PostgreSQL refuses the text. */
const poison: Action = log('refused by PostgreSQL');

let count = 0;
/** Adds due runs, each of its own trigger, and claims them. */
async function claimed(actions: Action[][], forMs = leaseMs): Promise<ClaimedRun[]> {
  for (const given of actions) {
    const slug = `trigger-${(count += 1)}`;
    await bench.addTrigger({ slug, actions: given });
    await bench.add({ triggerSlug: slug, maxAttempts: 1 });
  }
  return claimDueRuns(bench.db, bench.scope, forMs, 100);
}
const execute = (runs: readonly ClaimedRun[]) =>
  Promise.all(runs.map((run) => executeRun(deps, run)));
async function texts(prefix: string): Promise<string[]> {
  const listed = await entities.list(bench.scope, { type: 'log', limit: 100 });
  if (!listed.ok) throw new Error(listed.reason);
  const { data } = JSON.parse(listed.page.json) as { data: { data: JsonObject }[] };
  return data
    .map(({ data: { text } }) => String(text))
    .filter((text) => text.startsWith(prefix))
    .sort();
}
const ends = async (runs: readonly ClaimedRun[]) =>
  (await Promise.all(runs.map(({ id }) => bench.endsOf(id)))).map((events) =>
    events.map(({ type }) => type),
  );
const all = <T>(length: number, value: T) => Array.from({ length }, () => value);

test('steps of several runs share a transaction, with one statement that holds and one that records them', async () => {
  await execute(await claimed([[log('warm')]])); // caches the entity type and its fields
  const runs = await claimed(['a1', 'a2', 'a3', 'a4'].map((text) => [log(text)]));
  let outcomes: string[] = [];
  // begin, hold, four effects, record, commit
  expect(await countStatements(bench.db.pool, async () => (outcomes = await execute(runs)))).toBe(
    8,
  );
  expect(outcomes).toEqual(all(4, 'succeeded'));
  expect(await texts('a')).toEqual(['a1', 'a2', 'a3', 'a4']);
  expect(await ends(runs)).toEqual(all(4, ['trigger.succeeded']));
});

test('runs of several actions execute each action once, in order', async () => {
  const runs = await claimed([1, 2, 3].map((n) => [log(`b${n} first`), log(`b${n} second`)]));
  expect(await execute(runs)).toEqual(all(3, 'succeeded'));
  expect((await texts('b')).length).toBe(6);
  for (const { id } of runs)
    expect((await bench.row(id)).steps.map(({ args }) => (args as JsonObject).data)).toEqual([
      { text: expect.stringMatching(/first$/) },
      { text: expect.stringMatching(/second$/) },
    ]);
});

describe('a step that fails in a shared transaction', () => {
  beforeAll(() =>
    bench.db.pool.query(
      `create function refuse() returns trigger language plpgsql as $$ begin
         if new.data->>'text' = 'refused by PostgreSQL' then raise exception 'refused'; end if; return new; end $$;
       create trigger refuse before insert on entities for each row execute function refuse()`,
    ),
  );
  afterAll(() => bench.db.pool.query('drop function refuse cascade'));

  test.each([
    ['because of its statement', poison, 'entity.create: failed unexpectedly'],
    [
      'because of its result',
      { tool: 'entity.get', args: { id: 'entity_missing' } },
      'entity.get: Entity not found',
    ],
  ])('%s fails alone, and the others have their effect once', async (name, failing, error) => {
    const prefix = name.slice(-4);
    const runs = await claimed([
      [log(`${prefix}1`)],
      [log(`${prefix}2`)],
      [failing],
      [log(`${prefix}3`)],
    ]);
    expect(await execute(runs)).toEqual(['succeeded', 'succeeded', 'dead', 'succeeded']);
    expect(await texts(prefix)).toEqual([`${prefix}1`, `${prefix}2`, `${prefix}3`]);
    expect((await bench.row(runs[2]!.id)).error).toBe(error);
    const succeeded = ['trigger.succeeded'];
    expect(await ends(runs)).toEqual([succeeded, succeeded, ['trigger.failed'], succeeded]);
  });
});

test('a run that another worker has claimed has no effect in the group, and the others have theirs', async () => {
  const stale = await claimed(
    ['c1', 'c2', 'c3'].map((text) => [log(text)]),
    expiredLeaseMs,
  );
  const taken = await bench.claim(stale[1]!.id);
  expect(await execute(stale)).toEqual(['succeeded', 'lost', 'succeeded']);
  expect(await texts('c')).toEqual(['c1', 'c3']);
  expect(await executeRun(deps, taken)).toBe('succeeded');
  expect(await texts('c')).toEqual(['c1', 'c2', 'c3']);
  expect(await ends(stale)).toEqual(all(3, ['trigger.succeeded']));
});

test('a group whose connection breaks has no effect, and each run is executed once afterwards', async () => {
  const runs = await claimed(['d1', 'd2', 'd3'].map((text) => [log(text)]));
  const blocker = await bench.db.pool.connect();
  try {
    await blocker.query('begin; lock table events in exclusive mode');
    const outcomes = execute(runs);
    const waits = `select pid from pg_locks where not granted and relation = 'events'::regclass`;
    const [waiting] = await until(async () => (await blocker.query<{ pid: number }>(waits)).rows, {
      everyMs: 1,
      isThere: (rows) => rows.length > 0,
    });
    await blocker.query('select pg_terminate_backend($1)', [waiting!.pid]);
    await blocker.query('commit');
    expect(await outcomes).toEqual(all(3, 'released'));
  } finally {
    blocker.release();
  }
  expect(await texts('d')).toEqual([]);
  await bench.db.pool.query("update trigger_runs set run_at = now() - interval '1 s'");
  const again = await claimDueRuns(bench.db, bench.scope, leaseMs, 100);
  expect(await execute(again)).toEqual(all(3, 'succeeded'));
  expect(await texts('d')).toEqual(['d1', 'd2', 'd3']);
  expect(await ends(runs)).toEqual(all(3, ['trigger.succeeded']));
});

test('runs do not wait for one whose entity is locked', async () => {
  const made = await entities.create(bench.scope, {
    type: 'log',
    data: { text: 'locked' },
    actor: { type: 'system' },
  });
  if (!made.ok) throw new Error(made.reason);
  const { id } = made.entity.value;
  const runs = await claimed([
    [{ tool: 'entity.update', args: { id, data: { n: 1 } } }],
    [log('e1')],
    [log('e2')],
  ]);
  const blocker = await bench.db.pool.connect();
  try {
    await blocker.query('begin');
    await blocker.query('select from entities where id = $1 for update', [id]);
    const outcomes = execute(runs);
    await until(async () => (await texts('e')).length === 2);
    await blocker.query('commit');
    expect(await outcomes).toEqual(all(3, 'succeeded'));
  } finally {
    blocker.release();
  }
  expect((await bench.row(runs[0]!.id)).steps).toHaveLength(1);
});
