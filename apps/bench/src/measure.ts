import { appendFileSync, readFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';

/** The durations of calls in milliseconds, in the order of the calls. */
export type Samples = number[];

export interface Summary {
  count: number;
  /** The duration without other load. */
  p10: number;
  p50: number;
  p95: number;
  p99: number;
}

export function summarize(samples: Samples): Summary {
  const sorted = Float64Array.from(samples).sort();
  const at = (share: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? NaN;
  return { count: sorted.length, p10: at(0.1), p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}

/** Measures `count` calls, one after the other. */
export async function measure(count: number, call: () => Promise<unknown>): Promise<Samples> {
  const samples: Samples = [];
  for (let index = 0; index < count; index += 1) {
    const startedAt = performance.now();
    await call();
    samples.push(performance.now() - startedAt);
  }
  return samples;
}

/**
 * Measures several calls in short, repeated turns, so that other load on the machine affects all of
 * them equally. The first round is a warm-up and is not counted.
 */
export async function measureInTurns<K extends string>(
  calls: Record<K, () => Promise<unknown>>,
  { rounds, perRound }: { rounds: number; perRound: number },
): Promise<Record<K, Samples>> {
  const names = Object.keys(calls) as K[];
  const all = Object.fromEntries(names.map((name) => [name, [] as Samples])) as Record<K, Samples>;
  for (let round = 0; round <= rounds; round += 1) {
    for (const name of names) {
      const samples = await measure(perRound, calls[name]);
      if (round > 0) all[name].push(...samples);
    }
  }
  return all;
}

/**
 * Runs `concurrency` callers without pauses for `durationMs`. Returns calls per second and the
 * duration of each call.
 */
export async function load(
  concurrency: number,
  durationMs: number,
  caller: (index: number) => () => Promise<unknown>,
): Promise<{ perSecond: number; samples: Samples }> {
  const samples: Samples = [];
  const startedAt = performance.now();
  const work = async (index: number) => {
    const call = caller(index);
    while (performance.now() - startedAt < durationMs) samples.push(...(await measure(1, call)));
  };
  await Promise.all(Array.from({ length: concurrency }, (_, index) => work(index)));
  return { perSecond: (samples.length * 1000) / (performance.now() - startedAt), samples };
}

/** The median of ratios, and their middle half. */
export function spread(ratios: readonly number[]): string {
  const sorted = ratios.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor(share * sorted.length)]!.toFixed(2);
  return `${at(0.5)} (${at(0.25)}–${at(0.75)})`;
}

/** One line that describes the machine. */
export function machine(): string {
  const { length } = cpus();
  const memory = Math.round(totalmem() / 1024 ** 3);
  return `${length} cores, ${memory} GiB, Node ${process.versions.node}, load average before ${loadavg()[0]!.toFixed(2)}`;
}

/** The bound that a figure has to reach, and the better value that is aimed at. */
export interface Bar {
  atMost?: number;
  atLeast?: number;
  target?: number;
}

/**
 * Adds a figure to the results of `bench all`. Its name begins with that of the bench,
 * and identifies it.
 */
export function report(name: string, value: number, unit: string, bar: Bar = {}): void {
  const { PARLEY_BENCH_FIGURES: file } = process.env;
  if (file) appendFileSync(file, `${JSON.stringify({ name, value, unit, ...bar })}\n`);
}

/** Formats milliseconds with significant digits only. */
export const ms = (value: number): string => (value < 10 ? value.toFixed(3) : value.toFixed(1));

/** A Markdown table. */
export function table(head: string[], rows: (string | number)[][]): string {
  const line = (cells: (string | number)[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** Memory of a process, in KiB. */
export const residentKib = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]);
