import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const installLimitMs = 240_000;

/**
 * On CI, where a fresh machine has no browser, installs Debian's. If that fails (no root, no apt,
 * no network), the tests that need a browser fail.
 */
export function ensureChromium() {
  if (
    !process.env.CI ||
    process.env.PARLEY_TEST_CHROMIUM ||
    places.some((path) => existsSync(path))
  )
    return;
  const apt = (...args) =>
    spawnSync('apt-get', args, {
      stdio: 'ignore',
      timeout: installLimitMs,
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    }).status === 0;
  if (
    !apt('update', '-qq') ||
    !apt('install', '-y', '-qq', '--no-install-recommends', 'chromium')
  ) {
    console.warn('Chromium could not be installed: the tests that need it will fail');
  }
}
