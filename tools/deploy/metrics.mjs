import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../start/paths.mjs';

const sources = globSync('{apps,libs}/*/src/**/*.ts', { cwd: root })
  .filter((file) => !file.endsWith('.test.ts'))
  .map((file) => readFileSync(join(root, file), 'utf8'))
  .join('\n');
/** Metrics of Prometheus itself, and metrics that prom-client adds to every process. */
const builtIn = /^(up|process_\w+|nodejs_\w+)$/;

/** The metrics in a PromQL expression: words that are not functions, keywords or labels. */
export function metricsIn(expression) {
  const bare = expression
    .replace(/"[^"]*"/g, '')
    .replace(/\{[^}]*\}/g, '')
    .replace(/\b(by|on|without)\s*\([^)]*\)/g, '')
    .replace(/\[[^\]]*\]/g, '');
  const words = [...bare.matchAll(/\b[a-z][a-z0-9_]*\b(?!\s*\()/g)].map(([word]) => word);
  return words.filter((word) => !/^(by|on|or|and|unless|sum|max|topk)$/.test(word));
}
const baseOf = (metric) => metric.replace(/_(bucket|count|sum)$/, '');
/** Whether a process exports a metric of this name. */
export const exists = (metric) => builtIn.test(metric) || sources.includes(`'${baseOf(metric)}'`);
