import stopServers from '../../tools/test/global-teardown.mjs';

export default async function globalTeardown() {
  await globalThis.parleyStack?.stack.stop();
  await globalThis.parleyStack?.database.drop();
  await stopServers();
}
