import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { Problem, step } from './output.mjs';
import { root } from './paths.mjs';

const lockFile = join(root, 'package-lock.json');
const marker = join(root, 'node_modules', '.parley-lock');

/**
 * Runs `npm ci` when node_modules does not match package-lock.json, and the install scripts that
 * package.json names.
 * @param {() => Promise<void>} [beforeInstalling] is called before anything is installed
 */
export async function ensureInstalled(beforeInstalling = async () => {}) {
  const hash = createHash('sha256').update(readFileSync(lockFile)).digest('hex');
  if (existsSync(marker) && readFileSync(marker, 'utf8') === hash) return;
  await beforeInstalling();
  if (!matchesLockFile()) await step('Installing packages (npm ci)', () => installPackages(root));
  else await runNamedScripts(root);
  writeFileSync(marker, hash);
}

/**
 * Installs the packages of a folder. Only packages with `true` in `allowScripts` run install
 * scripts, with every version of npm.
 */
export async function installPackages(folder) {
  await npm(folder, 'ci', '--ignore-scripts', '--include=dev');
  await runNamedScripts(folder);
}

async function runNamedScripts(folder) {
  const { allowScripts = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const names = Object.keys(allowScripts).filter((name) => allowScripts[name]);
  // Without names npm would run the scripts of all packages.
  if (names.length > 0) await npm(folder, 'rebuild', '--no-ignore-scripts', ...names);
}

/**
 * Whether `npm install` was run by hand with the same result. npm records it in node_modules
 * when it is complete.
 */
function matchesLockFile() {
  const installedFile = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(installedFile)) return false;
  const installed = JSON.parse(readFileSync(installedFile, 'utf8')).packages;
  const locked = JSON.parse(readFileSync(lockFile, 'utf8')).packages;
  return Object.entries(locked).every(
    ([path, entry]) =>
      path === '' || (installed[path] ? installed[path].version === entry.version : entry.optional),
  );
}

async function npm(folder, command, ...options) {
  const args = [command, ...options, '--no-audit', '--no-fund', '--loglevel=error'];
  const child = spawn('npm', args, {
    cwd: folder,
    env: hostEnvironment(),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => (output += chunk));
  const code = await new Promise((resolve) => {
    child.once('error', (error) => {
      output += error.code === 'ENOENT' ? 'npm is not on PATH' : error.message;
      resolve(1);
    });
    child.once('close', resolve);
  });
  if (code === 0) return;
  // When the lock file does not match package.json, npm prints its usage after the reason.
  const printed = output.split(/^npm error (?:Clean install|Usage)/m)[0].trim();
  throw new Problem(
    `npm ${command} failed. Its last output:\n${printed.split('\n').slice(-20).join('\n')}`,
  );
}

/**
 * Removes node_modules/.bin from PATH, because npm must not run on the Node in node_modules
 * that it replaces.
 */
function hostEnvironment() {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return {
    ...process.env,
    PATH: folders.filter((folder) => !folder.endsWith('node_modules/.bin')).join(delimiter),
  };
}
