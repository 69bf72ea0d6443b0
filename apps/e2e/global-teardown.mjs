import { readFileSync, rmSync } from 'node:fs';
import stopServers from '../../tools/test/global-teardown.mjs';

export default async function globalTeardown() {
  await globalThis.parleyStack?.stack.stop();
  await globalThis.parleyStack?.database.drop();
  await stopServers();
  if (globalThis.parleyStack) rmSync(globalThis.parleyStack.packages, { recursive: true, force: true });
  // No service of any stack of this run may have turned to an address outside this machine.
  const tried = readFileSync(process.env.PARLEY_TEST_EGRESS, 'utf8');
  rmSync(process.env.PARLEY_TEST_EGRESS);
  if (tried !== '') throw new Error(`Services tried to reach the world:\n${tried}`);
}
