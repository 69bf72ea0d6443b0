import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { Problem, step } from './output.mjs';
import { root } from './paths.mjs';

const lockFile = join(root, 'package-lock.json');
const marker = join(root, 'node_modules', '.parley-lock');

/** Runs `npm ci` when node_modules is not what package-lock.json says. */
export async function ensureInstalled() {
  const hash = createHash('sha256').update(readFileSync(lockFile)).digest('hex');
  if (existsSync(marker) && readFileSync(marker, 'utf8') === hash) return;
  if (!matchesLockFile()) await step('Installing packages (npm ci)', npmCi);
  writeFileSync(marker, hash);
}

/** Whether an `npm install` by hand has left exactly this tree: npm notes it in node_modules when it is complete. */
function matchesLockFile() {
  const installedFile = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(installedFile)) return false;
  const installed = JSON.parse(readFileSync(installedFile, 'utf8')).packages;
  const wanted = JSON.parse(readFileSync(lockFile, 'utf8')).packages;
  return Object.entries(wanted).every(
    ([path, entry]) => path === '' || (installed[path] ? installed[path].version === entry.version : entry.optional),
  );
}

async function npmCi() {
  const args = ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'];
  const child = spawn('npm', args, { cwd: root, env: hostEnvironment(), stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const code = await new Promise((resolve) => {
    child.once('error', (error) => {
      output += error.code === 'ENOENT' ? 'npm is not on PATH' : error.message;
      resolve(1);
    });
    child.once('close', resolve);
  });
  if (code === 0) return;
  // A lock file that does not fit makes npm print its manual after the reason.
  const said = output.split(/^npm error (?:Clean install|Usage)/m)[0].trim();
  throw new Problem(`npm ci failed. It said last:\n${said.split('\n').slice(-20).join('\n')}`);
}

/** Without node_modules/.bin on PATH: npm must not run on the very Node that it is about to replace. */
function hostEnvironment() {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return { ...process.env, PATH: folders.filter((folder) => !folder.endsWith('node_modules/.bin')).join(delimiter) };
}
