import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type KapsoServer, type Stack, startKapsoServer, startStack } from '@parley/testing';
import pg from 'pg';
import { machine, ms, report, summarize, table } from '../measure';
import { type BenchOrganization, createOrganization } from '../organization';
import { type SignedDelivery, messageReceived, orderPaid, secrets } from '../webhooks/deliveries';

const { PARLEY_BENCH_BUNDLES: bundles = '', DATABASE_URL = '', REDIS_URL = '' } = process.env;
/** How long the model of the flooding organization takes on average. */
const slowMs = 5_000;
/**
 * Conversations, runs or concurrent requests of a flood: more than a process works on
 * at the same time.
 */
const flood = 300;
/** Callers of a flood of short requests, without a pause. */
const callers = 32;
/** Time until all concurrent callers of a flood have begun. */
const rampMs = 3_000;
const rounds = 3;
const callsPerRound = 40;
/** A round under a flood ends after this time. Its last call is counted. */
const roundLimitMs = 20_000;

interface Bench {
  stack: Stack;
  pool: pg.Pool;
  kapso: KapsoServer;
  /** The organization that floods, and the one that is measured. */
  busy: BenchOrganization;
  other: BenchOrganization;
}

interface Case {
  name: string;
  /**
   * Starts a flood, which ends when the signal is aborted. Resolves when it is there, if need be
   * with a function that waits for its end.
   */
  attack: (bench: Bench, signal: AbortSignal) => Promise<void | (() => Promise<unknown>)>;
  /** One unit of work of the other organization, until its end. */
  call: (bench: Bench) => Promise<unknown>;
}

let contacts = 0;

const cases: Case[] = [
  {
    name: 'chat with a slow model',
    async attack({ stack, busy }, signal) {
      // Callers that begin at the same time would end at the same time, and the load
      // would come in waves.
      const caller = async () => {
        await sleep(Math.random() * rampMs);
        while (!signal.aborted) {
          const status = await chat(stack, busy, 'slow', signal).catch(() => 0);
          if (status !== 200) await sleep((0.5 + Math.random()) * 1_000);
        }
      };
      for (let n = 0; n < flood; n += 1) void caller();
      await sleep(rampMs);
    },
    call: async ({ stack, other }) => {
      const status = await chat(stack, other, 'quick');
      if (status !== 200) throw new Error(`chat answered ${status}`);
    },
  },
  {
    name: 'WhatsApp conversations with a slow model',
    attack: async ({ stack }) => {
      for (let n = 0; n < flood; n += 1) await receive(stack, 'busy');
    },
    async call({ stack, kapso }) {
      const contact = await receive(stack, 'other');
      await untilTrue(async () => kapso.sent.some(({ body }) => body.to === contact));
    },
  },
  {
    name: 'trigger runs with a slow model',
    attack: async ({ busy }) => {
      for (let n = 0; n < flood; n += 1) await busy.post('/v1/data/order', { data: {} });
    },
    async call({ pool, other }) {
      const { id } = await other.post('/v1/data/order', { data: {} });
      await untilTrue(
        async () => (await pool.query(finishedRun, [other.tenant, id])).rowCount === 1,
      );
    },
  },
  {
    name: 'filters without an index and bulk requests',
    async attack({ busy }, signal) {
      const operations = Array.from({ length: 500 }, (_, n) => ({
        action: 'create',
        data: { text: `note ${n}` },
      }));
      const bulk = () => busy.post('/v1/data/note/bulk', { operations });
      for (let n = 0; n < 10; n += 1) await bulk();
      const filter = {
        filters: { 'data.text': { $contains: 'ote 4' } },
        sort: { field: 'data.text' },
      };
      return keepCalling(signal, (n) =>
        n % 8 === 0 ? bulk() : busy.post('/v1/data/note/query', filter),
      );
    },
    async call({ other }) {
      await other.post('/v1/data/note', { data: { text: 'note' } });
      await other.post('/v1/data/note/query', { limit: 50 });
    },
  },
  {
    name: 'signed deliveries',
    attack: async ({ stack, busy }, signal) =>
      keepCalling(signal, () => deliver(stack, orderPaid(busy.id, randomUUID(), 100))),
    call: ({ stack, other }) => deliver(stack, orderPaid(other.id, randomUUID(), 100)),
  },
];

/** Starts the callers of a flood. Each must succeed once; later failures do not count. */
async function keepCalling(
  signal: AbortSignal,
  call: (caller: number) => Promise<unknown>,
): Promise<() => Promise<unknown>> {
  const numbers = Array.from({ length: callers }, (_, n) => n);
  await Promise.all(numbers.map(call));
  const running = numbers.map(async (n) => {
    while (!signal.aborted) await call(n).catch(() => sleep(100));
  });
  return () => Promise.all(running);
}

const finishedRun =
  "select from trigger_runs where tenant = $1 and entity_id = $2 and status = 'succeeded'";

async function chat(
  { url }: Stack,
  { key }: BenchOrganization,
  slug: string,
  signal?: AbortSignal,
): Promise<number> {
  const response = await fetch(`${url}/v1/agents/${slug}/chat`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ message: 'Is it there?' }),
    signal,
  });
  await response.arrayBuffer();
  return response.status;
}

/** Delivers a message of a new contact. Returns the contact. */
async function receive(stack: Stack, phoneNumber: string): Promise<string> {
  const contact = String(14_155_550_000 + (contacts += 1));
  await deliver(stack, messageReceived(`wamid.${contact}`, contact, 'Is it there?', phoneNumber));
  return contact;
}

async function deliver({ url }: Stack, { path, body, headers }: SignedDelivery): Promise<void> {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers() },
    body,
  });
  if (!response.ok) throw new Error(`${path} answered ${response.status}`);
}

