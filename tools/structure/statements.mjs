// The statements that the code declares (libs/db `statement`), and those that no test has run.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { root } from '../start/paths.mjs';
import { productionFiles } from './measure.mjs';

/** Where test processes list the statements that they have run, a folder for each project (libs/db check-results). */
const notesFolder = join(root, 'dist', 'statements');

/** `sql.build` is that of libs/entities, whose texts are built for each call. */
const makers = new Set(['statement', 'unprepared', 'sql.build', 'leaseSql.tenants']);
/** Where `leaseSql.tenants` passes its caller's name on. */
const passedOn = 'libs/db/src/lease-sql.ts';

/** @returns {{ name: string, path: string }[]} each declaration, in the order of the files. */
export function declaredStatements() {
  const found = [];
  for (const { path, source } of productionFiles()) {
    const visit = (node) => {
      if (ts.isCallExpression(node) && makers.has(node.expression.getText()) && path !== passedOn) {
        const [name] = node.arguments;
        if (!ts.isStringLiteralLike(name)) throw new Error(`${path}: the name of a statement is not a literal`);
        found.push({ name: name.text, path });
      }
      ts.forEachChild(node, visit);
    };
    visit(source);
  }
  return found;
}

/** What the noted test runs have run: `[name, reason]`, the reason being that of `acrossTenants`. */
const runStatements = () =>
  readdirSync(notesFolder, { recursive: true })
    .filter((file) => file.endsWith('.txt'))
    .flatMap((file) => readFileSync(join(notesFolder, file), 'utf8').trimEnd().split('\n'))
    .map((line) => line.split('\t'));

/** The declared statements that none of the noted test runs has run. */
export function untestedStatements() {
  const run = new Set(runStatements().map(([name]) => name));
  return declaredStatements().filter(({ name }) => !run.has(name));
}

/** Statements that may touch the rows of several tenants, by reason: the list that a new one is added to (docs/scaling.md). */
const acrossTenants = JSON.parse(readFileSync(new URL('./across-tenants.json', import.meta.url), 'utf8'));

/** What the noted test runs have run across tenants and is not listed, and what is listed and was not. */
export function unlistedAcrossTenants() {
  const declared = new Set(declaredStatements().map(({ name }) => name));
  const run = runStatements().filter(([name, reason]) => reason !== undefined && declared.has(name));
  const found = new Set(run.map(([name, reason]) => `${name}: ${reason}`));
  const listed = new Set(
    Object.entries(acrossTenants).flatMap(([reason, names]) => names.map((name) => `${name}: ${reason}`)),
  );
  const without = (some, others) => [...some].filter((one) => !others.has(one)).sort();
  return { unlisted: without(found, listed), unused: without(listed, found) };
}
