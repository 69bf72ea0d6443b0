import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeTemporaryFolder } from '@parley/embedded';
import { createTestDatabase, until } from '@parley/testing';
import { buildSync } from 'esbuild';
import pg from 'pg';
import { createDb } from './client';
import { migrate } from './migrate';
import { openDatabase } from './open-database';
import { prismaOf } from './prisma';
import { schemaProblem } from './schema-problem';

const ours = join(__dirname, '../../../prisma/migrations');

const folders: string[] = [];
afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true })));

/** A new database, and a copy of the migrations with one more. */
async function withExtraMigration(sql: string, name = '29990101000000_extra') {
  const database = await createTestDatabase();
  const folder = makeTemporaryFolder('migrations');
  folders.push(folder);
  cpSync(ours, folder, { recursive: true });
  mkdirSync(join(folder, name));
  writeFileSync(join(folder, name, 'migration.sql'), sql);
  const pool = new pg.Pool({ connectionString: database.url, max: 4 });
  // The database may be dropped before the server has closed the pool's connections.
  pool.on('error', () => {});
  return {
    databaseUrl: database.url,
    folder,
    pool,
    async close() {
      await pool.end();
      await database.drop();
    },
  };
}

const extra = { applied: ['29990101000000_extra'], newer: [] };

/** Statements of migrations that run, with this text. */
const running = async (pool: pg.Pool, text: string) =>
  (
    await pool.query<{ wait: string | null }>(
      `select wait_event_type as wait from pg_stat_activity
       where datname = current_database() and application_name = 'parley-migrate' and state = 'active' and position($1 in query) > 0`,
      [text],
    )
  ).rows;
const waiting = async (pool: pg.Pool, text: string) =>
  (await running(pool, text)).filter(({ wait }) => wait === 'Lock');

