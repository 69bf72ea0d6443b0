import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadMigrate, loadPartition } from '../start/load-typescript.mjs';
import { root } from '../start/paths.mjs';

const migrationsDir = join(root, 'prisma', 'migrations');

/**
 * Creates the migrated database that test databases are cloned from, once per server and set of
 * migrations, and a second one whose tenant tables are partitioned (`…_partitioned`).
 * @param {string} serverUrl
 */
export async function prepareTemplate(serverUrl) {
  const { default: pg } = await import('pg');
  const template = templateName();
  const admin = new pg.Client({ connectionString: serverUrl });
  await admin.connect();
  const partial = `${template}_partial`;
  const url = Object.assign(new URL(serverUrl), { pathname: `/${partial}` }).href;
  /** Creates a database under a temporary name and renames it when it is complete. */
  const create = async (name, source, fill) => {
    if ((await admin.query('SELECT 1 FROM pg_database WHERE datname = $1', [name])).rowCount === 1)
      return;
    await admin.query(`DROP DATABASE IF EXISTS ${partial} WITH (FORCE)`);
    await admin.query(`CREATE DATABASE ${partial} TEMPLATE ${source}`);
    await fill();
    await admin.query(`ALTER DATABASE ${partial} RENAME TO ${name}`);
  };
  try {
    // Several runs may share a server. The lock lets one of them migrate.
    await admin.query('SELECT pg_advisory_lock(hashtext($1))', [template]);
    await create(template, 'template1', async () => {
      const { migrate } = await loadMigrate();
      await migrate({ databaseUrl: url, migrationsDir });
    });
    await create(`${template}_partitioned`, template, async () => {
      const { partitionTables } = await loadPartition();
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      await partitionTables(client).finally(() => client.end());
    });
  } finally {
    await admin.end();
  }
}

/** The name contains a hash of the migrations, so that a change of them creates a new template. */
export function templateName() {
  const hash = createHash('sha256');
  for (const name of existsSync(migrationsDir) ? readdirSync(migrationsDir).sort() : []) {
    const file = join(migrationsDir, name, 'migration.sql');
    if (existsSync(file)) hash.update(name).update(readFileSync(file));
  }
  return `template_${hash.digest('hex').slice(0, 16)}`;
}
