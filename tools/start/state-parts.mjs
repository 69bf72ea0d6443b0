import { lstatSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ask, canAsk } from './ask.mjs';
import { bold, dim, Problem, print } from './output.mjs';
import { stateDir as defaultStateDir } from './paths.mjs';

/**
 * The folder of the database: `postgres` in the state folder, or the target of a link there
 * (libs/embedded).
 */
export function databaseDir(stateDir) {
  const path = join(stateDir, 'postgres');
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ? readlinkSync(path) : path;
}

/** Where the database of the version before is kept after a migration. */
export const copyDir = (stateDir) => `${databaseDir(stateDir)}-before-migration`;

const data = {
  redis: 'queues',
  'stand-ins': 'messages and payments of simulated providers',
  'dev-key': 'key of the demo organization',
  'secrets.json': 'keys that encrypt stored secrets',
};
const rest = {
  logs: 'logs',
  'stack.json': 'description of the running stack',
  'control.sock': 'socket',
};

/**
 * Throws a Problem for a folder that `npm start` did not make, where `redis` or `logs` may be of
 * another program. It writes secrets.json before all other data.
 */
export function requireOwnFolder(stateDir) {
  if (stateDir === defaultStateDir) return;
  let secrets = null;
  try {
    secrets = JSON.parse(readFileSync(join(stateDir, 'secrets.json'), 'utf8'));
  } catch {
    // missing, or not ours
  }
  if (secrets?.SECRETS_KEY && secrets.EXECUTOR_TOKEN) return;
  throw new Problem(
    `Nothing was deleted. ${stateDir} was not made by npm start: it has no secrets.json of Parley. ` +
      'Give the folder of npm start -- --state, or delete what you do not need yourself.',
  );
}

/** What `npm start --fresh` deletes. */
export const dataParts = (stateDir) =>
  present([
    [databaseDir(stateDir), 'database'],
    [copyDir(stateDir), 'database before the last migration'],
    ...Object.entries(data).map(([name, what]) => [join(stateDir, name), what]),
  ]);

/** Everything that `npm start` makes in and for a state folder. */
export const stateParts = (stateDir) => [
  ...dataParts(stateDir),
  ...present(Object.entries(rest).map(([name, what]) => [join(stateDir, name), what])),
];

/** @param {[path: string, what: string][]} paths */
export const present = (paths) =>
  paths
    .filter(([path]) => lstatSync(path, { throwIfNoEntry: false }))
    .map(([path, what]) => ({ path, what, bytes: sizeOf(path) }));

/** Bytes of a file, or of all files in a folder. */
export function sizeOf(path) {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats?.isDirectory()) return stats?.size ?? 0;
  return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0);
}

export const megabytes = (bytes) =>
  bytes < 100_000 ? `${Math.ceil(bytes / 1000)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;

/**
 * Lists what would be deleted and asks for confirmation. Throws a Problem when the answer is no, or
 * there is no terminal.
 */
export async function confirmDeletion(title, parts, yes) {
  print(title);
  const width = Math.max(...parts.map(({ bytes }) => megabytes(bytes).length));
  for (const { path, what, bytes } of parts)
    print(`  ${megabytes(bytes).padStart(width)}  ${path}  ${dim(what)}`);
  print(`  ${bold(megabytes(parts.reduce((sum, { bytes }) => sum + bytes, 0)))} in total`);
  if (yes) return;
  if (!canAsk()) throw new Problem('Nothing was deleted. Without a terminal, confirm with --yes.');
  if (!(await ask('Delete this?'))) throw new Problem('Nothing was deleted.');
}

export function deleteParts(stateDir, parts) {
  // Last, as it shows whose folder this is, in case this is interrupted.
  const sign = join(stateDir, 'secrets.json');
  for (const { path } of parts) if (path !== sign) rmSync(path, { recursive: true, force: true });
  // A link to the data that was deleted.
  rmSync(join(stateDir, 'postgres'), { recursive: true, force: true });
  rmSync(sign, { force: true });
}
