import { type FSWatcher, readdirSync, watch } from 'node:fs';
import { join } from 'node:path';

/** What editors, package managers and this command itself leave beside what a person has written. */
const ignored = /^(node_modules|\.git|dist)$|\.parley-|^\.[^\\/]*\.sw.$|~$/;

/**
 * Calls `onChange` whenever anything below a folder changes. Each folder is watched by itself: Node's recursive watch
 * on Linux loses a file that an editor saves by putting another one in its place.
 */
export function watchFolder(root: string, onChange: () => void, onProblem: (error: Error) => void): () => void {
  const watchers = new Map<string, FSWatcher>();

  function add(folder: string): void {
    if (!watchers.has(folder)) {
      const watcher = watch(folder, (_event, name) => {
        if (name !== null && ignored.test(name)) return;
        refresh();
        onChange();
      });
      watcher.on('error', (error: NodeJS.ErrnoException) => {
        forget(folder);
        // A folder that was removed is told by the one above it.
        if (!['ENOENT', 'EPERM'].includes(error.code ?? '')) onProblem(error);
      });
      watchers.set(folder, watcher);
    }
    for (const entry of readdirSync(folder, { withFileTypes: true }))
      if (entry.isDirectory() && !ignored.test(entry.name)) add(join(folder, entry.name));
  }

  /** Folders come and go, also under a name that was there before. */
  function refresh(): void {
    for (const folder of watchers.keys()) if (folder !== root && !isThere(folder)) forget(folder);
    try {
      add(root);
    } catch (error) {
      // One that has gone meanwhile is told of once more.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') onProblem(error as Error);
    }
  }

  function forget(folder: string): void {
    watchers.get(folder)?.close();
    watchers.delete(folder);
  }

  refresh();
  return () => [...watchers.keys()].forEach(forget);
}

function isThere(folder: string): boolean {
  try {
    readdirSync(folder);
    return true;
  } catch {
    return false;
  }
}
