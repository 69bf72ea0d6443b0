import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { spawnService, stopProcess } from '@parley/embedded';
import { until } from '@parley/testing';
import { load, machine, measure, ms, report, summarize, table } from '../measure';
import { type RawClient, openClient } from '../raw-client';

const port = 24_994;
const token = 'bench-executor-token';
const url = `http://127.0.0.1:${port}`;
const headers = { Authorization: `Bearer ${token}` };
const handlerCode =
  'const total = args.lines.reduce((sum, line) => sum + line.price * line.count, 0);\nreturn { total, rounded: Math.round(total) };';
const args = {
  lines: Array.from({ length: 10 }, (_, index) => ({ price: 1.5 * index, count: index })),
};

/**
 * Compares a warm call with starting a thread or a process, and measures the resources that
 * many calls leave.
 */
async function main(): Promise<void> {
  const bundles = process.env.PARLEY_BENCH_BUNDLES ?? '';
  const where = machine();
  const service = spawnService(join(bundles, 'tool-executor', 'main.cjs'), {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      PATH: process.env.PATH,
      NODE_ENV: 'production',
      PORT: String(port),
      INTERNAL_PORT: String(port + 100),
      EXECUTOR_TOKEN: token,
      EXECUTOR_MIN_PROCESSES: '4',
    },
  });
  await until(isUp, { limitMs: 20_000 });
  console.log(`${where}\n`);

  const sections = {
    oneCaller,
    manyCallers,
    attacks,
    fairness,
    growth: () => growth(service.pid!),
  };
  const only = process.argv[2];
  for (const [name, run] of Object.entries(sections))
    if (only === undefined || only === name) await run();
  await stopProcess(service, 'SIGTERM', 5_000);
  process.exit(0);
}

const execute = (code: string, more: object = {}): Promise<RawClient> =>
  openClient(url, {
    method: 'POST',
    path: '/execute',
    headers,
    body: JSON.stringify({ handlerCode: code, args, ...more }),
  });

const isUp = () =>
  fetch(`${url}/health`).then(
    (response) => response.ok,
    () => false,
  );

async function oneCaller(): Promise<void> {
  const warm = await execute(handlerCode);
  let unique = 0;
  const once200 = async (client: RawClient): Promise<void> => {
    const status = await client.call();
    if (status !== 200) throw new Error(`The executor answered ${status}`);
  };
  const fresh = async (code: string): Promise<number[]> => {
    const client = await execute(code.replace('return', `const unique = ${unique++};\nreturn`));
    const samples = await measure(1, () => once200(client));
    client.close();
    return samples;
  };
  const typed = handlerCode.replace('const total', 'const total: number');
  const samples = {
    warm: [] as number[],
    fresh: [] as number[],
    typed: [] as number[],
    thread: [] as number[],
    fork: [] as number[],
  };
  await measure(500, () => once200(warm));
  for (let round = 0; round < 20; round++) {
    samples.warm.push(...(await measure(250, () => once200(warm))));
    for (let index = 0; index < 10; index++) {
      samples.fresh.push(...(await fresh(handlerCode)));
      samples.typed.push(...(await fresh(typed)));
    }
    samples.thread.push(...(await measure(5, startThread)));
    samples.fork.push(...(await measure(3, startFork)));
  }
  const medianOf = (name: keyof typeof samples) => summarize(samples[name]).p50;
  const base = medianOf('warm');
  report('executor: warm call, p50', base, 'ms', { atMost: 2 });
  report('executor: new code, p50', medianOf('fresh'), 'ms', { atMost: 10 });
  report('executor: start of a thread ÷ warm call', medianOf('thread') / base, '×', {
    atLeast: 10,
  });
  const names = {
    warm: 'POST /execute, warm',
    fresh: 'POST /execute, code not seen before',
    typed: 'the same in TypeScript',
    thread: 'a worker thread, until its first message',
    fork: 'child_process.fork, until its first message',
  };
  const rows = (Object.keys(names) as (keyof typeof names)[]).map((name) => {
    const { count, p50, p95, p99 } = summarize(samples[name]);
    return [names[name], count, ms(p50), ms(p95), ms(p99), `${(p50 / base).toFixed(1)}×`];
  });
  console.log('One caller, in turns\n');
  console.log(table(['what', 'calls', 'p50 ms', 'p95 ms', 'p99 ms', 'of warm'], rows));
  warm.close();
}

