import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

export const executablePath = [
  process.env.PARLEY_TEST_CHROMIUM,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find((path) => path !== undefined && existsSync(path));

/** Names below example.test are addresses of this machine, for tests with several hosts. */
export const browserArgs = [
  '--no-sandbox',
  '--disable-gpu',
  '--host-resolver-rules=MAP *.example.test 127.0.0.1',
];

/**
 * Connects to the Chromium that global-setup.mjs has started, or starts one where it has not; null,
 * with a warning, on a machine without Chromium. Continuous integration installs it
 * (tools/test/ensure-chromium.mjs).
 */
export async function openBrowser(): Promise<Browser | null> {
  const endpoint = process.env.PARLEY_E2E_BROWSER;
  if (endpoint !== undefined) return chromium.connect(endpoint);
  if (executablePath !== undefined) return chromium.launch({ executablePath, args: browserArgs });
  if (process.env.CI) throw new Error('Chromium is not installed');
  console.warn(
    'NOT TESTED in a browser: there is no Chromium here. On Debian: apt-get install -y chromium; elsewhere set PARLEY_TEST_CHROMIUM.',
  );
  return null;
}
