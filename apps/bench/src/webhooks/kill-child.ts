import { killRun } from './kill-run';

/**
 * `kill-child <kills> <deliveries per second> <bundles> <folder>`: prints the report
 * as one JSON line.
 */
const [kills, perSecond, bundles = '', folder = ''] = process.argv.slice(2);
killRun({
  kills: Number(kills),
  perSecond: Number(perSecond),
  bundles,
  folder,
  log: (line) => process.stderr.write(`${line}\n`),
}).then(
  (report) => {
    process.stdout.write(`${JSON.stringify(report)}\n`, () => process.exit(0));
  },
  (error: unknown) => {
    process.stderr.write(`${(error as Error).stack}\n`);
    process.exit(1);
  },
);
