import { existsSync } from 'node:fs';
import { type Browser, type BrowserServer, chromium } from 'playwright-core';

export const executablePath = [
  process.env.PARLEY_TEST_CHROMIUM,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find((path) => path !== undefined && existsSync(path));

/** Names below example.test are addresses of this machine, for tests with several hosts. */
const args = ['--no-sandbox', '--disable-gpu', '--host-resolver-rules=MAP *.example.test 127.0.0.1'];

/** Starts Chromium for a run, whose test files connect to it with openBrowser. Null on a machine that has none. */
export async function launchSharedBrowser(): Promise<BrowserServer | null> {
  return executablePath === undefined ? null : chromium.launchServer({ executablePath, args });
}

/**
 * Opens the Chromium of the run, or starts one where the run has none; null, with a warning, on a machine without
 * Chromium. Continuous integration installs it (tools/test/ensure-chromium.mjs).
 */
export async function openBrowser(): Promise<Browser | null> {
  const endpoint = process.env.PARLEY_E2E_BROWSER;
  if (endpoint !== undefined) return chromium.connect(endpoint);
  if (executablePath !== undefined) return chromium.launch({ executablePath, args });
  if (process.env.CI) throw new Error('Chromium is not installed');
  console.warn(
    'NOT TESTED in a browser: there is no Chromium here. On Debian: apt-get install -y chromium; elsewhere set PARLEY_TEST_CHROMIUM.',
  );
  return null;
}
