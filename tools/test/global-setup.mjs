import { startTestServers } from './servers.mjs';

/** One PostgreSQL and one Redis for all test files of this jest run, unless `npm test` has started them already. */
export default async function globalSetup() {
  if (process.env.PARLEY_TEST_TEMPLATE) return;
  const servers = await startTestServers();
  Object.assign(process.env, servers.env);
  globalThis.parleyTestServers = servers;
}
