import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { PrismaPg } from '@prisma/adapter-pg';
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils';
import type { SchemaEngine } from '@prisma/schema-engine-wasm';
import { readDatabaseUrl } from './client';

/** The function of WebAssembly that is used here. Node's types do not declare it. */
declare const WebAssembly: {
  instantiate(bytes: Uint8Array, imports: object): Promise<{ instance: { exports: Record<string, unknown> } }>;
};

interface EngineModule {
  __wbg_set_wasm(exports: object): void;
  SchemaEngine: { new: (options: object, log: (line: string) => void, adapter: object) => Promise<SchemaEngine> };
}

/** The minimal schema that the engine requires. Applying migrations compares no schema. */
const datamodel = 'datasource db {\n  provider = "postgresql"\n}\n';

/**
 * Loads Prisma's schema engine as WebAssembly, on the `pg` driver. The native engine must be downloaded, which restricted
 * networks prevent; this one is part of an npm package and writes the same `_prisma_migrations` rows (docs/adr/0002).
 */
export async function loadSchemaEngine(databaseUrl: string): Promise<SchemaEngine> {
  // The package expects a bundler to resolve its .wasm import, so the module is instantiated here.
  const nodeRequire = createRequire(__filename);
  const glue = nodeRequire.resolve('@prisma/schema-engine-wasm/schema_engine_bg');
  const engine: EngineModule = nodeRequire(glue);
  const { instance } = await WebAssembly.instantiate(readFileSync(glue.replace(/\.js$/, '.wasm')), {
    './schema_engine_bg.js': engine,
  });
  engine.__wbg_set_wasm(instance.exports);
  (instance.exports.__wbindgen_start as (() => void) | undefined)?.();
  const { url, options } = readDatabaseUrl(databaseUrl);
  const factory = new PrismaPg({
    connectionString: url,
    // The role or the address may have a time limit, which a migration must not have.
    options: `${options} -c statement_timeout=0`,
    // The engine never closes its connection. The pool closes it when idle, so that the process can exit.
    idleTimeoutMillis: 10,
    allowExitOnIdle: true,
  });
  const connect = factory.connect.bind(factory);
  factory.connect = async () => {
    const connection = await connect();
    // The adapter would run each statement of a migration in its own transaction. Sent together, they share one.
    connection.executeScript = async (sql) => void (await connection.executeRaw({ sql, args: [], argTypes: [] }));
    return connection;
  };
  const adapter = bindMigrationAwareSqlAdapterFactory(factory);
  return engine.SchemaEngine.new({ datamodels: [['schema.prisma', datamodel]] }, () => {}, adapter);
}
