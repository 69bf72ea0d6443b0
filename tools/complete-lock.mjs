// node tools/complete-lock.mjs: adds the optional packages of other platforms to package-lock.json.
// Run it after every `npm install`, which omits packages that it has not installed or that the
// registry does not have. Without them `npm ci` refuses the lock file, or lacks binaries on another
// platform. With --hashes it also adds the hashes that are missing, from the registry, and fails
// while one is missing.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './start/paths.mjs';

const file = join(root, 'package-lock.json');
const systems = ['android', 'darwin', 'freebsd', 'linux', 'openharmony', 'win32'];

const lock = JSON.parse(readFileSync(file, 'utf8'));
const added = Object.entries(lock.packages).flatMap(([path, entry]) =>
  Object.entries(entry.optionalDependencies ?? {})
    .filter(([name, version]) => /^\d/.test(version) && !isLocked(path, name))
    .map(([name, version]) => [`node_modules/${name}`, platformEntry(name, version, entry.dev)]),
);
if (added.length > 0) {
  const entries = [...Object.entries(lock.packages), ...added].sort(([a], [b]) => (a < b ? -1 : 1));
  lock.packages = Object.fromEntries(entries);
}
const missing = process.argv.includes('--hashes') ? addHashes() : 0;
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
console.log(`package-lock.json: ${added.length} optional packages of other platforms added`);
if (missing > 0) {
  console.log(`The registry does not have the hashes of ${missing} packages`);
  process.exitCode = 1;
}

/** Returns the number of entries for which the registry has no hash. */
function addHashes() {
  const unhashed = Object.entries(lock.packages).filter(
    ([path, { integrity, link }]) => path.startsWith('node_modules/') && !link && !integrity,
  );
  for (const [path, entry] of unhashed)
    entry.integrity = findHash(
      `${path.slice(path.lastIndexOf('node_modules/') + 13)}@${entry.version}`,
    );
  return unhashed.filter(([, { integrity }]) => !integrity).length;
}

/** The hash that the registry publishes; undefined when it does not have the package. */
function findHash(nameAndVersion) {
  try {
    const args = ['view', nameAndVersion, 'dist.integrity'];
    return (
      execFileSync('npm', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim() ||
      undefined
    );
  } catch {
    return undefined;
  }
}

/** Whether the lock file has the dependency in this folder or a parent, as Node resolves it. */
function isLocked(path, name) {
  for (
    let folder = path;
    ;
    folder = folder.slice(0, Math.max(folder.lastIndexOf('/node_modules/'), 0))
  ) {
    if (lock.packages[`${folder && `${folder}/`}node_modules/${name}`]) return true;
    if (!folder) return false;
  }
}

/** The system and processor are part of the name: @swc/core-darwin-arm64. */
function platformEntry(name, version, dev) {
  const os = systems.find((system) => name.includes(system));
  const cpu = os && name.split(`${os}-`)[1]?.split('-')[0];
  return {
    version,
    ...(cpu && { cpu: [cpu] }),
    ...(dev && { dev }),
    optional: true,
    ...(os && { os: [os] }),
  };
}
