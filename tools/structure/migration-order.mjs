// The order of migrations. A database applies those that it lacks in the order of their names. A
// migration that sorts before an older one is therefore applied before it by a new database, and
// after it by an existing one. prisma/migration-order.txt lists the names in the order in which
// they were added, each at the end.
import { execFileSync } from 'node:child_process';
import { appendFileSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../start/paths.mjs';

const listPath = 'prisma/migration-order.txt';

const linesOf = (text) => text.split('\n').filter(Boolean);

/** The folders of the migrations, in the order in which a new database applies them. */
export const migrationNames = () =>
  readdirSync(join(root, 'prisma/migrations'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort();

/** The names in the order in which they were added. */
export const listedNames = () => linesOf(readFileSync(join(root, listPath), 'utf8'));

export const appendToList = (name) => appendFileSync(join(root, listPath), `${name}\n`);

/**
 * The list that this branch began with. Empty where Git does not have it, as in a copy
 * without history.
 */
export function listedOnMain() {
  const git = (...args) =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  for (const branch of ['origin/main', 'main']) {
    try {
      const start = git('merge-base', 'HEAD', branch).trim();
      return linesOf(git('show', `${start}:${listPath}`));
    } catch {
      continue; // No such branch, or it has no list.
    }
  }
  return [];
}

/**
 * The time at the beginning of a new migration's name: now, or the next number after the newest
 * migration if that is later.
 * @param {string[]} names the existing migrations, sorted.
 * @param {Date} now
 */
export function nextStamp(names, now) {
  const time = now.toISOString().replace(/\D/g, '').slice(0, 14);
  const newest = names.at(-1)?.slice(0, 14) ?? '0';
  return String(Math.max(Number(time), Number(newest) + 1));
}

/**
 * Returns what is wrong with the order of the migrations.
 * @param {{ names: string[], listed: string[], onMain: string[] }} migrations the folders, the list
 *   and the list on main.
 * @returns {string[]}
 */
export function orderProblems({ names, listed, onMain }) {
  const problems = [];
  for (const name of names) {
    if (!listed.includes(name))
      problems.push(`${name} is missing in ${listPath}: append it as the last line`);
  }
  for (const name of listed) {
    if (!names.includes(name)) problems.push(`${name} is in ${listPath} and has no folder`);
  }
  listed.forEach((name, at) => {
    const older = listed.slice(0, at).findLast((other) => other >= name);
    if (older !== undefined)
      problems.push(`${name} was added after ${older} and does not sort after it: rename it`);
  });
  // A baseline begins a new list.
  if (onMain[0] !== listed[0] && listed[0]?.endsWith('_baseline')) return problems;
  onMain.forEach((name, at) => {
    if (listed[at] !== name)
      problems.push(`line ${at + 1} of ${listPath} is ${name} on main: only append to the list`);
  });
  return problems;
}
