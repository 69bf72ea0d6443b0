// parley clean: deletes what npm start made on this machine.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, rmdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { refuseIfRunning } from './start/control.mjs';
import { print, runMain } from './start/output.mjs';
import { root, stateDir as defaultStateDir } from './start/paths.mjs';
import {
  confirmDeletion,
  deleteParts,
  megabytes,
  present,
  requireOwnFolder,
  stateParts,
} from './start/state-parts.mjs';

/**
 * Programs of PostgreSQL are copied here when a checkout of root cannot be read by other accounts
 * (libs/embedded).
 */
const programsDir = '/var/lib/parley';

await runMain(async () => {
  const { values } = parseArgs({
    options: {
      yes: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      state: { type: 'string' },
    },
  });
  const stateDir = resolve(values.state ?? defaultStateDir);
  await refuseIfRunning(stateDir);
  // Another state folder has only data; what is built belongs to the checkout.
  const ofFolder = stateParts(stateDir);
  if (ofFolder.length > 0) requireOwnFolder(stateDir);
  const parts = [...ofFolder, ...(values.state === undefined ? builtParts() : [])];
  const total = parts.reduce((sum, { bytes }) => sum + bytes, 0);
  if (parts.length > 0) {
    if (!values.json || !values.yes)
      await confirmDeletion('npm start has made on this machine:', parts, values.yes);
    deleteParts(stateDir, parts);
    if (existsSync(stateDir) && readdirSync(stateDir).length === 0) rmdirSync(stateDir);
  }
  if (values.json) return print(JSON.stringify({ deleted: parts, bytes: total }));
  print(parts.length > 0 ? `Deleted ${megabytes(total)}.` : 'There is nothing to delete.');
  print(
    'Not deleted: node_modules, .env, a redis-server that was installed, and the data of servers that DATABASE_URL or REDIS_URL name.',
  );
});

function builtParts() {
  const running = execFileSync('ps', ['-eo', 'args='], { encoding: 'utf8' });
  const copies = (existsSync(programsDir) ? readdirSync(programsDir) : [])
    .filter((name) => name.startsWith('postgresql-'))
    .map((name) => join(programsDir, name))
    .filter((path) => !running.includes(path)); // another checkout may use it
  return present([
    ...copies.map((path) => [path, 'programs of PostgreSQL']),
    [join(root, 'dist', 'apps'), 'built services'],
    [join(root, 'node_modules', '.cache', 'node'), 'compiled code'],
    [join(root, 'node_modules', '.cache', 'parley-postgres'), 'databases of tests'],
  ]);
}
