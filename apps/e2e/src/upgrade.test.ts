import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type ServiceName, rounds, until } from '@parley/testing';
import pg from 'pg';
import {
  type LoadedReplicas,
  expectEachEffectOnce,
  expectTurnsInOrder,
  startLoadedReplicas,
} from './load';
import { shared } from './stack';

/**
 * Number of rows of `events` during the migrations. The full run also replaces one process after
 * the other, and undoes this for all of them. By default the first processes of all services are
 * replaced at the same time, then the second ones, and those of `data` go back.
 */
const events = rounds(20_000, 1_000_000);
const isFullRun = rounds(false, true);
const kinds: ServiceName[] = [
  'worker',
  'data',
  'chat',
  'webhook-ingest',
  'manage',
  'tool-executor',
  'gateway',
];
/**
 * The pods that migrate before their service starts: all that use the database; by default two
 * at the same time.
 */
const migrating = rounds<ServiceName[]>(
  ['worker', 'data'],
  ['worker', 'data', 'chat', 'webhook-ingest', 'manage'],
);

/** Tables that nearly every request uses. Each has a new column in the next version. */
const changed =
  'events entities threads executions trigger_runs api_keys webhook_deliveries agents'.split(' ');
/** The migrations of the next version. The last one is an index of a table that grows. */
const next = {
  ...Object.fromEntries(
    changed.map((table, at) => [
      `2999010100000${at}_expand_notes_of_${table}`,
      `ALTER TABLE "${table}" ADD COLUMN "note" TEXT NOT NULL DEFAULT '';`,
    ]),
  ),
  '29990101000010_expand_events_by_type': `
    DROP INDEX CONCURRENTLY IF EXISTS "events_type_idx";
    CREATE INDEX CONCURRENTLY "events_type_idx" ON "events" ("tenant", "type", "id");\n`,
};

const repository = join(__dirname, '../../..');
let loaded: LoadedReplicas;
let database: pg.Client;
/** The folder of the next version: its migrations, and a command line that finds them. */
let nextVersion: string;

beforeAll(async () => {
  nextVersion = mkdtempSync(join(tmpdir(), 'parley-next-'));
  cpSync(join(repository, 'prisma'), join(nextVersion, 'prisma'), { recursive: true });
  cpSync(join(shared.bundles, 'cli'), join(nextVersion, 'dist/e2e/cli'), { recursive: true });
  for (const [name, sql] of Object.entries(next)) {
    mkdirSync(join(nextVersion, 'prisma/migrations', name));
    writeFileSync(join(nextVersion, 'prisma/migrations', name, 'migration.sql'), sql);
  }
  loaded = await startLoadedReplicas();
  database = new pg.Client({ connectionString: loaded.replicas.databaseUrl });
  await database.connect();
  await database.query(
    `insert into events (id, tenant, environment, type, entity_id, payload, actor, relayed_at)
     select id, $1, 'development', 'note', 'entity-' || id % 1000, '{}', '{"type":"system"}', now() from generate_series(1, $2::int) id`,
    [loaded.tenant.scope.tenant, events],
  );
}, 600_000);
afterAll(async () => {
  await database?.end();
  await loaded?.close();
  rmSync(nextVersion, { recursive: true, force: true });
}, 60_000);

const isBuildingIndex = async () =>
  (
    await loaded.tenant.query(
      `select from pg_stat_activity where datname = current_database() and state = 'active'
         and application_name = 'parley-migrate' and query like '%CREATE INDEX%'`,
    )
  ).length === 1;

/** What the init container of a pod does. Returns what it prints. */
async function migrate(version: string): Promise<string> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [join(version, 'dist/e2e/cli/main.cjs'), 'migrate', '--wait', '60'],
    {
      env: {
        PATH: process.env.PATH,
        DATABASE_URL: loaded.replicas.databaseUrl,
        NODE_PATH: join(repository, 'node_modules'),
      },
    },
  );
  return stdout.trim();
}

/**
 * Replaces the pods of services one by one, as a rolling update does. A pod migrates before
 * its service starts.
 */
async function rollOut(version: string, names: ServiceName[]): Promise<void> {
  const replace = async (name: ServiceName, replica: number) => {
    if (migrating.includes(name)) printed.push(await migrate(version));
    expect(await loaded.replicas.restart(name, replica, version)).toBe(0);
  };
  const printed: string[] = [];
  if (isFullRun)
    for (const name of names) for (const replica of [0, 1]) await replace(name, replica);
  else for (const replica of [0, 1]) await allOf(names.map((name) => replace(name, replica)));
  const expected =
    version === nextVersion
      ? /^The database is up to date\.$/
      : /_expand_.* of a newer version, which/;
  for (const line of printed) expect(line).toMatch(expected);
}

/**
 * Waits for all promises even if one rejects, so that every process that was started
 * can be stopped.
 */
async function allOf(work: Promise<void>[]): Promise<void> {
  await Promise.allSettled(work);
  await Promise.all(work);
}

it(
  'an upgrade with migrations, a restart of an old pod in the middle of it, and its undoing lose no request and no job under load, and no turns overlap',
  async () => {
    const { replicas, tenant } = loaded;
    const { threadId, stop } = await loaded.startLoad();
    let ended: Awaited<ReturnType<typeof stop>>;
    const startedAt = Date.now();
    try {
      // The index is not complete before this snapshot is closed.
      await database.query('begin isolation level repeatable read; select from users');
      const migration = migrate(nextVersion);
      await until(isBuildingIndex, { limitMs: 120_000 });
      expect(await migrate(repository)).toContain(
        'of a newer version, which this version works with',
      );
      expect(await replicas.restart('data', 1, repository)).toBe(0);
      expect(await isBuildingIndex()).toBe(true);
      await database.query('commit');
      expect(await migration).toBe(`Applied ${Object.keys(next).length} migrations.`);

      await rollOut(nextVersion, kinds);
      await rollOut(repository, rounds(['data'], kinds));
    } finally {
      ended = await stop();
    }
    const { answered, failures, made } = ended;
    expect(failures).toEqual([]);
    expect(answered).toBeGreaterThan(100);
    await expectEachEffectOnce(tenant, made);
    await expectTurnsInOrder(tenant, threadId);
    if (isFullRun)
      console.log(
        JSON.stringify({ events, answered, seconds: (Date.now() - startedAt) / 1_000, ...made }),
      );
  },
  isFullRun ? 1_800_000 : 600_000,
);
