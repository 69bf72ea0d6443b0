import { accessSync, constants, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { ask, canAsk } from './ask.mjs';
import { Problem, print, printWarning } from './output.mjs';
import { root } from './paths.mjs';

/** The file also has the folders that are searched after PATH (libs/embedded installs by it). */
const packages = JSON.parse(
  readFileSync(join(root, 'libs', 'embedded', 'src', 'redis-packages.json'), 'utf8'),
);

/**
 * Says what `npm start` will do when there is no redis-server, and asks on a terminal, before
 * anything is installed. libs/embedded installs it later; this runs before npm ci and uses only
 * Node's built-in modules.
 */
export async function announceRedis(
  environment = process.env,
  usualFolders = packages.usualFolders,
) {
  if (environment.REDIS_URL || environment.REDIS_URL_FILE) return;
  const folders = [...(environment.PATH ?? '').split(delimiter).filter(Boolean), ...usualFolders];
  const has = (program) => folders.some((folder) => isExecutable(join(folder, program)));
  if (has('redis-server')) return;
  const otherwise = 'Or use a Redis that you have: set REDIS_URL, in the environment or in .env.';
  const manager = packages.managers.find(({ program }) => has(program));
  if (!manager)
    throw new Problem(`redis-server is not on the PATH. Install Redis 7 or newer.\n  ${otherwise}`);
  printWarning('redis-server is not on the PATH.');
  const rights = manager.needsRoot ? ', as root or with sudo, if that needs no password' : '';
  print(`  npm start installs it with ${manager.program}${rights}.\n  ${otherwise}`);
  if (canAsk() && !(await ask(`  Install it with ${manager.program}?`, { byDefault: true })))
    throw new Problem(
      'Redis was not installed. Set REDIS_URL, or install Redis 7 or newer, and run npm start again.',
    );
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
