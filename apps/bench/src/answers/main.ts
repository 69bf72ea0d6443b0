import { get, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { startModelServer, startStack } from '@parley/testing';
import { machine, ms, report, residentKib, summarize, table } from '../measure';
import { createOrganization } from '../organization';
import { cpuSecondsOf } from '../process-usage';

const answers = 300;
const sizes = [100, 500, 1_000];
const idleMs = 10_000;
const processes = ['gateway', 'manage', 'worker'] as const;

/**
 * Streams of executions through the gateway: the time until the first words of an answer, and what
 * open streams cost while their executions write nothing.
 */
async function main(): Promise<void> {
  const { PARLEY_BENCH_BUNDLES: bundles = '', DATABASE_URL = '', REDIS_URL = '' } = process.env;
  const where = machine();
  const unlimited = '1000000';
  const model = await startModelServer(async () => {
    await sleep(600_000);
    return { text: 'late' };
  });
  const limits = ['RATE_LIMIT', 'MANAGE_RATE_LIMIT'].flatMap((name) => [
    `${name}_PER_KEY`,
    `${name}_PER_ORGANIZATION`,
  ]);
  const streams = ['EXECUTION_STREAMS_PER_CALLER', 'EXECUTION_STREAMS_PER_ORGANIZATION'];
  const stack = await startStack({
    databaseUrl: DATABASE_URL,
    redisUrl: REDIS_URL,
    bundles,
    services: ['data', 'worker', 'manage', 'gateway'],
    environment: {
      NODE_ENV: 'production',
      OPENAI_BASE_URL: model.urls.openai,
      OPENAI_API_KEY: 'sk-bench',
      ...Object.fromEntries([...limits, ...streams].map((name) => [name, unlimited])),
    },
  });
  const agent = (slug: string, name: string) => ({
    slug,
    name: slug,
    systemPrompt: 'Answer.',
    model: name,
  });
  const resources = {
    agents: [agent('offline', 'offline/scripted'), agent('silent', 'openai/gpt-5-mini')],
  };
  const { key, post } = await createOrganization(DATABASE_URL, stack.url, resources);
  const headers = {
    Authorization: `Bearer ${key}`,
    'Content-Type': 'application/json',
    Accept: 'text/event-stream',
  };

  /**
   * The times from a request to the first byte of its answer and to the first words,
   * in milliseconds.
   */
  const answer = () =>
    new Promise<[number, number]>((resolve, reject) => {
      const startedAt = performance.now();
      const sent = request(
        `${stack.url}/v1/executions`,
        { method: 'POST', headers },
        (response) => {
          const firstByte = performance.now() - startedAt;
          let words: number | undefined;
          response.setEncoding('utf8').on('data', (text: string) => {
            if (text.includes('"text-delta"')) words ??= performance.now() - startedAt;
          });
          response.on('end', () =>
            words === undefined ? reject(new Error('no words')) : resolve([firstByte, words]),
          );
        },
      );
      sent.on('error', reject).end(JSON.stringify({ agentSlug: 'offline', message: 'Hello' }));
    });
  for (let n = 0; n < 30; n += 1) await answer();
  const times: [number, number][] = [];
  for (let n = 0; n < answers; n += 1) times.push(await answer());
  const row = (name: string, samples: number[]) => {
    const { p50, p95, p99 } = summarize(samples);
    return [name, ms(p50), ms(p95), ms(p99)];
  };
  console.log(`${where}\n\n${answers} answers of the scripted model, one after the other\n`);
  const rows = [
    row(
      'first byte',
      times.map(([first]) => first),
    ),
    row(
      'first words',
      times.map(([, words]) => words),
    ),
  ];
  console.log(table(['until', 'p50 ms', 'p95 ms', 'p99 ms'], rows));
  const { p95 } = summarize(times.map(([first]) => first));
  report('answers: first byte, p95', p95, 'ms', { atMost: 100 });

  const open = async () => {
    const { executionId } = await post('/v1/executions', { agentSlug: 'silent', message: 'Hello' });
    await new Promise<void>((resolve, reject) => {
      const url = `${stack.url}/v1/executions/${String(executionId)}/stream`;
      get(url, { headers, agent: false }, (response) => {
        if (response.statusCode !== 200)
          return reject(new Error(`a stream was answered ${response.statusCode}`));
        response.resume().once('data', () => resolve());
      }).on('error', reject);
    });
  };
  const pidOf = (name: (typeof processes)[number]) => stack.services[name]!.pid;
  const before = Object.fromEntries(processes.map((name) => [name, residentKib(pidOf(name))]));
  const idle: (string | number)[][] = [];
  let isOpen = 0;
  for (const size of sizes) {
    for (; isOpen < size; isOpen += 20) await Promise.all(Array.from({ length: 20 }, open));
    await sleep(2_000);
    const memory = processes.map((name) =>
      ((residentKib(pidOf(name)) - before[name]!) / size).toFixed(0),
    );
    const used = processes.map((name) => cpuSecondsOf(pidOf(name)));
    await sleep(idleMs);
    const cpu = processes.map(
      (name, at) =>
        `${(((cpuSecondsOf(pidOf(name)) - used[at]!) / idleMs) * 100_000).toFixed(0)} %`,
    );
    idle.push([size, ...memory, ...cpu]);
  }
  console.log(`\nOpen streams of executions that write nothing, ${idleMs / 1_000} s each\n`);
  const head = [
    ...processes.map((name) => `${name} KiB each`),
    ...processes.map((name) => `${name} CPU`),
  ];
  console.log(table(['streams', ...head], idle));
  await stack.stop();
  await model.stop();
  process.exit(0);
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
