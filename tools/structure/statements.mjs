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

/** The declared statements that none of the noted test runs has run. */
export function untestedStatements() {
  const run = new Set(
    readdirSync(notesFolder, { recursive: true })
      .filter((file) => file.endsWith('.txt'))
      .flatMap((file) => readFileSync(join(notesFolder, file), 'utf8').split('\n')),
  );
  return declaredStatements().filter(({ name }) => !run.has(name));
}
