// node tools/structure.mjs: the structure's figures beside their limits (tools/structure/limits.json), and who names and
// writes each table.
import { readFileSync } from 'node:fs';
import { measureStructure } from './structure/measure.mjs';

const limits = JSON.parse(readFileSync(new URL('./structure/limits.json', import.meta.url), 'utf8'));
const { figures, tables } = measureStructure();
for (const [name, value] of Object.entries(figures)) console.log(`${name}: ${value} (limit ${limits[name]})`);
console.log();
for (const [table, { named, writers }] of [...tables].sort(([a], [b]) => (a < b ? -1 : 1))) {
  const places = [...named].sort().map((place) => (writers.has(place) ? `${place} (writes)` : place));
  console.log(`${table}: ${places.join(', ')}`);
}
