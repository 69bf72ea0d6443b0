import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
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
    expect(await schemaProblem(pool, folder)).toContain('29990101000000_extra');
    expect(await schemaProblem(pool, folder)).toContain('parley migrate');
    const results = await Promise.all(Array.from({ length: 4 }, () => migrate({ databaseUrl, migrationsDir: folder })));
    expect(results.flatMap(({ applied }) => applied)).toEqual(['29990101000000_extra']);
    expect(await schemaProblem(pool, folder)).toBeNull();
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
    expect(await schemaProblem(pool, folder)).toContain('29990101000000_extra');
    await close();
  });

  it('says that a database is newer than the code', async () => {
    const { databaseUrl, folder, pool, close } = await withExtraMigration('create table extra (id int);');
    await migrate({ databaseUrl, migrationsDir: folder });
    expect(await schemaProblem(pool, ours)).toContain('newer than this version: it has 29990101000000_extra');
    await close();
  });

  it('leaves tables that Prisma reads', async () => {
    const database = await createTestDatabase();
    const db = createDb({ databaseUrl: database.url });
    expect(await prismaOf(db.pool).organization.count()).toBe(0);
    await db.close();
    await database.drop();
  });
});
