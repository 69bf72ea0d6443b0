// How long the files and targets of a run took. Each process writes its figures to a file of
// dist/durations; the runner sums them.
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../start/paths.mjs';

const folder = join(root, 'dist', 'durations');
const report = join(root, 'dist', 'test-durations.json');
const slowestCount = 20;
/** Linux counts processor time in hundredths of a second. */
const tickMs = 10;

export function clearDurations() {
  rmSync(folder, { recursive: true, force: true });
}

/**
 * @param {string} name of the file
 * @param {{ targets?: { target: string, wallMs: number, cpuMs: number | null }[], files?: { target:
 *   string, path: string, wallMs: number }[] }} figures
 */
export function writeDurations(name, figures) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${name.replaceAll(':', '-')}.json`), JSON.stringify(figures));
}

/**
 * Processor time of all processes that this one started and that have ended, with those that they
 * started; null on macOS.
 */
export function childrenCpuMs() {
  if (!existsSync('/proc/self/stat')) return null;
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1].split(' ');
  // utime, stime, cutime and cstime are fields 14 to 17 of proc(5); the first one here is field 3.
  return (Number(fields[13]) + Number(fields[14])) * tickMs;
}

/**
 * Writes dist/test-durations.json: the whole run, its targets and its files, the slowest first. A
 * target from the cache has no figures.
 * @param {{ wallMs: number, cpuMs: number | null }} whole
 */
export function reportDurations(whole) {
  const all = existsSync(folder)
    ? readdirSync(folder).map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')))
    : [];
  const slowestFirst = (some) => some.sort((a, b) => b.wallMs - a.wallMs);
  const targets = slowestFirst(all.flatMap((one) => one.targets ?? []));
  const files = slowestFirst(all.flatMap((one) => one.files ?? []));
  mkdirSync(join(root, 'dist'), { recursive: true });
  writeFileSync(report, `${JSON.stringify({ ...whole, targets, files }, null, 2)}\n`);
  return { targets, files };
}

/** The lines that a run prints about the slowest files. */
export function slowestLines(files) {
  if (files.length === 0) return [];
  const lines = files
    .slice(0, slowestCount)
    .map(({ path, wallMs }) => `${seconds(wallMs).padStart(9)}  ${path}`);
  return [`The slowest of ${files.length} files (all: dist/test-durations.json):`, ...lines];
}

const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;
