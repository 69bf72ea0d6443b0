// node tools/new-migration.mjs NAME: writes prisma/migrations/<time>_NAME/migration.sql, which
// migrates from the schema in the last commit to the one in the working tree, and appends its name
// to prisma/migration-order.txt. The time is now, or just after the newest migration if that is
// dated later: all databases apply the new one last. SQL that Prisma cannot express (GIN indexes,
// collations, functions, `CONCURRENTLY`) must be added to that file by hand. Uses Prisma's engine
// as WebAssembly, which needs no download and requires a reachable PostgreSQL although it compares
// two files: DATABASE_URL, or the database of the running development stack.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { appendToList, migrationNames, nextStamp } from './structure/migration-order.mjs';

const name = process.argv[2];
if (!/^(expand|contract)_[a-z0-9_]+$/.test(name ?? '')) {
  console.error(
    'Usage: node tools/new-migration.mjs NAME, such as expand_labels_of_threads or contract_old_labels:',
  );
  console.error(
    'expand_ only adds what the previous version ignores, contract_ is everything else (docs/adr/0070).',
  );
  process.exit(2);
}

const require = createRequire(import.meta.url);
const { PrismaPg } = require('@prisma/adapter-pg');
const { bindMigrationAwareSqlAdapterFactory } = require('@prisma/driver-adapter-utils');

const schemaPath = 'prisma/schema.prisma';
const schema = readFileSync(schemaPath, 'utf8');
const previous = existsSync('prisma/migrations') ? lastCommitted() : undefined;
const asFiles = (content) => ({
  tag: 'schemaDatamodel',
  files: [{ path: 'schema.prisma', content }],
});

const engine = await loadEngine();
const { stdout } = await engine.diff({
  from: previous === undefined ? { tag: 'empty' } : asFiles(previous),
  to: asFiles(schema),
  script: true,
  exitCode: null,
  filters: { externalTables: [], externalEnums: [] },
});
if (!stdout?.trim() || stdout.includes('This is an empty migration')) {
  console.log('The schema has not changed since the last commit.');
} else {
  const migration = `${nextStamp(migrationNames(), new Date())}_${name}`;
  const folder = `prisma/migrations/${migration}`;
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}/migration.sql`, stdout);
  appendToList(migration);
  console.log(`${folder}/migration.sql`);
}
process.exit(0);

function lastCommitted() {
  try {
    return execFileSync('git', ['show', `HEAD:${schemaPath}`], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  } catch {
    return undefined;
  }
}

function databaseUrl() {
  if (process.env.DATABASE_URL) return process.env.DATABASE_URL;
  if (existsSync('.parley/stack.json'))
    return JSON.parse(readFileSync('.parley/stack.json', 'utf8')).databaseUrl;
  console.error('DATABASE_URL is not set and no stack is running. Set it, or run npm start first.');
  process.exit(2);
}

async function loadEngine() {
  const glue = require.resolve('@prisma/schema-engine-wasm/schema_engine_bg');
  const module = await import(glue);
  const { instance } = await WebAssembly.instantiate(readFileSync(glue.replace(/\.js$/, '.wasm')), {
    './schema_engine_bg.js': module,
  });
  module.__wbg_set_wasm(instance.exports);
  instance.exports.__wbindgen_start?.();
  const adapter = bindMigrationAwareSqlAdapterFactory(
    new PrismaPg({ connectionString: databaseUrl() }),
  );
  return module.SchemaEngine.new({ datamodels: [['schema.prisma', schema]] }, () => {}, adapter);
}
