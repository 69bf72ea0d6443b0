// node tools/structure.mjs: prints figures of the structure, which have no limits: the density of
// each project, the functions that do not fit on a screen, and the projects that name and write
// each table. What must hold is in tools/structure/*.test.mjs.
import { longFunctions, measureDensity } from './structure/density.mjs';
import { measureStructure } from './structure/measure.mjs';

const { files, tables, exportedNames } = measureStructure();

printTable(
  [
    'project',
    'lines',
    'tokens a line',
    'conditionals',
    'nested',
    'spread literals',
    'functions > 80 lines',
  ],
  measureDensity(files).map(
    ({ project, lines, tokensPerLine, conditionals, nested, spreads, longFunctions }) => [
      project,
      lines,
      tokensPerLine.toFixed(1),
      conditionals,
      nested,
      spreads,
      longFunctions,
    ],
  ),
);

console.log('\nFunctions of more than 80 lines:');
for (const { path, line, name, lines } of longFunctions(files))
  console.log(`${lines}  ${path}:${line} ${name}`);

console.log(`\nNames exported by libraries: ${exportedNames}`);

console.log('\nTables, and the projects that name them:');
for (const [table, { named, writers }] of [...tables].sort(([a], [b]) => (a < b ? -1 : 1))) {
  const places = [...named]
    .sort()
    .map((place) => (writers.has(place) ? `${place} (writes)` : place));
  console.log(`${table}: ${places.join(', ')}`);
}

/** The first column is text, the others are numbers. */
function printTable(titles, rows) {
  const widths = titles.map((title, at) =>
    Math.max(title.length, ...rows.map((row) => String(row[at]).length)),
  );
  for (const row of [titles, ...rows]) {
    const cells = row.map((cell, at) =>
      at === 0 ? cell.padEnd(widths[at]) : String(cell).padStart(widths[at]),
    );
    console.log(cells.join('  '));
  }
}
