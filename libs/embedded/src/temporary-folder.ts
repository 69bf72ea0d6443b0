import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isAlive } from './child-process';

const dayMs = 24 * 60 * 60 * 1000;

/**
 * Creates an empty folder `parley-<what>-<process id>-<random>` in the system's temporary folder or
 * in `parent`. The caller deletes it. `sweepTemporaryFolders` deletes those of killed processes.
 */
export const makeTemporaryFolder = (what: string, parent = tmpdir()): string =>
  mkdtempSync(join(parent, `parley-${what}-${process.pid}-`));

/**
 * Deletes the folders of processes that have exited, and folders without a process id that have not
 * changed for a day. Returns their paths. Folders of other accounts stay.
 */
export function sweepTemporaryFolders(parent = tmpdir()): string[] {
  const swept: string[] = [];
  for (const entry of readdirSync(parent, { withFileTypes: true })) {
    if (!entry.isDirectory() || !/^parley-[a-z]+-/.test(entry.name)) continue;
    const path = join(parent, entry.name);
    try {
      if (!isLeftover(path, entry.name)) continue;
      rmSync(path, { recursive: true });
      swept.push(path);
    } catch {
      // The folder belongs to another account, or another process is deleting it.
    }
  }
  return swept;
}

function isLeftover(path: string, name: string): boolean {
  const pid = /^parley-[a-z]+-(\d+)-/.exec(name)?.[1];
  return pid === undefined ? Date.now() - statSync(path).mtimeMs > dayMs : !isAlive(Number(pid));
}