async function startThread(): Promise<void> {
  const worker = new Worker("require('node:worker_threads').parentPort.postMessage(1)", {
    eval: true,
  });
  await once(worker, 'message');
  await worker.terminate();
}

async function startFork(): Promise<void> {
  const script = join(__dirname, 'message-child.cjs');
  const child = fork(script, { stdio: 'ignore' });
  await once(child, 'message');
  child.kill('SIGKILL');
}

async function manyCallers(): Promise<void> {
  const clients = await Promise.all(Array.from({ length: 50 }, () => execute(handlerCode)));
  const statuses = new Map<number, number>();
  const caller = (index: number) => async () => {
    const status = await clients[index]!.call();
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  };
  await load(50, 2_000, caller);
  statuses.clear();
  const { perSecond, samples } = await load(50, 6_000, caller);
  const { p50, p99 } = summarize(samples);
  report('executor: 50 callers, p99 ÷ p50', p99 / p50, '×', { atMost: 10 });
  console.log('\n50 callers without a pause, 6 s\n');
  const answers = [...statuses].map(([status, count]) => `${status}: ${count}`).join(', ');
  console.log(
    table(
      ['calls/s', 'p50 ms', 'p99 ms', 'p99 of p50', 'answers'],
      [[Math.round(perSecond), ms(p50), ms(p99), `${(p99 / p50).toFixed(1)}×`, answers]],
    ),
  );
  for (const client of clients) client.close();
}

const attackCodes = [
  'for (;;);',
  'for (;;) await 0',
  '/^(a+)+$/.test("a".repeat(40) + "!")',
  'return new Array(5e7) + ""',
  'const a = []; for (;;) a.push({})',
];

/**
 * Measures calls of one tenant while another runs code that attacks the service. Alternates
 * between a second with and a second without attacks, so that other load on the machine
 * affects both equally.
 */
async function attacks(): Promise<void> {
  const victim = await execute(handlerCode);
  const calls = (durationMs: number): Promise<number[]> =>
    load(1, durationMs, () => async () => {
      await victim.call();
      await sleep(5);
    }).then(({ samples }) => samples.map((sample) => sample - 5));
  let attacked = 0;
  const attackDuring = async <T>(work: Promise<T>): Promise<T> => {
    let isOver = false;
    const done = work.finally(() => (isOver = true));
    while (!isOver) {
      const client = await execute(attackCodes[attacked++ % attackCodes.length]!, {
        timeoutMs: 200,
      });
      await client.call();
      client.close();
    }
    return done;
  };
  const samples = { alone: [] as number[], beside: [] as number[] };
  for (let turn = 0; turn < 12; turn++) {
    samples.alone.push(...(await calls(1_000)));
    samples.beside.push(...(await attackDuring(calls(1_000))));
    // Killed processes are replaced before the next turn.
    await sleep(500);
  }
  victim.close();
  const [alone, beside] = [summarize(samples.alone), summarize(samples.beside)];
  report('executor: p95 beside attacks ÷ alone', beside.p95 / alone.p95, '×', { atMost: 1.5 });
  console.log(
    `\nOne tenant beside ${attacked} consecutive calls of another that loop, backtrack or fill the memory; 200 ms each\n`,
  );
  console.log(
    table(
      ['', 'calls', 'p50 ms', 'p95 ms', 'p99 ms'],
      [
        ['alone', alone.count, ms(alone.p50), ms(alone.p95), ms(alone.p99)],
        ['beside them', beside.count, ms(beside.p50), ms(beside.p95), ms(beside.p99)],
        [
          'ratio',
          '',
          ...(['p50', 'p95', 'p99'] as const).map(
            (name) => `${(beside[name] / alone[name]).toFixed(1)}×`,
          ),
        ],
      ],
    ),
  );
}

