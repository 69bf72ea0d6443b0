import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { PrismaPg } from '@prisma/adapter-pg';
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils';
import type { SchemaEngine } from '@prisma/schema-engine-wasm';
import { readDatabaseUrl } from './client';

/** The part of the platform's WebAssembly that is needed here; Node's types leave it to the DOM's. */
declare const WebAssembly: {
  instantiate(bytes: Uint8Array, imports: object): Promise<{ instance: { exports: Record<string, unknown> } }>;
};

interface EngineModule {
  __wbg_set_wasm(exports: object): void;
  SchemaEngine: { new: (options: object, log: (line: string) => void, adapter: object) => Promise<SchemaEngine> };
}

/** All that the engine must know of a schema before it is given one to compare. */
const datamodel = 'datasource db {\n  provider = "postgresql"\n}\n';

/**
 * Prisma's schema engine as WebAssembly over our own driver. The native engine is a download that closed networks
 * refuse; this one is inside an npm package and writes the same `_prisma_migrations` rows (docs/adr/0002).
 */
export async function loadSchemaEngine(databaseUrl: string): Promise<SchemaEngine> {
  // The package is made for bundlers, which would resolve its .wasm import, so it is instantiated by hand.
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
    // A role or the address may have a limit that suits requests.
    options: `${options} -c statement_timeout=0`,
    // The engine never closes its connection: let the pool do that at once, or it holds the database and the process.
    idleTimeoutMillis: 10,
    allowExitOnIdle: true,
  });
  const connect = factory.connect.bind(factory);
  factory.connect = async () => {
    const connection = await connect();
    // It would run each statement of a migration in a transaction of its own. Sent together they are one.
    connection.executeScript = async (sql) => void (await connection.executeRaw({ sql, args: [], argTypes: [] }));
    return connection;
  };
  const adapter = bindMigrationAwareSqlAdapterFactory(factory);
  return engine.SchemaEngine.new({ datamodels: [['schema.prisma', datamodel]] }, () => {}, adapter);
}
