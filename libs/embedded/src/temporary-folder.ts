import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isAlive } from './child-process';

const dayMs = 24 * 60 * 60 * 1000;

/**
 * Makes an empty folder `parley-<what>-<process id>-<random>` in the system's temporary folder, or in `parent`. Who
 * makes it removes it; after a process that was killed, `sweepTemporaryFolders` does.
 */
export const makeTemporaryFolder = (what: string, parent = tmpdir()): string =>
  mkdtempSync(join(parent, `parley-${what}-${process.pid}-`));

/**
 * Removes what earlier processes have left behind: folders of those that have ended, and folders without a process id
 * that nobody has touched for a day. Returns their paths. What belongs to another account stays.
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
      // Another account's, or another process sweeps at the same time.
    }
  }
  return swept;
}

function isLeftover(path: string, name: string): boolean {
  const pid = /^parley-[a-z]+-(\d+)-/.exec(name)?.[1];
  return pid === undefined ? Date.now() - statSync(path).mtimeMs > dayMs : !isAlive(Number(pid));
}
