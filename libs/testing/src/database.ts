import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, escapeIdentifier } from 'pg';

export type TestDatabase = { url: string; drop(): Promise<void> };

/**
 * Whether tenant tables are partitioned in this run, to check that each statement uses one
 * partition (libs/db testing/check-plans).
 */
const isPartitionedRun = process.env.PARLEY_TEST_PARTITIONS === 'true';

/**
 * Session options that make PostgreSQL send the plan of every statement, planned for its
 * actual parameters.
 */
const explaining = [
  'session_preload_libraries=auto_explain',
  'auto_explain.log_min_duration=0',
  'auto_explain.log_nested_statements=on',
  'auto_explain.log_format=json',
  'client_min_messages=log',
  'plan_cache_mode=force_custom_plan',
];

/**
 * Creates a database with the whole schema and no rows, for one test file. It is a clone (about
 * 50 ms) of the template that the jest preset has migrated. `isPartitioned`: its tenant tables
 * are partitioned.
 */
export async function createTestDatabase({
  isPartitioned = isPartitionedRun,
} = {}): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  const template = fromEnvironment('PARLEY_TEST_TEMPLATE') + (isPartitioned ? '_partitioned' : '');
  const create = `CREATE DATABASE ${escapeIdentifier(name)} TEMPLATE ${escapeIdentifier(template)} STRATEGY FILE_COPY`;
  await asAdmin((admin) => admin.query(create));
  const search = isPartitioned
    ? `options=${encodeURIComponent(explaining.map((one) => `-c ${one}`).join(' '))}`
    : '';
  return {
    url: Object.assign(new URL(fromEnvironment('PARLEY_TEST_POSTGRES_URL')), {
      pathname: `/${name}`,
      search,
    }).href,
    drop: () => asAdmin((admin) => drop(admin, name)),
  };
}

/**
 * Creates a test database and opens it with `open`, which is `createDb` of `@parley/db`: this
 * library does not depend on it. `close` also drops the database.
 */
export async function openTestDatabase<
  Options extends { databaseUrl: string },
  Db extends { close(): Promise<void> },
>(
  open: (options: Options) => Db,
  options?: Omit<Options, 'databaseUrl'>,
): Promise<Db & { url: string }> {
  const { url, drop } = await createTestDatabase();
  const db = open({ ...options, databaseUrl: url } as Options);
  return {
    ...db,
    url,
    async close() {
      await db.close();
      await drop();
    },
  };
}

/**
 * Gives connections that were just closed time to end: their driver reports an error when the
 * server ends them.
 */
async function drop(admin: Client, name: string): Promise<void> {
  const connections = 'select from pg_stat_activity where datname = $1';
  for (
    let tries = 0;
    tries < 20 && (await admin.query(connections, [name])).rowCount! > 0;
    tries += 1
  )
    await sleep(25);
  await admin.query(`DROP DATABASE IF EXISTS ${escapeIdentifier(name)} WITH (FORCE)`);
}

async function asAdmin(work: (admin: Client) => Promise<unknown>): Promise<void> {
  const admin = new Client({ connectionString: fromEnvironment('PARLEY_TEST_POSTGRES_URL') });
  await admin.connect();
  try {
    await work(admin);
  } finally {
    await admin.end();
  }
}

function fromEnvironment(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set. Run the test with jest.preset.cjs or npm test`);
  return value;
}