/**
 * Measures calls of one organization alone, and while another sends far more slow calls than
 * there are processes.
 */
async function fairness(): Promise<void> {
  const victim = await execute(handlerCode, { context: { organizationId: 'b' } });
  const slow = 'await new Promise((resolve) => setTimeout(resolve, 10_000)); return 1';
  const statuses = new Map<number, number>();
  const calls = async (durationMs: number): Promise<number[]> => {
    const { samples } = await load(1, durationMs, () => async () => {
      const status = await victim.call();
      if (status !== 200) statuses.set(status, (statuses.get(status) ?? 0) + 1);
      await sleep(5);
    });
    return samples.map((sample) => sample - 5);
  };
  await calls(1_000);
  const alone = summarize(await calls(6_000));
  let isOver = false;
  const flood = Array.from({ length: 300 }, async () => {
    const client = await execute(slow, { context: { organizationId: 'a' }, timeoutMs: 20_000 });
    while (!isOver) if ((await client.call()) !== 200) await sleep(1_000);
    client.close();
  });
  const during = summarize(await calls(6_000));
  const beside = summarize(await calls(6_000));
  isOver = true;
  victim.close();
  await Promise.all(flood);
  report('executor: p95 beside slow calls ÷ alone', beside.p95 / alone.p95, '×', { atMost: 2 });
  const refused =
    [...statuses].map(([status, count]) => `${status}: ${count}`).join(', ') || 'none';
  console.log('\nOne organization while another sends 300 concurrent calls of 10 s\n');
  console.log(
    table(
      ['', 'calls', 'p50 ms', 'p95 ms', 'p99 ms', 'not 200'],
      [
        ['alone', alone.count, ms(alone.p50), ms(alone.p95), ms(alone.p99), 'none'],
        [
          'while they begin and processes start',
          during.count,
          ms(during.p50),
          ms(during.p95),
          ms(during.p99),
          refused,
        ],
        [
          'beside the slow calls',
          beside.count,
          ms(beside.p50),
          ms(beside.p95),
          ms(beside.p99),
          refused,
        ],
        [
          'ratio of the last to the first',
          '',
          ...(['p50', 'p95', 'p99'] as const).map(
            (name) => `${(beside[name] / alone[name]).toFixed(1)}×`,
          ),
          '',
        ],
      ],
    ),
  );
}

async function growth(pid: number): Promise<void> {
  const client = await execute(handlerCode);
  await measure(2_000, () => client.call());
  const before = footprint(pid);
  await measure(10_000, () => client.call());
  const after = footprint(pid);
  client.close();
  console.log('\n10,000 runs, one after the other\n');
  const row = (name: string, one: number, other: number, unit: string) => [
    name,
    `${one}${unit}`,
    `${other}${unit}`,
    `${((other / one - 1) * 100).toFixed(1)} %`,
  ];
  console.log(
    table(
      ['', 'before', 'after', 'growth'],
      [
        row('RSS of the service', before.service, after.service, ' MB'),
        row(
          `RSS of its ${before.children} sandbox processes`,
          before.sandboxes,
          after.sandboxes,
          ' MB',
        ),
        row('open descriptors of the service', before.descriptors, after.descriptors, ''),
      ],
    ),
  );
}

/**
 * Resident memory in MB of the service and of its children, and the service's
 * descriptors; Linux only.
 */
function footprint(pid: number): {
  service: number;
  sandboxes: number;
  children: number;
  descriptors: number;
} {
  const rss = (of: string): number =>
    Math.round(
      Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${of}/status`, 'utf8'))?.[1]) / 1024,
    );
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .trim()
    .split(' ')
    .filter(Boolean);
  return {
    service: rss(String(pid)),
    sandboxes: children.reduce((sum, child) => sum + rss(child), 0),
    children: children.length,
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
  };
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
