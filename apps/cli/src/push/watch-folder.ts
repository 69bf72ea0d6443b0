import { type FSWatcher, readdirSync, watch } from 'node:fs';
import { join } from 'node:path';

/** Files of editors, package managers and this command. */
const ignored = /^(node_modules|\.git|dist|parley\.d\.ts)$|\.parley-|^\.[^\\/]*\.sw.$|~$/;

/**
 * Calls `onChange` when anything below a folder changes. Each folder has its own watcher: Node's
 * recursive watcher on Linux loses a file that an editor saves by replacing it. Returns a function
 * that stops watching.
 */
export function watchFolder(
  root: string,
  onChange: () => void,
  onProblem: (error: Error) => void,
): () => void {
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
        // The watcher of the parent reports a folder that was removed.
        if (!['ENOENT', 'EPERM'].includes(error.code ?? '')) onProblem(error);
      });
      watchers.set(folder, watcher);
    }
    for (const entry of readdirSync(folder, { withFileTypes: true }))
      if (entry.isDirectory() && !ignored.test(entry.name)) add(join(folder, entry.name));
  }

  /**
   * Watches new folders and forgets deleted ones. A folder may be replaced by another
   * with the same name.
   */
  function refresh(): void {
    for (const folder of watchers.keys())
      if (folder !== root && !isReadable(folder)) forget(folder);
    try {
      add(root);
    } catch (error) {
      // A folder that was deleted since causes another event.
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

function isReadable(folder: string): boolean {
  try {
    readdirSync(folder);
    return true;
  } catch {
    return false;
  }
}
