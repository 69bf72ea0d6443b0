import tearDownServers from '../../tools/test/global-teardown.mjs';

export default async function globalTeardown() {
  globalThis.parleyTestCli?.remove();
  await tearDownServers();
}
