import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { refuseIfRunning } from './control.mjs';
import { print } from './output.mjs';

const leftoverDeadlineMs = 10_000;

/**
 * Throws a Problem when a stack already runs in this folder. Stops services that a killed
 * run left running.
 */
export async function claimState(stateDir, embedded) {
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  await refuseIfRunning(stateDir);
  const stack = readStack(stateDir);
  const leftovers = Object.values(stack?.services ?? {})
    .map(({ pid }) => pid)
    .filter((pid) => pid && embedded.processCommand(pid).includes(join('dist', 'apps')));
  if (leftovers.length > 0)
    print(`Stopping ${leftovers.length} services of an earlier run that was killed`);
  await Promise.all(leftovers.map((pid) => embedded.stopPid(pid, 'SIGTERM', leftoverDeadlineMs)));
}

/**
 * Describes the running stack for other commands. The file holds secrets, so only its
 * owner may read it.
 */
export function writeStack(stateDir, stack) {
  const file = join(stateDir, 'stack.json');
  writeFileSync(`${file}.new`, `${JSON.stringify(stack, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

export function removeStack(stateDir) {
  rmSync(join(stateDir, 'stack.json'), { force: true });
}

function readStack(stateDir) {
  const file = join(stateDir, 'stack.json');
  try {
    return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : null;
  } catch {
    return null;
  }
}
