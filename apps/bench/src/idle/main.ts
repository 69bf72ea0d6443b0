import { setTimeout as sleep } from 'node:timers/promises';
import { startStack } from '@parley/testing';
import { machine, report, table } from '../measure';
import { type Usage, usageOf } from '../process-usage';

/** The work of the start, such as compiling functions and schedules of jobs, ends in this time. */
const settleMs = 20_000;

/**
 * `node tools/bench.mjs idle [seconds]`: memory and processor time of every service of a stack that
 * has nothing to do, as in a deployment. Sandbox processes count for the tool executor. PostgreSQL
 * and Redis are shown and not counted.
 */
async function main(): Promise<void> {
  const { PARLEY_BENCH_BUNDLES: bundles = '', DATABASE_URL = '', REDIS_URL = '' } = process.env;
  const idleMs = Number(process.argv[2] ?? 60) * 1_000;
  const where = machine();
  const stack = await startStack({
    databaseUrl: DATABASE_URL,
    redisUrl: REDIS_URL,
    bundles,
    environment: { NODE_ENV: 'production' },
  });
  await sleep(settleMs);
  const services = Object.values(stack.services);
  const before = services.map(({ pid }) => usageOf(pid));
  const startedAt = performance.now();
  await sleep(idleMs);
  const seconds = (performance.now() - startedAt) / 1_000;
  const rows = services.map(({ name, pid }, index) => {
    const usage = usageOf(pid);
    return {
      name,
      ...usage,
      cpuPercent: ((usage.cpuSeconds - before[index]!.cpuSeconds) / seconds) * 100,
    };
  });
  const sum = (key: 'pssMb' | 'rssMb' | 'cpuPercent' | 'processes') =>
    rows.reduce((total, row) => total + row[key], 0);
  const cells = (
    row: Pick<Usage, 'processes' | 'pssMb' | 'rssMb'> & { name: string; cpuPercent: number },
  ) => [
    row.name,
    row.processes,
    row.pssMb.toFixed(1),
    row.rssMb.toFixed(1),
    row.cpuPercent.toFixed(2),
  ];
  const total = {
    name: 'all',
    processes: sum('processes'),
    pssMb: sum('pssMb'),
    rssMb: sum('rssMb'),
  };
  console.log(`${where}; idle for ${Math.round(seconds)} s\n`);
  const head = ['service', 'processes', 'PSS MB', 'RSS MB', '% of a core'];
  console.log(
    table(head, [...rows.map(cells), cells({ ...total, cpuPercent: sum('cpuPercent') })]),
  );
  report('idle: memory of the stack (PSS)', sum('pssMb'), 'MB', { atMost: 450, target: 300 });
  report('idle: processor of the stack', sum('cpuPercent'), '% of a core', { atMost: 2 });
  await stack.stop();
  process.exit(0);
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
