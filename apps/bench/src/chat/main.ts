import { join } from 'node:path';
import { startStack } from '@parley/testing';
import pg from 'pg';
import { startChild } from '../child';
import { load, machine, measureInTurns, ms, report, summarize, table } from '../measure';
import { createOrganization } from '../organization';
import { openClient } from '../raw-client';
import { startLangGraph } from './langgraph';

const agents = {
  stub: {
    slug: 'stub',
    name: 'Stub',
    systemPrompt: 'You answer for a shop.',
    model: 'openai/gpt-5-mini',
    tools: [],
  },
  tooled: {
    slug: 'tooled',
    name: 'Tooled',
    systemPrompt: 'You answer for a shop.',
    model: 'openai/gpt-5-mini',
    tools: ['entity.query'],
  },
  offline: {
    slug: 'offline',
    name: 'Offline',
    systemPrompt: 'You answer for a shop.',
    model: 'offline/scripted',
    tools: ['entity.query'],
  },
};
const productType = { slug: 'product', name: 'Product', schema: { name: 'string' } };
const turnsPerThread = 20;
const rounds = 10;
const perRound = 40;

async function main(): Promise<void> {
  const { PARLEY_BENCH_BUNDLES: bundles = '', PARLEY_BENCH_FOLDER: folder = '' } = process.env;
  const { DATABASE_URL = '', REDIS_URL = '' } = process.env;
  const where = machine();
  const model = await startChild(join(__dirname, 'model-child.cjs'));
  const stack = await startStack({
    databaseUrl: DATABASE_URL,
    redisUrl: REDIS_URL,
    bundles,
    services: ['data', 'chat', 'gateway'],
    environment: {
      NODE_ENV: 'production',
      CHAT_RATE_LIMIT_PER_KEY: '1000000',
      CHAT_RATE_LIMIT_PER_ORGANIZATION: '1000000',
      OPENAI_BASE_URL: `${model.url}/v1`,
      OPENAI_API_KEY: 'sk-bench',
    },
  });
  const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 1 });
  const resources = { entityTypes: [productType], agents: Object.values(agents) };
  const { key, post } = await createOrganization(DATABASE_URL, stack.url, resources);
  for (let index = 0; index < 20; index += 1)
    await post('/v1/data/product', { data: { name: `Product ${index}` } });
  const headers = { Authorization: `Bearer ${key}` };
  const chatUrl = stack.services.chat!.url;

  const chat = async (url: string, agent: string, body: object) => {
    const path = `/v1/agents/${agent}/chat`;
    const open = () =>
      openClient(url, { method: 'POST', path, headers, body: JSON.stringify(body) });
    let client = await open();
    return async () => {
      // A connection may be closed while other calls are measured. Opening it again is
      // not part of a turn.
      if (client.isClosed()) client = await open();
      const status = await client.call();
      if (status !== 200) throw new Error(`${path} answered ${status}`);
    };
  };
  /**
   * Opens a connection for each thread when its turns begin, because idle connections are closed.
   */
  let series = 0;
  const inThreads = (url: string) => {
    let turn = 0;
    const name = (series += 1);
    let current: (() => Promise<void>) | undefined;
    return async () => {
      const externalThreadId = `bench:${name}:${Math.floor(turn / turnsPerThread)}`;
      if (turn++ % turnsPerThread === 0)
        current = await chat(url, 'stub', { message: 'Is it there?', externalThreadId });
      await current!();
    };
  };

  const hello = { message: 'Is it there?' };
  const peer = process.argv.includes('--no-peer') ? null : await startLangGraph(folder, model.url);
  const tool = { message: '/tool entity.query {"type":"product","limit":5}' };
  const modelClient = await openClient(model.url, {
    method: 'POST',
    path: '/v1/chat/completions',
    body: '{}',
  });
  const calls = {
    'driver: one insert and one select': await driver(pool),
    'the model stub itself': () => modelClient.call(),
    'chat, new thread, stub model': await chat(chatUrl, 'stub', hello),
    'chat, thread of up to 20 turns, stub model': inThreads(chatUrl),
    'chat, new thread, one call of entity.query': await chat(chatUrl, 'tooled', {
      message: 'tools 1',
    }),
    'chat, new thread, four calls of entity.query': await chat(chatUrl, 'tooled', {
      message: 'tools 4',
    }),
    'gateway, new thread, stub model': await chat(stack.url, 'stub', hello),
    'gateway, thread of up to 20 turns, stub model': inThreads(stack.url),
    'gateway, new thread, offline model': await chat(stack.url, 'offline', hello),
    'gateway, new thread, offline model and one tool': await chat(stack.url, 'offline', tool),
  };
  const samples = await measureInTurns(calls, { rounds, perRound });
  const peerSamples = peer && (await langGraph(peer.url, calls['gateway, new thread, stub model']));
  const base = summarize(samples['driver: one insert and one select']).p50;
  console.log(`${where}\n\nOne caller, ${rounds * perRound} calls each, in turns of ${perRound}\n`);
  const rows = Object.entries(samples).map(([name, all]) => {
    const { p10, p50, p95, p99 } = summarize(all);
    return [name, ms(p10), ms(p50), ms(p95), ms(p99), `${(p50 / base).toFixed(1)}×`];
  });
  console.log(table(['what', 'p10 ms', 'p50 ms', 'p95 ms', 'p99 ms', 'of the driver'], rows));

  const p50Of = (name: keyof typeof calls) => summarize(samples[name]).p50;
  const oneCall = p50Of('chat, new thread, one call of entity.query');
  const fourCalls = p50Of('chat, new thread, four calls of entity.query');
  const own = p50Of('chat, new thread, stub model') - p50Of('the model stub itself');
  console.log(
    `\nOf p50: ${ms(own)} ms of a turn in a new thread are not spent in the model stub; another step takes`,
  );
  console.log(`${ms((fourCalls - oneCall) / 3)} ms (a model call, its record, entity.query)`);
  report('chat: a further step', (fourCalls - oneCall) / 3, 'ms', { atMost: 2.5, target: 1.5 });
  if (peerSamples) {
    const [theirs, ours] = [summarize(peerSamples.theirs), summarize(peerSamples.ours)];
    console.log(
      `\nLangGraph.js server, same stub, in turns: p50 ${ms(theirs.p50)} ms, p95 ${ms(theirs.p95)} ms;`,
    );
    report("chat: times as fast as LangGraph's server", theirs.p50 / ours.p50, '×', {
      atLeast: 50,
    });
    console.log(
      `our gateway: p50 ${ms(ours.p50)} ms, p95 ${ms(ours.p95)} ms; ${(theirs.p50 / ours.p50).toFixed(0)} times faster`,
    );
  }

  const clients = await Promise.all(
    Array.from({ length: 16 }, () => chat(stack.url, 'stub', hello)),
  );
  const { perSecond, samples: loaded } = await load(16, 5_000, (index) => clients[index]!);
  const { p50, p99 } = summarize(loaded);
  console.log(
    `\n16 callers without a pause, 5 s, through the gateway: ${Math.round(perSecond)} turns/s,`,
  );
  console.log(`p50 ${ms(p50)} ms, p99 ${ms(p99)} ms`);
  report('chat: turns/s, 16 callers', perSecond, 'turns/s', { atLeast: 220 });

  await pool.end();
  await stack.stop();
  await peer?.stop();
  await model.stop();
  process.exit(0);
}

