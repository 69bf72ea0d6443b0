/** Stops what global-setup started. */
export default async function globalTeardown() {
  await globalThis.parleyTestServers?.stop();
}
