import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../start/paths.mjs';
import { resultTable } from './results.mjs';

/**
 * A run in docs/bench-history.json.
 * @typedef {{ startedAt: string, machine: string, load: number, figures: import('./results.mjs').Figure[] }} Run
 */

const page = join(root, 'docs', 'bench.md');
const history = join(root, 'docs', 'bench-history.json');
const marks = { begin: '<!-- The last run: begin -->', end: '<!-- The last run: end -->' };

/**
 * Adds a run of `bench all` to docs/bench-history.json and shows it in docs/bench.md.
 * @param {import('./results.mjs').Results} results
 */
export function record(results) {
  const runs = [...readHistory(), toRun(results)];
  writeFileSync(history, historyText(runs));
  writeFileSync(page, withLastRun(readFileSync(page, 'utf8'), runs.at(-1)));
}

/** @returns {Run[]} the recorded runs, oldest first */
export function readHistory() {
  return JSON.parse(readFileSync(history, 'utf8'));
}

/** @returns {Run} */
export function toRun({ startedAt, machine, benches }) {
  const failed = benches.filter(({ exitCode }) => exitCode !== 0).map(({ name }) => name);
  if (failed.length > 0) throw new Error(`Not recorded, because benches failed: ${failed}.`);
  return {
    startedAt,
    machine,
    load: Math.max(...benches.map(({ load }) => load)),
    figures: benches.flatMap(({ figures }) => figures),
  };
}

/** The text of the history: a figure a line, so that the difference of two versions is readable. */
export function historyText(runs) {
  const runTexts = runs.map(({ figures, ...head }) => {
    const lines = figures.map((figure) => `      ${JSON.stringify(figure)}`);
    const fields = Object.entries(head).map(
      ([name, value]) => `    ${JSON.stringify(name)}: ${JSON.stringify(value)},`,
    );
    return ['  {', ...fields, '    "figures": [', lines.join(',\n'), '    ]', '  }'].join('\n');
  });
  return `[\n${runTexts.join(',\n')}\n]\n`;
}

/**
 * The page with the table of a run between its two marks.
 * @param {string} text
 * @param {Run} run
 */
export function withLastRun(text, run) {
  const [before, rest] = text.split(marks.begin);
  const after = rest?.split(marks.end)[1];
  if (after === undefined) throw new Error(`docs/bench.md has no "${marks.begin}".`);
  const head = `${run.startedAt.slice(0, 10)}, ${run.machine}; load at most ${run.load.toFixed(1)} before a bench.`;
  const table = resultTable({ benches: [{ name: '', exitCode: 0, figures: run.figures }] });
  return `${before}${marks.begin}\n\n${head}\n\n${table}\n\n${marks.end}${after}`;
}