/**
 * Sends the same message to LangGraph and to our gateway in turns. Fewer calls, as
 * LangGraph is slow.
 */
async function langGraph(url: string, ours: () => Promise<unknown>) {
  const input = { messages: [{ role: 'user', content: 'Is it there?' }] };
  const body = JSON.stringify({ assistant_id: 'agent', input });
  const theirs = async () => {
    const response = await fetch(`${url}/runs/wait`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body,
    });
    if (!response.ok || !(await response.text()).includes('in stock'))
      throw new Error(`the peer: ${response.status}`);
  };
  return measureInTurns({ theirs, ours }, { rounds: 4, perRound: 10 });
}

/** One durable insert and one select by key, each a named statement on a warm connection. */
async function driver(pool: pg.Pool): Promise<() => Promise<unknown>> {
  await pool.query(
    'create table bench_rows (id bigint generated always as identity primary key, body jsonb)',
  );
  const body = JSON.stringify({ role: 'user', text: 'Is it there?' });
  return async () => {
    const { rows } = await pool.query<{ id: string }>({
      name: 'bench-insert',
      text: 'insert into bench_rows (body) values ($1) returning id',
      values: [body],
    });
    return pool.query({
      name: 'bench-select',
      text: 'select body from bench_rows where id = $1',
      values: [rows[0]!.id],
    });
  };
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
