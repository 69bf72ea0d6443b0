import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

export const executablePath = [
  process.env.PARLEY_TEST_CHROMIUM,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find((path) => path !== undefined && existsSync(path));

/** Starts Chromium; null, with a warning, on a machine that has none. Continuous integration installs it (tools/test/ensure-chromium.mjs). */
export async function openBrowser(args: readonly string[] = []): Promise<Browser | null> {
  if (executablePath !== undefined)
    return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', ...args] });
  if (process.env.CI) throw new Error('Chromium is not installed');
  console.warn(
    'NOT TESTED in a browser: there is no Chromium here. On Debian: apt-get install -y chromium; elsewhere set PARLEY_TEST_CHROMIUM.',
  );
  return null;
}
