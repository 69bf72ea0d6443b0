import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import { join, relative } from 'node:path';
import { performance } from 'node:perf_hooks';
import { Problem, print } from '../start/output.mjs';
import { root } from '../start/paths.mjs';
import { resultTable } from './results.mjs';

/**
 * The arguments with which each bench has its short form. Together they take 19
 * minutes on two cores.
 */
const shortForms = {
  idle: ['30'],
  gateway: ['2'],
  data: ['100000'],
  chat: [],
  triggers: ['speed'],
  webhooks: ['0', '5'],
  fairness: [],
  management: ['100000'],
  executor: [],
  streams: [],
  answers: [],
  console: ['2000'],
  growth: [],
  floods: [],
};

/**
 * Runs the benches that report figures, one after the other, also after one that fails. Writes
 * their figures to one file and prints them in one table.
 * @param {(name: string, args: string[], env: Record<string, string>) => Promise<number>} runBench
 * @param {string[]} only names of benches; empty for all
 */
export async function runAll(runBench, only) {
  const unknown = only.filter((name) => !(name in shortForms));
  if (unknown.length > 0)
    throw new Problem(
      `Without a short form: ${unknown.join(', ')}. Available: ${Object.keys(shortForms).join(', ')}.`,
    );
  const folder = join(root, 'dist', 'bench');
  mkdirSync(folder, { recursive: true });
  const startedAt = new Date().toISOString();
  const file = join(folder, `results-${startedAt.replaceAll(/[:.]/g, '-')}.json`);
  const figuresFile = `${file}.figures`;
  const { length, 0: cpu } = cpus();
  const machine = `${length} cores (${cpu?.model}), ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.versions.node}`;
  const benches = [];
  for (const [name, args] of Object.entries(shortForms)) {
    if (only.length > 0 && !only.includes(name)) continue;
    const load = loadavg()[0];
    const beganAt = performance.now();
    print(`\n# ${[name, ...args].join(' ')}, load ${load.toFixed(2)}\n`);
    writeFileSync(figuresFile, '');
    const exitCode = await runBench(name, args, { PARLEY_BENCH_FIGURES: figuresFile }).catch(
      (error) => {
        print(String(error.message));
        return 1;
      },
    );
    const figures = readFileSync(figuresFile, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
    const seconds = Math.round((performance.now() - beganAt) / 1_000);
    benches.push({ name, args, load, seconds, exitCode, figures });
    // After each bench, so that a run that is stopped keeps what it has measured.
    writeFileSync(file, `${JSON.stringify({ startedAt, machine, benches }, null, 2)}\n`);
  }
  rmSync(figuresFile);
  print(`\n${resultTable({ machine, benches })}\n\n${relative(root, file)}`);
  return benches.some(({ exitCode }) => exitCode !== 0) ? 1 : 0;
}
