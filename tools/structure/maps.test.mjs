// The tables of apps and libraries, in CONTRIBUTING and docs/architecture.md, have all of them.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../start/paths.mjs';
import { listProjects } from './files.mjs';

const namesOf = (kind) =>
  listProjects()
    .filter((project) => project.startsWith(`${kind}/`))
    .map((project) => project.slice(kind.length + 1));

/** The text from a heading to the next one. */
function sectionOf(page, heading) {
  const text = readFileSync(join(root, page), 'utf8');
  const begin = text.indexOf(`\n## ${heading}\n`);
  assert.notEqual(begin, -1, `${page} has the heading ${heading}`);
  const end = text.indexOf('\n## ', begin + 1);
  return text.slice(begin, end === -1 ? undefined : end);
}

/** The names in the first column of a table, row by row. */
const firstColumn = (section) =>
  [...section.matchAll(/^\| (`[^|]+`) \|/gm)].map(([, cell]) =>
    [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name),
  );

test('the map of CONTRIBUTING has each app and library once', () => {
  const listed = firstColumn(sectionOf('CONTRIBUTING.md', 'The map')).flatMap((names) => {
    const [kind] = names[0].split('/');
    return names.map((name) => (name.includes('/') ? name : `${kind}/${name}`));
  });
  const projects = listed.filter((name) => /^(apps|libs)\//.test(name));
  assert.deepEqual(projects.sort(), listProjects().sort());
});

test('the tables of docs/architecture.md have each app and library once', () => {
  const listed = (heading) => firstColumn(sectionOf('docs/architecture.md', heading)).flat().sort();
  assert.deepEqual(listed('Apps'), namesOf('apps').sort());
  assert.deepEqual(listed('Libraries'), namesOf('libs').sort());
});