describe('migrate', () => {
  it('applies a missing migration once when several processes start together', async () => {
    const { databaseUrl, folder, pool, close } = await withExtraMigration(
      'create table extra (id int);',
    );
    expect(await schemaProblem({ pool }, folder)).toContain('29990101000000_extra');
    expect(await schemaProblem({ pool }, folder)).toContain('parley migrate');
    const results = await Promise.all(
      Array.from({ length: 4 }, () => migrate({ databaseUrl, migrationsDir: folder })),
    );
    expect(results.flatMap(({ applied }) => applied)).toEqual(['29990101000000_extra']);
    expect(await schemaProblem({ pool }, folder)).toBeNull();
    const { rows } =
      await pool.query(`select count(*)::int as n, bool_and(finished_at is not null) as ended
      from _prisma_migrations where migration_name = '29990101000000_extra'`);
    expect(rows).toEqual([{ n: 1, ended: true }]);
    await close();
  });

  it('refuses to run through PgBouncer', async () => {
    const databaseUrl = 'postgresql://parley@127.0.0.1:1/parley?pgbouncer=true';
    await expect(migrate({ databaseUrl, migrationsDir: ours })).rejects.toThrow(
      /cannot run through PgBouncer/,
    );
  });

  it('fails with the reason and rolls the failed migration back', async () => {
    const { databaseUrl, folder, pool, close } = await withExtraMigration(
      'create table half (id int); select no_such_function();',
    );
    await expect(migrate({ databaseUrl, migrationsDir: folder })).rejects.toThrow(
      /no_such_function/,
    );
    expect(await schemaProblem({ pool }, folder)).toContain('29990101000000_extra');
    await pool.query('create function no_such_function() returns int language sql return 1');
    expect(await migrate({ databaseUrl, migrationsDir: folder })).toEqual(extra);
    await close();
  });

  it('has no time limit, even when the database or the address sets one', async () => {
    const { databaseUrl, folder, pool, close } = await withExtraMigration('select pg_sleep(0.5);');
    await pool.query(
      `alter database "${new URL(databaseUrl).pathname.slice(1)}" set statement_timeout = '200ms'`,
    );
    const limited = Object.assign(new URL(databaseUrl), {
      search: 'options=-c statement_timeout=200ms',
    }).href;
    expect(await migrate({ databaseUrl: limited, migrationsDir: folder })).toEqual(extra);
    await close();
  });

  it('refuses a database that is newer than the code, also when it would have something to apply', async () => {
    const { databaseUrl, folder, pool, close } = await withExtraMigration(
      'create table extra (id int);',
    );
    await migrate({ databaseUrl, migrationsDir: folder });
    const problem = 'newer than this version: it has 29990101000000_extra';
    expect(await schemaProblem({ pool }, ours)).toContain(problem);
    await expect(migrate({ databaseUrl, migrationsDir: ours })).rejects.toThrow(problem);
    await pool.query(`delete from _prisma_migrations where migration_name like '%_baseline'`);
    expect(await schemaProblem({ pool }, ours)).toContain(problem);
    await expect(migrate({ databaseUrl, migrationsDir: ours })).rejects.toThrow(problem);
    await close();
  });

  it('refuses a database that was made before the baseline, and says how its rows are kept', async () => {
    const { databaseUrl, pool, close } = await withExtraMigration('select 1;');
    const rename = 'update _prisma_migrations set migration_name = $1';
    await pool.query(rename, ['20261120000000_init']);
    const problem =
      /made before version 0\.1\.0, .*npm start -- --fresh\), or run parley backup with the version that made it and parley restore with this one$/;
    expect(await schemaProblem({ pool }, ours)).toMatch(problem);
    await expect(migrate({ databaseUrl, migrationsDir: ours })).rejects.toThrow(problem);
    await expect(
      openDatabase(
        { DATABASE_URL: databaseUrl, DATABASE_POOL_SIZE: 1, DATABASE_TIMEOUT_MS: 30_000 },
        { name: 'data', log: { info() {}, warn() {} } },
      ),
    ).rejects.toThrow(problem);
    await close();
  });

  it('accepts a database that is newer by an expansion, and says that it is', async () => {
    const name = '29990101000000_expand_extra';
    const { databaseUrl, folder, pool, close } = await withExtraMigration(
      'create table extra (id int);',
      name,
    );
    expect(await migrate({ databaseUrl, migrationsDir: folder })).toEqual({
      applied: [name],
      newer: [],
    });
    expect(await schemaProblem({ pool }, ours)).toBeNull();
    expect(await migrate({ databaseUrl, migrationsDir: ours })).toEqual({
      applied: [],
      newer: [name],
    });
    await close();
  });

  it('does not let statements wait long behind a migration whose table is in use, and applies it once it is not', async () => {
    const { databaseUrl, folder, pool, close } = await withExtraMigration(
      'alter table users add extra int;',
    );
    const user = await pool.connect();
    await user.query('begin; select from users');
    const lines: string[] = [];
    const migrating = migrate({
      databaseUrl,
      migrationsDir: folder,
      log: (line) => lines.push(line),
    });
    await until(async () => (await waiting(pool, 'alter table users')).length > 0);
    // It waits behind the migration, which gives up although the table is still in use.
    await pool.query('select from users');
    await until(() => lines.some((line) => line.includes('Trying again')));
    await user.query('commit');
    user.release();
    expect(await migrating).toEqual(extra);
    await close();
  });

  it('fails and names the migration when its table stays in use', async () => {
    const { databaseUrl, folder, pool, close } = await withExtraMigration(
      'alter table users add extra int;',
    );
    const user = await pool.connect();
    await user.query('begin; select from users');
    await expect(migrate({ databaseUrl, migrationsDir: folder, retryForMs: 0 })).rejects.toThrow(
      'Migration 29990101000000_extra failed: canceling statement due to lock timeout',
    );
    await user.query('commit');
    user.release();
    await close();
  });

  it('builds an index concurrently while a transaction is open and another process waits to migrate', async () => {
    const { databaseUrl, folder, pool, close } = await withExtraMigration(
      `-- An index of a table that grows.
       DROP INDEX CONCURRENTLY IF EXISTS "extra_idx";
       CREATE INDEX CONCURRENTLY "extra_idx" ON "events" ("tenant", "type");\n`,
      '29990101000000_expand_extra',
    );
    const writer = await pool.connect();
    await writer.query('begin; lock table events in row exclusive mode');
    const migrating = [1, 2].map(() => migrate({ databaseUrl, migrationsDir: folder }));
    await until(async () => (await waiting(pool, 'CREATE INDEX')).length > 0);
    await pool.query('begin; lock table events in row exclusive mode; commit');
    await writer.query('commit');
    writer.release();
    const applied = (await Promise.all(migrating)).flatMap((result) => result.applied);
    expect(applied).toEqual(['29990101000000_expand_extra']);
    const valid = `select indisvalid from pg_index where indexrelid = 'extra_idx'::regclass`;
    expect((await pool.query(valid)).rows).toEqual([{ indisvalid: true }]);
    await close();
  });

  it('builds an index of a partitioned table on each partition, while a transaction is open', async () => {
    const { databaseUrl, folder, pool, close } = await withExtraMigration(
      '-- For a list.\ndrop index concurrently if exists parts_n;\ncreate index concurrently parts_n on parts (n) where n > 0;\n',
    );
    await pool.query(`create table parts (id int, n int) partition by range (id);
      create table parts_1 partition of parts for values from (0) to (10);
      create table parts_2 partition of parts default;
      insert into parts select id, id from generate_series(1, 20) id;
      create index parts_n on parts (n);`);
    const blocking = await pool.connect();
    await blocking.query('begin; update parts_1 set n = n');
    const lines: string[] = [];
    const migrating = migrate({
      databaseUrl,
      migrationsDir: folder,
      log: (line) => lines.push(line),
    });
    await until(() => lines.some((line) => line.includes('Trying again')));
    await blocking.query('commit');
    blocking.release();
    expect(await migrating).toEqual(extra);
    const { rows } = await pool.query(
      `select inhrelid::regclass::text as name, indisvalid as "isValid", pg_get_expr(indpred, indrelid) as predicate
       from pg_inherits join pg_index on indexrelid = inhrelid where inhparent = 'parts_n'::regclass order by 1`,
    );
    expect(rows).toEqual(
      ['parts_n_parts_1', 'parts_n_parts_2'].map((name) => ({
        name,
        isValid: true,
        predicate: '(n > 0)',
      })),
    );
    await close();
  });

  it('starts a concurrent migration again that has failed in the middle', async () => {
    const { databaseUrl, folder, pool, close } = await withExtraMigration(
      'DROP INDEX CONCURRENTLY IF EXISTS "extra_idx";\nCREATE UNIQUE INDEX CONCURRENTLY "extra_idx" ON "extra" ("id");\n',
    );
    await pool.query('create table extra as select 1 as id from generate_series(1, 2)');
    await expect(migrate({ databaseUrl, migrationsDir: folder })).rejects.toThrow(
      /could not create unique index/,
    );
    await pool.query('truncate extra');
    expect(await migrate({ databaseUrl, migrationsDir: folder })).toEqual(extra);
    await close();
  });

  it('rolls the migration of a process that was killed back, and the next one applies it', async () => {
    const { databaseUrl, folder, pool, close } = await withExtraMigration(
      'create table extra (id int); select pg_sleep(600);',
    );
    const bundle = join(folder, 'migrate.cjs');
    buildSync({
      entryPoints: [join(__dirname, 'migrate.ts')],
      outfile: bundle,
      bundle: true,
      platform: 'node',
      packages: 'external',
    });
    const script = `require(${JSON.stringify(bundle)}).migrate(${JSON.stringify({ databaseUrl, migrationsDir: folder })})`;
    const nodePath = join(__dirname, '../../../node_modules');
    const killed = spawn(process.execPath, ['-e', script], {
      env: { ...process.env, NODE_PATH: nodePath },
    });
    await until(async () => (await running(pool, 'pg_sleep(600)')).length > 0);
    killed.kill('SIGKILL');
    await once(killed, 'exit');
    writeFileSync(
      join(folder, '29990101000000_extra/migration.sql'),
      'create table extra (id int);',
    );
    expect(await migrate({ databaseUrl, migrationsDir: folder })).toEqual(extra);
    await until(async () => (await running(pool, 'pg_sleep(600)')).length === 0);
    await close();
  });

  it('creates tables that Prisma can read', async () => {
    const database = await createTestDatabase();
    const db = createDb({ databaseUrl: database.url });
    expect(await prismaOf(db).organization.count()).toBe(0);
    await db.close();
    await database.drop();
  });
});
