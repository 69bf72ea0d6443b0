// node tools/structure.mjs: prints the figures of the structure with their limits (tools/structure/limits.json), and the
// projects that name and write each table. Exits with status 1 if a limit is exceeded.
import { readFileSync } from 'node:fs';
import { measureStructure } from './structure/measure.mjs';

const limits = JSON.parse(readFileSync(new URL('./structure/limits.json', import.meta.url), 'utf8'));
const { figures, tables } = measureStructure();
for (const [name, value] of Object.entries(figures)) {
  const isExceeded = value > limits[name];
  if (isExceeded) process.exitCode = 1;
  console.log(`${name}: ${value} (limit ${limits[name]}${isExceeded ? ', exceeded' : ''})`);
}
console.log();
for (const [table, { named, writers }] of [...tables].sort(([a], [b]) => (a < b ? -1 : 1))) {
  const places = [...named].sort().map((place) => (writers.has(place) ? `${place} (writes)` : place));
  console.log(`${table}: ${places.join(', ')}`);
}
