import assert from 'node:assert/strict';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import pg from 'pg';
import { isOlder, migrationsDir } from './copy-database.mjs';
import { openPostgres } from './databases.mjs';
import { loadEmbedded, loadMigrate } from './load-typescript.mjs';
import { copyDir, databaseDir } from './state-parts.mjs';

const folder = mkdtempSync(join(tmpdir(), 'parley-copy-'));
const stateDir = join(folder, 'state');
const earlier = migrationsDir;
const current = join(folder, 'migrations');
after(() => {
  for (const path of [databaseDir(stateDir), copyDir(stateDir), folder])
    rmSync(path, { recursive: true, force: true });
});

async function query(url, text) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query(text);
  await client.end();
  return rows;
}

test('a database of an earlier version is copied before it is migrated, once, and the copy can be started', async (t) => {
  delete process.env.DATABASE_URL;
  const embedded = await loadEmbedded();
  const { migrate } = await loadMigrate();
  const open = (copy = true) =>
    openPostgres({ embedded, stateDir, gatewayPort: 23_400, copy, migrations: current });

  cpSync(earlier, current, { recursive: true });
  mkdirSync(join(current, '29990101000000_expand_notes'));
  writeFileSync(
    join(current, '29990101000000_expand_notes', 'migration.sql'),
    'create table notes (id int);',
  );

  let server = await open();
  t.after(() => server.stop());
  assert.equal(existsSync(copyDir(stateDir)), false, 'a new database is not copied');
  await migrate({ databaseUrl: server.url, migrationsDir: earlier });
  await query(server.url, 'create table kept as select 1 as id');
  assert.equal(await isOlder(server.url, current), true);
  await server.stop();

  server = await open(false);
  assert.equal(existsSync(copyDir(stateDir)), false, '--no-copy');
  await server.stop();

  server = await open();
  const copiedMs = statSync(join(copyDir(stateDir), 'PG_VERSION')).ctimeMs;
  await migrate({ databaseUrl: server.url, migrationsDir: current });
  assert.deepEqual(await query(server.url, 'select * from kept'), [{ id: 1 }]);
  assert.equal(await isOlder(server.url, current), false);
  await server.stop();

  server = await open();
  assert.equal(
    statSync(join(copyDir(stateDir), 'PG_VERSION')).ctimeMs,
    copiedMs,
    'a current database is not copied',
  );
  await server.stop();

  // Going back: the copy replaces the data.
  rmSync(databaseDir(stateDir), { recursive: true });
  renameSync(copyDir(stateDir), databaseDir(stateDir));
  server = await embedded.startPostgres({ dataDir: join(stateDir, 'postgres') });
  assert.equal(await isOlder(server.url, current), true);
  assert.equal(await isOlder(server.url, earlier), false);

  // It is not migrated, and the copy of another database is not replaced.
  await query(server.url, `update _prisma_migrations set migration_name = '20261120000000_init'`);
  assert.equal(await isOlder(server.url, current), false, 'a database made before 0.1.0');
  await server.stop();
});
