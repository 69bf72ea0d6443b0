import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../start/paths.mjs';

/**
 * Reads the files of the repository, including new ones, that match patterns of Git.
 * @param {...string} patterns
 * @returns {{ path: string, text: string }[]} `path` is relative to the root.
 */
export function readFiles(...patterns) {
  const args = ['ls-files', '-co', '--exclude-standard', ...patterns];
  const listed = execFileSync('git', args, { cwd: root, encoding: 'utf8' });
  return listed
    .split('\n')
    .filter(Boolean)
    .flatMap((path) => {
      try {
        return { path, text: readFileSync(join(root, path), 'utf8') };
      } catch {
        return []; // deleted in the working tree
      }
    });
}
