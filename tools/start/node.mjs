import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { Problem } from './output.mjs';
import { root } from './paths.mjs';

const oldestForInstalling = [20, 19];
const oldestForRunning = [22, 12];
const forwarded = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** Throws a Problem when this Node is too old to install the packages. */
export function checkHostNode() {
  if (isAtLeast(process.versions.node, oldestForInstalling)) return;
  throw new Problem(
    `Parley requires Node.js ${oldestForInstalling.join('.')} or newer. This is ${process.versions.node}.`,
  );
}

/**
 * Runs `script` with the Node that package.json pins, and returns its exit code. Where that Node
 * does not run (Alpine, an unusual processor), uses the Node of the host if it is new enough.
 */
export async function runWithPinnedNode(script, args) {
  const child = spawn(pinnedNode() ?? hostNode(), [script, ...args], {
    cwd: root,
    // The IPC channel closes when this process dies. The child then stops what it has started.
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  for (const signal of forwarded) process.on(signal, () => child.kill(signal));
  watchParent(() => child.kill('SIGTERM'));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(code ?? 128 + (constants.signals[signal] ?? 1)));
  });
}

function pinnedNode() {
  const path = join(root, 'node_modules', 'node', 'bin', 'node');
  return existsSync(path) && spawnSync(path, ['--version']).status === 0 ? path : null;
}

function hostNode() {
  if (isAtLeast(process.versions.node, oldestForRunning)) return process.execPath;
  throw new Problem(
    `The Node.js of the npm package "node" does not run on this machine, and the installed Node.js ` +
      `${process.versions.node} is older than ${oldestForRunning.join('.')}. Install Node.js 24.`,
  );
}

/**
 * npm's shell does not forward signals, so this process stops when its parent has exited, but only
 * if npm started it.
 */
function watchParent(onExit) {
  if (!process.env.npm_lifecycle_event) return;
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && onExit(), 1_000).unref();
}

function isAtLeast(version, [major, minor]) {
  const [hostMajor, hostMinor] = version.split('.').map(Number);
  return hostMajor > major || (hostMajor === major && hostMinor >= minor);
}
