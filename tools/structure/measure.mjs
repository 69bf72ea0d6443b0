// Measures the structure of the code from its sources: which projects name and write which tables,
// and the names that libraries export.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { root } from '../start/paths.mjs';
import { readFiles } from './files.mjs';

/** Files that only run in tests, benchmarks and development. */
const notProduction =
  /^(apps\/(bench|e2e|stand-ins)|libs\/testing)\/|\.test\.ts$|\/(testing|generated|fixtures)\/|-under-test\.ts$/;

/** @returns {{ path: string, place: string, source: ts.SourceFile, lines: number }[]} */
export function productionFiles() {
  return readFiles('apps/*.ts', 'apps/*.tsx', 'libs/*.ts')
    .filter(({ path }) => !notProduction.test(path))
    .map(({ path, text }) => {
      const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
      return {
        path,
        place: path.split('/').slice(0, 2).join('/'),
        source,
        lines: text.split('\n').length - 1,
      };
    });
}

/** Table names of the Prisma schema by the client's model name (`apiKey` → `api_keys`). */
function tables() {
  const schema = readFileSync(join(root, 'prisma/schema.prisma'), 'utf8');
  const models = [...schema.matchAll(/^model (\w+) \{(.*?)^\}/gms)];
  return new Map(
    models.map(([, name, body]) => [
      name[0].toLowerCase() + name.slice(1),
      /@@map\("(\w+)"\)/.exec(body)[1],
    ]),
  );
}

/** All strings and templates of a file, with `?` in place of the expressions of a template. */
function texts(source) {
  const found = [];
  const visit = (node) => {
    if (ts.isStringLiteralLike(node)) found.push(node.text);
    else if (ts.isTemplateExpression(node))
      found.push(
        [node.head.text, ...node.templateSpans.map((span) => span.literal.text)].join(' ? '),
      );
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

const written = /\b(insert into|update|delete from)\s+(?:only\s+)?"?(\w+)/gi;
const named =
  /\b(?:from|join|into|update|using|truncate|table)\s+(?:only\s+)?"?(\w+)"?|,\s*(\w+)\s+(?:as\s+)?(?!and\b)[a-z]\w{0,2}\b(?!\s*\()/gi;

/**
 * The projects that name and write each table, in SQL or with the Prisma client:
 * `{ table: { named, writers, inserts } }`.
 */
function tableUse(files) {
  const models = tables();
  const use = new Map(
    [...models.values()].map((table) => [
      table,
      { named: new Set(), writers: new Set(), inserts: 0 },
    ]),
  );
  for (const { place, source } of files) {
    for (const text of texts(source)) {
      if (!/\b(from|into|update|join)\b/i.test(text)) continue;
      for (const [, a, b] of text.matchAll(named)) use.get(a ?? b)?.named.add(place);
      for (const [, verb, table] of text.matchAll(written)) {
        const entry = use.get(table);
        entry?.writers.add(place);
        if (entry && verb.toLowerCase() === 'insert into') entry.inserts += 1;
      }
    }
    for (const [, model, verb] of source.text.matchAll(
      /\.(\w+)\.(findMany|findFirst|findUnique|create|createMany|update|updateMany|upsert|delete|deleteMany|count|aggregate)\(/g,
    )) {
      const entry = use.get(models.get(model));
      entry?.named.add(place);
      if (entry && !/^(find|count|aggregate)/.test(verb)) entry.writers.add(place);
    }
  }
  return use;
}

/** The number of names that the index files of libraries export. */
const exportedNames = (files) =>
  files
    .filter(({ path }) => /^libs\/[\w-]+\/src\/index\.ts$/.test(path))
    .flatMap(({ source }) => source.statements)
    .filter((statement) => ts.isExportDeclaration(statement) && statement.exportClause)
    .reduce((sum, { exportClause }) => sum + exportClause.elements.length, 0);

export function measureStructure() {
  const files = productionFiles();
  return { files, tables: tableUse(files), exportedNames: exportedNames(files) };
}
