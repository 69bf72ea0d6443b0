/**
 * A figure of a bench (`report` of apps/bench/src/measure.ts).
 * @typedef {{ name: string, value: number, unit: string, atMost?: number, atLeast?: number,
 *   target?: number }} Figure
 */
/**
 * The results of `bench all`.
 * @typedef {{ machine: string, benches: { name: string, args: string[], load: number, seconds:
 *   number, exitCode: number, figures: Figure[] }[] }} Results
 */

/** The least relative noise: of two runs that happen to agree, and of a single one. */
const leastNoise = { two: 0.05, one: 0.15 };

/** Whether a figure reaches its bar; null when it has none. */
export function isMet({ value, atMost, atLeast }) {
  if (atMost === undefined && atLeast === undefined) return null;
  return value <= (atMost ?? Infinity) && value >= (atLeast ?? -Infinity);
}

/**
 * One table of all figures, with `missed` where a bar is, and a line for each bench that failed.
 * @param {Results} results
 */
export function resultTable({ benches }) {
  const rows = benches.flatMap(({ figures }) =>
    figures.map((figure) => [
      figure.name,
      `${digits(figure.value)} ${figure.unit}`,
      barOf(figure),
      figure.target === undefined ? '' : digits(figure.target),
      isMet(figure) === false ? 'missed' : isMet(figure) ? 'met' : '',
    ]),
  );
  const failed = benches
    .filter(({ exitCode }) => exitCode !== 0)
    .map(({ name }) => `The bench ${name} failed.`);
  return [markdown(['figure', 'measured', 'bar', 'target', ''], rows), ...failed].join('\n\n');
}

/**
 * The figures of `after` that differ from those of `before`, one or two runs of the same
 * version, by more than the noise: the difference of the two runs, at least 5 % of their mean;
 * 15 % with a single run.
 * @param {Results[]} before
 * @param {Results} after
 */
export function movedFigures(before, after) {
  const runs = before.map(figuresOf);
  return [...figuresOf(after).values()].flatMap((figure) => {
    const values = runs.flatMap((run) => run.get(figure.name)?.value ?? []);
    if (values.length === 0) return [];
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    const least = Math.abs(mean) * (values.length > 1 ? leastNoise.two : leastNoise.one);
    const noise = Math.max(least, Math.max(...values) - Math.min(...values));
    return Math.abs(figure.value - mean) > noise ? [{ ...figure, mean, noise }] : [];
  });
}

/** A table of what moved, or a sentence when nothing did. */
export function comparison(before, after) {
  const moved = movedFigures(before, after);
  if (moved.length === 0) return 'No figure moved beyond the noise.';
  const rows = moved.map((figure) => [
    figure.name,
    `${digits(figure.mean)} ± ${digits(figure.noise)}`,
    `${digits(figure.value)} ${figure.unit}`,
    `${(figure.value / figure.mean).toFixed(2)}×`,
    directionOf(figure),
  ]);
  return markdown(['figure', 'before', 'after', 'after ÷ before', ''], rows);
}

/** Better or worse; unknown for a figure without a bar. */
function directionOf({ value, mean, atMost, atLeast }) {
  if (atMost === undefined && atLeast === undefined) return '';
  return value < mean === (atMost !== undefined) ? 'better' : 'worse';
}

const figuresOf = ({ benches }) =>
  new Map(benches.flatMap(({ figures }) => figures).map((figure) => [figure.name, figure]));

const barOf = ({ atMost, atLeast }) =>
  atMost !== undefined
    ? `≤ ${digits(atMost)}`
    : atLeast !== undefined
      ? `≥ ${digits(atLeast)}`
      : '';

/** Three significant digits, and never fewer than the digits before the point. */
const digits = (value) =>
  Math.abs(value) >= 100
    ? Math.round(value).toLocaleString('en')
    : String(Number(value.toPrecision(3)));

const markdown = (head, rows) =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
