import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../start/paths.mjs';

const columns = ['postgres', 'replica', 'redis', 'memoryMiB', 'fileHandles'];

/**
 * Reads what each process has at most from the table of docs/operations.md.
 * @returns {Record<string, { postgres: number, replica: number, redis: number, memoryMiB: number,
 *   fileHandles: number }>} by process
 */
export function readHoldings() {
  const page = readFileSync(join(root, 'docs', 'operations.md'), 'utf8');
  const [, section] = page.split('### What a process holds\n');
  const rows = section.split('\n###')[0].match(/^\| .*\d \|$/gm);
  return Object.fromEntries(
    rows.map((row) => {
      const [name, ...values] = row.slice(2, -2).split(' | ');
      return [
        name.split(',')[0],
        Object.fromEntries(columns.map((column, at) => [column, Number(values[at])])),
      ];
    }),
  );
}
