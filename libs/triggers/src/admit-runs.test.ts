import { createDb } from '@parley/db';
import { recordEvent } from '@parley/events';
import { createTestDatabase, seedOrganization } from '@parley/testing';
import { listRuns } from './read-runs';
import { planRuns } from './plan-runs';
import { type TestRuns, startRuns } from './testing/start-runs';

let runs: TestRuns;
let databaseUrl: string;
beforeAll(async () => {
  const database = await createTestDatabase();
  databaseUrl = database.url;
  runs = await startRuns(database, (pool) => seedOrganization(pool));
});
afterAll(() => runs.stop());

/** Records changes that the relay processes, caused by `hops` triggers after `root`. */
async function change(
  count: number,
  origin: { hops?: number; root?: string } = {},
): Promise<string[]> {
  const { db, scope } = runs;
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const entity = { type: 'order', id: `changed_${Math.random()}` };
    const payload = { data: {} };
    ids.push(
      await recordEvent(db, scope, {
        ...origin,
        type: 'entity.updated',
        entity,
        payload,
        actor: { type: 'system' },
      }),
    );
  }
  await db.pool.query('update events set relayed_at = null where id = any($1)', [ids]);
  return ids;
}

/** Plans all waiting events in eight processes at the same time. */
async function planAll(runsPerRoot: number): Promise<void> {
  const processes = Array.from({ length: 8 }, () => createDb({ databaseUrl }));
  const plan = async (db: TestRuns['db']) => {
    for (;;) {
      const { rows } = await db.pool.query('select from events where relayed_at is null limit 1');
      if (rows.length === 0) return;
      await planRuns(db, runsPerRoot);
    }
  };
  await Promise.all(processes.map(plan));
  await Promise.all(processes.map((db) => db.close()));
}

const ofRoot = async (root: string) =>
  (await listRuns(runs.db, runs.scope, { limit: 1_000, before: null })).items.filter(
    (run) => run.root === root,
  );

test('processes that plan the changes of one root at the same time admit exactly the limit, and one record has the rest', async () => {
  for (const slug of ['first', 'second', 'third']) await runs.addTrigger({ slug, cascade: true });
  const [root] = await change(1);
  await planAll(100);
  expect(await ofRoot(root!)).toHaveLength(3);
  await change(500, { hops: 1, root });
  await planAll(100);

  const all = await ofRoot(root!);
  expect(all.filter(({ status }) => status === 'scheduled')).toHaveLength(100);
  expect(all.filter(({ status }) => status !== 'scheduled')).toMatchObject([
    {
      status: 'dead',
      refusedRuns: 3 + 1_500 - 100,
      cause: `refused-${root}`,
      triggerSlug: 'second',
    },
  ]);

  await change(1, { hops: 5, root: 'run_other' });
  await planAll(100);
  expect(await ofRoot('run_other')).toMatchObject([{ id: 'run_refusedother', refusedRuns: 3 }]);
});

test('triggers of one event are limited too, whether or not they cascade', async () => {
  for (const slug of ['first', 'second', 'third']) await runs.addTrigger({ slug });
  const [root] = await change(1);
  await planAll(2);
  expect(
    (await ofRoot(root!)).map(({ status, refusedRuns }) => [status, refusedRuns]).toSorted(),
  ).toEqual([
    ['dead', 1],
    ['scheduled', 0],
    ['scheduled', 0],
  ]);
});
