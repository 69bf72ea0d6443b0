import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Stack, startStack } from '@parley/testing';
import pg from 'pg';
import { machine, ms, report, summarize, table } from '../measure';
import { createOrganization } from '../organization';
import { secrets } from '../webhooks/deliveries';
import type { Flood, FloodBench } from './bench';
import { floods } from './scenarios';

const { PARLEY_BENCH_BUNDLES: bundles = '', DATABASE_URL = '', REDIS_URL = '' } = process.env;
const rounds = 3;
const callsPerRound = 60;
/** A round ends after this time. Its last call is counted. */
const roundLimitMs = 20_000;
/** Time until a flood is at its height. */
const rampMs = 3_000;
/** p95 of the other organization under a flood, as a multiple of its own without it. */
const bar = { atMost: 3 };
/** Size of the answers of the hostile model server. */
const hostileBytes = 900 * 1024 * 1024;

/** A model server that never ends an answer to the model `hostile` before `hostileBytes`. */
async function startHostileModel(): Promise<string> {
  const chunk = Buffer.alloc(64 * 1024, 'x');
  const server = createServer((_request, response) => {
    response.on('error', () => {}).writeHead(200, { 'Content-Type': 'application/json' });
    let sent = 0;
    const write = () => {
      while (sent < hostileBytes && !response.destroyed) {
        sent += chunk.length;
        if (!response.write(chunk)) return void response.once('drain', write);
      }
      response.end();
    };
    write();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

async function start(): Promise<FloodBench> {
  const unlimited = ['RATE_LIMIT', 'CHAT_RATE_LIMIT', 'MANAGE_RATE_LIMIT'].flatMap((name) => [
    [`${name}_PER_KEY`, '1000000'],
    [`${name}_PER_ORGANIZATION`, '1000000'],
  ]);
  const stack = await startStack({
    databaseUrl: DATABASE_URL,
    redisUrl: REDIS_URL,
    bundles,
    services: ['data', 'chat', 'manage', 'webhook-ingest', 'gateway'],
    environment: {
      NODE_ENV: 'production',
      LOG_LEVEL: 'fatal',
      BILLING_WEBHOOK_SECRET: secrets.polar,
      OPENAI_BASE_URL: await startHostileModel(),
      OPENAI_API_KEY: 'sk-bench',
      ...Object.fromEntries(unlimited),
    },
  });
  const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 2 });
  const agent = (slug: string, model: string) => ({
    slug,
    name: slug,
    systemPrompt: 'You sell.',
    model,
    tools: [],
  });
  const definitions = {
    agents: [agent('shop', 'offline/scripted'), agent('hostile', 'openai/hostile')],
  };
  const open = async (slug: string) => {
    const organization = await createOrganization(DATABASE_URL, stack.url, definitions, slug);
    await pool.query(`update api_keys set permissions = '{*,manage}' where tenant = $1`, [
      organization.tenant,
    ]);
    return organization;
  };
  return { stack, pool, busy: await open('busy'), other: await open('other') };
}

/**
 * Calls one after the other, with a pause between them. One that fails counts with the time
 * until it failed.
 */
async function measureCalls(
  call: () => Promise<void>,
): Promise<{ samples: number[]; failed: number }> {
  const result = { samples: [] as number[], failed: 0 };
  const startedAt = performance.now();
  while (result.samples.length < callsPerRound && performance.now() - startedAt < roundLimitMs) {
    const calledAt = performance.now();
    await call().catch(() => (result.failed += 1));
    result.samples.push(performance.now() - calledAt);
    await sleep(10);
  }
  return result;
}

/** Starts services that a flood has ended. Returns their number. */
async function revive({ services }: Stack): Promise<number> {
  let ended = 0;
  for (const service of Object.values(services)) {
    const isAlive = await fetch(`${service.internalUrl}/livez`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isAlive) continue;
    ended += 1;
    await service.start();
  }
  return ended;
}

async function measureFlood(
  bench: FloodBench,
  { name, seed, keepUp, call }: Flood,
): Promise<(string | number)[]> {
  await seed?.(bench);
  const alone: number[] = [];
  const flooded: number[] = [];
  let failed = 0;
  let ended = 0;
  await measureCalls(() => call(bench));
  for (let round = 0; round < rounds; round += 1) {
    alone.push(...(await measureCalls(() => call(bench))).samples);
    const stop = new AbortController();
    const flood = keepUp(bench, stop.signal);
    await sleep(rampMs);
    const measured = await measureCalls(() => call(bench));
    flooded.push(...measured.samples);
    failed += measured.failed;
    stop.abort();
    await flood;
    ended += await revive(bench.stack);
    await sleep(1_000);
  }
  const [before, during] = [summarize(alone), summarize(flooded)];
  const ratio = during.p95 / before.p95;
  report(`floods: ${name}, p95 ÷ alone`, ratio, '×', bar);
  report(`floods: ${name}, failed calls and ended processes`, failed + ended, '', { atMost: 0 });
  return [
    name,
    ms(before.p50),
    ms(before.p95),
    ms(during.p50),
    ms(during.p95),
    `${ratio.toFixed(1)}×`,
    failed,
    ended,
  ];
}

/**
 * `node tools/bench.mjs floods [part of a name]`: the time of short requests of an organization
 * without and with a flood of another one or of a client without a key.
 */
async function main(): Promise<void> {
  console.log(`${machine()}\n`);
  const bench = await start();
  const rows: (string | number)[][] = [];
  for (const flood of floods.filter(({ name }) => name.includes(process.argv[2] ?? '')))
    rows.push(await measureFlood(bench, flood));
  const figures = [
    'p50 ms alone',
    'p95 ms alone',
    'p50 ms',
    'p95 ms',
    'p95 ÷ alone',
    'failed calls',
    'ended processes',
  ];
  console.log(table(['flood', ...figures], rows));
  await bench.pool.end();
  await bench.stack.stop();
  process.exit(0);
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
