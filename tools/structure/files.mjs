import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from '../start/paths.mjs';

/**
 * Lists the files of the repository, including new ones, that match patterns of Git.
 * @param {...string} patterns
 * @returns {string[]} paths relative to the root.
 */
export function listFiles(...patterns) {
  const args = ['ls-files', '-co', '--exclude-standard', ...patterns];
  return execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean);
}

/**
 * Reads the files that `listFiles` lists.
 * @param {...string} patterns
 * @returns {{ path: string, text: string }[]}
 */
export function readFiles(...patterns) {
  return listFiles(...patterns).flatMap((path) => {
    try {
      return { path, text: readFileSync(join(root, path), 'utf8') };
    } catch {
      return []; // deleted in the working tree
    }
  });
}

/** The folders of the apps and libraries, such as `libs/db`. */
export const listProjects = () =>
  listFiles('apps/*/project.json', 'libs/*/project.json')
    .filter((path) => path.split('/').length === 3)
    .map((path) => dirname(path));
