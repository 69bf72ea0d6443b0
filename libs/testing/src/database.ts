import { randomBytes } from 'node:crypto';
import { Client, escapeIdentifier } from 'pg';

export type TestDatabase = { url: string; drop(): Promise<void> };

/** Whether tenant tables have partitions in this run, as if they were on several machines (libs/db testing/check-plans). */
const isPartitionedRun = process.env.PARLEY_TEST_PARTITIONS === 'true';

/** Session options with which PostgreSQL sends the plan of everything that it runs, made for the values that it is run with. */
const explaining = [
  'session_preload_libraries=auto_explain',
  'auto_explain.log_min_duration=0',
  'auto_explain.log_nested_statements=on',
  'auto_explain.log_format=json',
  'client_min_messages=log',
  'plan_cache_mode=force_custom_plan',
];

/**
 * A fresh database with the whole schema and no rows, for one test file: a clone (about 50 ms) of the template that the
 * jest preset has migrated. `isPartitioned`: its tenant tables have partitions.
 */
export async function createTestDatabase({ isPartitioned = isPartitionedRun } = {}): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  const template = fromEnvironment('PARLEY_TEST_TEMPLATE') + (isPartitioned ? '_partitioned' : '');
  await asAdmin(`CREATE DATABASE ${escapeIdentifier(name)} TEMPLATE ${escapeIdentifier(template)} STRATEGY FILE_COPY`);
  const search = isPartitioned ? `options=${encodeURIComponent(explaining.map((one) => `-c ${one}`).join(' '))}` : '';
  return {
    url: Object.assign(new URL(fromEnvironment('PARLEY_TEST_POSTGRES_URL')), { pathname: `/${name}`, search }).href,
    drop: () => asAdmin(`DROP DATABASE IF EXISTS ${escapeIdentifier(name)} WITH (FORCE)`),
  };
}

async function asAdmin(statement: string): Promise<void> {
  const admin = new Client({ connectionString: fromEnvironment('PARLEY_TEST_POSTGRES_URL') });
  await admin.connect();
  try {
    await admin.query(statement);
  } finally {
    await admin.end();
  }
}

function fromEnvironment(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: jest.preset.cjs does that, or npm test`);
  return value;
}
