import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../start/paths.mjs';
import { deadCitations } from './citations.mjs';
import { measureStructure } from './measure.mjs';
import { ownerOf, readers } from './owners.mjs';
import { declaredStatements } from './statements.mjs';

const { tables } = measureStructure();

test('one statement inserts events', () => {
  assert.equal(tables.get('events').inserts, 1);
});

test('cited files, headings and decisions exist', () => {
  assert.deepEqual(deadCitations(), []);
});

test('only the owner of a table names it, except for readers that are listed with a reason', () => {
  for (const table of tables.keys()) assert.ok(ownerOf[table], `${table} has an owner`);
  const listed = new Set(readers.map(({ table, place }) => `${place} names ${table}`));
  const found = new Set();
  for (const [table, { named, writers }] of tables) {
    for (const place of writers) assert.equal(place, ownerOf[table], `${place} writes ${table}`);
    for (const place of named) if (place !== ownerOf[table]) found.add(`${place} names ${table}`);
  }
  assert.deepEqual([...found].sort(), [...listed].sort());
});

test('each statement has a unique name, under which connections prepare it', () => {
  const names = declaredStatements().map(({ name }) => name);
  assert.ok(names.length > 100, `only ${names.length} statements were found`);
  assert.deepEqual(
    names.filter((name, at) => names.indexOf(name) !== at),
    [],
  );
});

test('the check for import cycles reads all sources, with their imports of types', () => {
  const { fileExtensions, detectiveOptions } = JSON.parse(
    readFileSync(join(root, '.madgerc'), 'utf8'),
  );
  assert.deepEqual(fileExtensions, ['ts', 'tsx']);
  for (const extension of fileExtensions)
    assert.equal(detectiveOptions[extension].skipTypeImports, false);
});

test('the workspace graph contains the imports of the sources, so that a changed library invalidates caches', () => {
  const dependencies = readGraph();
  const targets = (name) => dependencies[name].map(({ target }) => target);
  assert.ok(targets('chat').includes('agents'), 'chat imports agents');
  assert.ok(targets('agents').includes('contracts'), 'agents imports contracts');
  const edges = Object.values(dependencies).flat().length;
  assert.ok(edges > 100, `only ${edges} dependencies between projects were found`);
});

function readGraph() {
  const folder = mkdtempSync(join(tmpdir(), 'parley-graph-'));
  const file = join(folder, 'graph.json');
  try {
    execFileSync(
      process.execPath,
      [join(root, 'node_modules/.bin/nx'), 'graph', `--file=${file}`],
      {
        cwd: root,
        env: { ...process.env, NX_DAEMON: 'false', NX_NO_CLOUD: 'true' },
        stdio: 'ignore',
      },
    );
    return JSON.parse(readFileSync(file, 'utf8')).graph.dependencies;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
