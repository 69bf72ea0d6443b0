import pg from 'pg';
import { loadTypescript } from '../start/load-typescript.mjs';
import {
  runStatements,
  unlistedAcrossTenants,
  untestedStatements,
} from '../structure/statements.mjs';

/**
 * What is wrong with the statements that the tests have run: differences from the list of
 * statements across tenants, plans that leave the partition of their tenant, and statements that no
 * test has run. The latter are reported only when every test ran to its end.
 * @param {Record<string, string>} env of the test servers
 * @param {{ files: string[], projects: string[] | null, layer: string | undefined }} selection
 */
export async function statementFaults(env, { files, projects, layer }, isComplete) {
  if (files.length > 0) return [];
  const partitions = await partitionFaults(env, projects);
  if (projects !== null) return partitions;
  const { unlisted, unused } = unlistedAcrossTenants();
  const missing = unlisted.map(
    (one) => `"${one}" is missing in tools/structure/across-tenants.json.`,
  );
  if (!isComplete || layer !== undefined) return [...partitions, ...missing];
  return [
    ...partitions,
    ...untestedStatements().map(
      ({ name, path }) => `No test runs the statement "${name}" of ${path}. Add a test.`,
    ),
    ...missing,
    ...unused.map(
      (one) =>
        `No test runs "${one}" of tools/structure/across-tenants.json. Remove it or add a test.`,
    ),
  ];
}

/**
 * Explains the statements on the partitioned tables from which test databases are
 * cloned; nothing is run.
 */
async function partitionFaults(env, projects) {
  const { explainPartitions } = await loadTypescript(
    "export * from './libs/db/src/testing/explain-partitions'",
    'explain-partitions',
  );
  const url = new URL(env.PARLEY_TEST_POSTGRES_URL);
  url.pathname = `/${env.PARLEY_TEST_TEMPLATE}_partitioned`;
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  try {
    return await explainPartitions(client, runStatements(projects));
  } finally {
    await client.end();
  }
}
