// The statements that the code declares (libs/db `statement`), and the statements
// that tests have run.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { root } from '../start/paths.mjs';
import { productionFiles } from './measure.mjs';

/**
 * Test processes record the statements that they run here, in a folder for each project (libs/db
 * note-statements).
 */
const notesFolder = join(root, 'dist', 'statements');

/**
 * Functions that declare a statement. `sql.build` of libs/entities builds its text for each call.
 */
const declaringFunctions = new Set([
  'statement',
  'unprepared',
  'listStatement',
  'unpreparedList',
  'sql.build',
  'leaseSql.tenants',
  'backlog',
]);
/** These functions declare a statement with the name that their caller gives. */
const forwardingFiles = [
  'libs/db/src/lease-sql.ts',
  'libs/db/src/backlog.ts',
  'libs/db/src/page.ts',
  'libs/entities/src/sql.ts',
];

/** @returns {{ name: string, path: string }[]} each declaration, in the order of the files. */
export function declaredStatements() {
  const found = [];
  for (const { path, source } of productionFiles()) {
    const visit = (node) => {
      if (
        ts.isCallExpression(node) &&
        declaringFunctions.has(node.expression.getText()) &&
        !forwardingFiles.includes(path)
      ) {
        const [name] = node.arguments;
        if (!ts.isStringLiteralLike(name))
          throw new Error(`${path}: the name of a statement must be a literal`);
        found.push({ name: name.text, path });
      }
      ts.forEachChild(node, visit);
    };
    visit(source);
  }
  return found;
}

/**
 * The declared statements that tests of these projects have run, or of all when `projects` is
 * null: each line of the notes once. Notes of the partitioned runs are left out, as `npm test`
 * does not renew them.
 * @returns {import('../../libs/db/src/testing/note-statements').StatementNote[]} `reason` is the
 *   one given to `acrossTenants`, if any
 */
export function runStatements(projects = null) {
  const declared = new Set(declaredStatements().map(({ name }) => name));
  const lines = new Set();
  for (const folder of readdirSync(notesFolder)) {
    if (projects !== null ? !projects.includes(projectOf(folder)) : folder.endsWith('-partitioned'))
      continue;
    for (const file of readdirSync(join(notesFolder, folder)).filter((name) =>
      name.endsWith('.jsonl'),
    ))
      for (const line of readFileSync(join(notesFolder, folder, file), 'utf8').split('\n'))
        lines.add(line);
  }
  lines.delete('');
  return Array.from(lines, (line) => JSON.parse(line)).filter(({ name }) => declared.has(name));
}

/** The folder of the browser tests has the name of their target. */
const projectOf = (folder) => (folder === 'e2e-browser' ? 'e2e' : folder);

/** Declared statements that no recorded test has run. */
export function untestedStatements() {
  const run = new Set(runStatements().map(({ name }) => name));
  return declaredStatements().filter(({ name }) => !run.has(name));
}

/**
 * Statements that may touch rows of several tenants, by reason. A new one must be added to this
 * list (docs/scaling.md).
 */
const acrossTenants = JSON.parse(
  readFileSync(new URL('./across-tenants.json', import.meta.url), 'utf8'),
);

/**
 * Statements that recorded tests ran across tenants but that are not listed, and listed statements
 * that did not run.
 */
export function unlistedAcrossTenants() {
  const run = runStatements().filter(({ reason }) => reason !== undefined);
  const found = new Set(run.map(({ name, reason }) => `${name}: ${reason}`));
  const listed = new Set(
    Object.entries(acrossTenants).flatMap(([reason, names]) =>
      names.map((name) => `${name}: ${reason}`),
    ),
  );
  const without = (some, others) => [...some].filter((one) => !others.has(one)).sort();
  return { unlisted: without(found, listed), unused: without(listed, found) };
}
