import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { makeTemporaryFolder } from '@parley/embedded';
import { createTestDatabase } from '@parley/testing';
import { buildSync } from 'esbuild';
import pg from 'pg';
import { createDb } from './client';
import { prismaOf } from './prisma';
import { schemaProblem } from './migrate';

const ours = join(__dirname, '../../../prisma/migrations');
const bundle = join(__dirname, '../../../node_modules/.cache/parley-db-test/migrate.cjs');

/**
 * In a process of its own, as in production: the engine's WebAssembly glue is an ES module that checks types by
 * `instanceof`, which jest's module sandbox breaks.
 */
async function migrate(options: { databaseUrl: string; migrationsDir: string }): Promise<{ applied: string[] }> {
  const script = `require(${JSON.stringify(bundle)}).migrate(${JSON.stringify(options)})
    .then((result) => console.log(JSON.stringify(result)), (error) => { console.error(error.message); process.exit(1); })`;
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', script]);
  return JSON.parse(stdout);
}

beforeAll(() => {
  buildSync({
    entryPoints: [join(__dirname, 'migrate.ts')],
    outfile: bundle,
    bundle: true,
    platform: 'node',
    packages: 'external',
  });
});

jest.setTimeout(30_000);

const folders: string[] = [];
afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true })));

/** A copy of our migrations with one more, on a database of its own. */
async function withExtraMigration(sql: string) {
  const database = await createTestDatabase();
  const folder = makeTemporaryFolder('migrations');
  folders.push(folder);
  cpSync(ours, folder, { recursive: true });
  mkdirSync(join(folder, '29990101000000_extra'));
  writeFileSync(join(folder, '29990101000000_extra/migration.sql'), sql);
  const pool = new pg.Pool({ connectionString: database.url, max: 2 });
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

describe('migrate', () => {
  it('applies what is missing once, however many start together', async () => {
    const { databaseUrl, folder, pool, close } = await withExtraMigration('create table extra (id int);');
    expect(await schemaProblem({ pool }, folder)).toContain('29990101000000_extra');
    expect(await schemaProblem({ pool }, folder)).toContain('parley migrate');
    const results = await Promise.all(Array.from({ length: 4 }, () => migrate({ databaseUrl, migrationsDir: folder })));
    expect(results.flatMap(({ applied }) => applied)).toEqual(['29990101000000_extra']);
    expect(await schemaProblem({ pool }, folder)).toBeNull();
    await close();
  });

  it('goes past PgBouncer', async () => {
    const databaseUrl = 'postgresql://parley@127.0.0.1:1/parley?pgbouncer=true';
    await expect(migrate({ databaseUrl, migrationsDir: ours })).rejects.toThrow(/past PgBouncer/);
  });

  it('fails with the reason and leaves nothing half applied', async () => {
    const { databaseUrl, folder, pool, close } = await withExtraMigration(
      'create table half (id int); select no_such_function();',
    );
    await expect(migrate({ databaseUrl, migrationsDir: folder })).rejects.toThrow(/no_such_function/);
    expect(await schemaProblem({ pool }, folder)).toContain('29990101000000_extra');
    await close();
  });

  it('says that a database is newer than the code', async () => {
    const { databaseUrl, folder, pool, close } = await withExtraMigration('create table extra (id int);');
    await migrate({ databaseUrl, migrationsDir: folder });
    expect(await schemaProblem({ pool }, ours)).toContain('newer than this version: it has 29990101000000_extra');
    await close();
  });

  it('marks the deliveries from before signatures were recorded without writing the signed ones again', async () => {
    const database = await createTestDatabase();
    const pool = new pg.Pool({ connectionString: database.url, max: 1 });
    pool.on('error', () => {}); // as above
    const name = '20261122075716_unsigned_identity_deliveries';
    const apply = (migration: string) => pool.query(readFileSync(join(ours, migration, 'migration.sql'), 'utf8'));
    await pool.query('drop schema public cascade; create schema public');
    const earlier = readdirSync(ours).filter((other) => other < name);
    for (const migration of earlier.sort()) await apply(migration);
    const insert = `insert into webhook_deliveries (id, provider, delivery_id, path, headers, body, status)
                    values ($1, split_part($1, '-', 1), $2, '/', '{}', '', $3)`;
    for (const values of [
      ['clerk-signed', 'msg_1', 'failed'],
      ['clerk-unsigned', 'body-1', 'failed'],
      ['flow', 'token', 'processed'],
      ['kapso', 'body-1', 'processed'],
      ['polar', 'body-1', 'rejected'],
    ])
      await pool.query(insert, values);
    const places = async () =>
      (await pool.query(`select id, ctid from webhook_deliveries where id in ('kapso', 'clerk-signed') order by id`))
        .rows;
    const before = await places();
    await apply(name);
    expect((await pool.query('select id, signed from webhook_deliveries order by id')).rows).toEqual([
      { id: 'clerk-signed', signed: true },
      { id: 'clerk-unsigned', signed: false },
      { id: 'flow', signed: false },
      { id: 'kapso', signed: true },
      { id: 'polar', signed: false },
    ]);
    expect(await places()).toEqual(before);
    // What an earlier build stores during the upgrade proves nothing.
    await pool.query(insert, ['resend', 'svix_1', 'received']);
    expect((await pool.query(`select signed from webhook_deliveries where id = 'resend'`)).rows).toEqual([
      { signed: false },
    ]);
    await pool.end();
    await database.drop();
  });

  it('keeps the ids of events and turns, which are below all later ones, without writing the rows again', async () => {
    const database = await createTestDatabase();
    const pool = new pg.Pool({ connectionString: database.url, max: 1 });
    const name = '20261122140000_order_by_time';
    const apply = (migration: string) => pool.query(readFileSync(join(ours, migration, 'migration.sql'), 'utf8'));
    await pool.query('drop schema public cascade; create schema public');
    const earlier = readdirSync(ours).filter((other) => other < name);
    for (const migration of earlier.sort()) await apply(migration);
    await pool.query(`insert into threads (id, organization_id, environment, external_id, channel, updated_at)
                      values ('thread_1', 'org', 'development', 'x', 'api', now())`);
    const happen = async () => {
      await pool.query(`insert into events (organization_id, environment, type, payload, actor)
                        values ('org', 'development', 'note', '{}', '{}')`);
      await pool.query(`insert into executions (organization_id, environment, thread_id, input)
                        values ('org', 'development', 'thread_1', 'Hello')`);
    };
    await happen();
    await happen();
    const files = async () =>
      (await pool.query(`select pg_relation_filenode('events') as events, pg_relation_filenode('executions') as turns`))
        .rows;
    const before = await files();
    await apply(name);
    expect(await files()).toEqual(before);
    await happen();
    const { rows } = await pool.query(
      `select events.id::text, xid::text, xid < pg_snapshot_xmin(pg_current_snapshot()) as settled,
         (select string_agg(id::text, ' ' order by id) from executions) as turns from events order by events.id`,
    );
    expect(rows).toMatchObject([
      { id: '1', xid: '1', settled: true, turns: expect.stringMatching(/^1 2 \d{19}$/) },
      { id: '2', xid: '1', settled: true },
      { id: expect.stringMatching(/^\d{19}$/), xid: expect.stringMatching(/^\d{3,}$/) },
    ]);
    await pool.end();
    await database.drop();
  });

  it('leaves tables that Prisma reads', async () => {
    const database = await createTestDatabase();
    const db = createDb({ databaseUrl: database.url });
    expect(await prismaOf(db).organization.count()).toBe(0);
    await db.close();
    await database.drop();
  });
});
