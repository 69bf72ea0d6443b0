import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { refuseSecond } from './control.mjs';
import { say } from './output.mjs';

const leftoverDeadlineMs = 10_000;

/** Refuses to run twice in one folder, and ends what an earlier run that was killed has left running. */
export async function claimState(stateDir, embedded) {
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  await refuseSecond(stateDir);
  const stack = readStack(stateDir);
  const leftovers = Object.values(stack?.services ?? {})
    .map(({ pid }) => pid)
    .filter((pid) => pid && embedded.processCommand(pid).includes(join('dist', 'apps')));
  if (leftovers.length > 0) say(`An earlier run was killed: ending its ${leftovers.length} services`);
  await Promise.all(leftovers.map((pid) => embedded.stopPid(pid, 'SIGTERM', leftoverDeadlineMs)));
}

/** Removes everything that earlier runs kept: `--fresh`. */
export function removeState(stateDir, embedded) {
  rmSync(embedded.reachableDataDir(join(stateDir, 'postgres')), { recursive: true, force: true });
  for (const path of ['postgres', 'redis', 'dev-key', 'secrets.json', 'stack.json']) {
    rmSync(join(stateDir, path), { recursive: true, force: true });
  }
}

/** What other commands may know of the running stack; it holds secrets, so only its owner may read it. */
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