async function untilTrue(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await sleep(2);
}

/** A model server; the model `slow` takes `slowMs`. */
async function startModel(): Promise<string> {
  const message = { role: 'assistant', content: 'Yes.' };
  const usage = { prompt_tokens: 40, completion_tokens: 8, total_tokens: 48 };
  const choices = [{ index: 0, message, finish_reason: 'stop' }];
  const answer = JSON.stringify({
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices,
    usage,
  });
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.once('end', () => {
      const send = () =>
        response.writeHead(200, { 'Content-Type': 'application/json' }).end(answer);
      setTimeout(send, body.includes('"model":"slow"') ? slowMs * (0.5 + Math.random()) : 0);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

async function start(): Promise<Bench> {
  const kapso = await startKapsoServer();
  const stack = await startStack({
    databaseUrl: DATABASE_URL,
    redisUrl: REDIS_URL,
    bundles,
    services: ['data', 'chat', 'webhook-ingest', 'worker', 'gateway'],
    environment: {
      NODE_ENV: 'production',
      LOG_LEVEL: 'warn',
      OPENAI_BASE_URL: await startModel(),
      OPENAI_API_KEY: 'sk-bench',
      MESSAGING_WEBHOOK_SECRET: secrets.kapso,
      BILLING_WEBHOOK_SECRET: secrets.polar,
      KAPSO_API_URL: kapso.url,
      KAPSO_API_KEY: kapso.apiKey,
      RATE_LIMIT_PER_KEY: '1000000',
      RATE_LIMIT_PER_ORGANIZATION: '1000000',
    },
  });
  const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 2 });
  const open = async (slug: string, model: string) => {
    const agent = {
      slug: model,
      name: model,
      systemPrompt: 'You answer for a shop.',
      model: `openai/${model}`,
      tools: [],
    };
    const action = { tool: 'agent.chat', args: { agentSlug: model, message: 'Hello' } };
    const organization = await createOrganization(
      DATABASE_URL,
      stack.url,
      {
        agents: [agent],
        entityTypes: ['order', 'note'].map((slug) => ({ slug, name: slug, schema: {} })),
        triggers: [
          {
            slug: 'ask',
            name: 'Ask',
            on: { entityType: 'order', action: 'created' },
            actions: [action],
          },
        ],
      },
      slug,
    );
    await pool.query(
      `insert into channel_connections (id, tenant, environment, phone_number_id, status, agent_slug, updated_at)
       values ($1, $2, 'development', $1, 'connected', $3, now())`,
      [slug, organization.tenant, model],
    );
    return organization;
  };
  return {
    stack,
    pool,
    kapso,
    busy: await open('busy', 'slow'),
    other: await open('other', 'quick'),
  };
}

/** Measures calls one after the other, with a pause between them. */
async function measureCalls(call: () => Promise<unknown>): Promise<number[]> {
  const samples: number[] = [];
  const startedAt = performance.now();
  while (samples.length < callsPerRound && performance.now() - startedAt < roundLimitMs) {
    const calledAt = performance.now();
    await call();
    samples.push(performance.now() - calledAt);
    await sleep(10);
  }
  return samples;
}

const unfinished = `select (select count(*) from messages where direction = 'inbound' and status in ('received', 'answering'))
    + (select count(*) from trigger_runs where status in ('scheduled', 'running'))
    + (select count(*) from executions where status in ('queued', 'running'))
    + (select count(*) from webhook_deliveries where status = 'received') as count`;

/**
 * `node tools/bench.mjs fairness [part of a name]`: the time of an organization's work alone, and
 * while another floods.
 */
async function main(): Promise<void> {
  console.log(`${machine()}\n`);
  const bench = await start();
  const rows: (string | number)[][] = [];
  for (const { name, attack, call } of cases.filter((one) =>
    one.name.includes(process.argv[2] ?? ''),
  )) {
    const samples = { alone: [] as number[], flooded: [] as number[] };
    await measureCalls(() => call(bench));
    for (let round = 0; round < rounds; round += 1) {
      samples.alone.push(...(await measureCalls(() => call(bench))));
      const stop = new AbortController();
      const ended = await attack(bench, stop.signal);
      await sleep(2_000);
      samples.flooded.push(...(await measureCalls(() => call(bench))));
      stop.abort();
      await ended?.();
      // The work of the flood is discarded: the next round begins with an idle stack.
      await bench.pool.query(
        `update trigger_runs set status = 'cancelled', finished_at = now() where status = 'scheduled'`,
      );
      await bench.pool.query(
        `update messages set status = 'stored' where direction = 'inbound' and status = 'received'`,
      );
      await untilTrue(async () => {
        await sleep(100);
        return Number((await bench.pool.query<{ count: string }>(unfinished)).rows[0]!.count) === 0;
      });
    }
    const [alone, flooded] = [summarize(samples.alone), summarize(samples.flooded)];
    report(`fairness: ${name}, p95 ÷ alone`, flooded.p95 / alone.p95, '×', { atMost: 2 });
    const ratio = `${(flooded.p95 / alone.p95).toFixed(1)}×`;
    rows.push([
      name,
      alone.count,
      ms(alone.p50),
      ms(alone.p95),
      flooded.count,
      ms(flooded.p50),
      ms(flooded.p95),
      ratio,
    ]);
  }
  const head = [
    'flood',
    'calls alone',
    'p50 ms',
    'p95 ms',
    'calls under the flood',
    'p50 ms',
    'p95 ms',
    'p95 ÷ alone',
  ];
  console.log(table(head, rows));
  await bench.pool.end();
  await bench.stack.stop();
  await bench.kapso.stop();
  process.exit(0);
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
