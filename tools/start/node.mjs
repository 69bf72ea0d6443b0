import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { Problem } from './output.mjs';
import { root } from './paths.mjs';

const oldestForInstalling = [20, 19];
const oldestForRunning = [22, 12];
const forwarded = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** Refuses a Node that cannot even install. */
export function checkHostNode() {
  if (isAtLeast(process.versions.node, oldestForInstalling)) return;
  throw new Problem(`Parley needs Node ${oldestForInstalling.join('.')} or newer; this is ${process.versions.node}.`);
}

/**
 * Runs `script` with the Node that package.json pins, whatever the host has, and answers its exit code. Where the pinned
 * one does not run (Alpine, an unusual processor) the host's does, when it is new enough.
 */
export async function runWithPinnedNode(script, args) {
  const child = spawn(pinnedNode() ?? hostNode(), [script, ...args], {
    cwd: root,
    // The fourth channel closes when this process dies, which tells the child to stop what it started.
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
    `The pinned Node (npm package "node") does not run here, and Node ${process.versions.node} is older than ` +
      `${oldestForRunning.join('.')}. Install Node 24.`,
  );
}

/** npm's shell does not pass signals on: when it is gone, so are we. Not when started by hand, as with nohup. */
function watchParent(onGone) {
  if (!process.env.npm_lifecycle_event) return;
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && onGone(), 1_000).unref();
}

function isAtLeast(version, [major, minor]) {
  const [hostMajor, hostMinor] = version.split('.').map(Number);
  return hostMajor > major || (hostMajor === major && hostMinor >= minor);
}
