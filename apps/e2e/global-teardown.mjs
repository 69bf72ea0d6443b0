import { readFileSync, rmSync } from 'node:fs';
import stopServers from '../../tools/test/global-teardown.mjs';

export default async function globalTeardown() {
  const { stack, database, packages, browser } = globalThis.parleyRun ?? {};
  await browser?.close();
  await stack?.stop();
  await database?.drop();
  await stopServers();
  if (packages) rmSync(packages, { recursive: true, force: true });
  // No service of this run may have connected to an address outside of this machine
  // (watch-egress.cjs).
  const attempts = readFileSync(process.env.PARLEY_TEST_EGRESS, 'utf8');
  rmSync(process.env.PARLEY_TEST_EGRESS);
  if (attempts !== '')
    throw new Error(`Services tried to connect to addresses outside of this machine:\n${attempts}`);
}
