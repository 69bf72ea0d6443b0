import { request } from 'node:http';
import { join } from 'node:path';
import { type Stack, startStack } from '@parley/testing';
import pg from 'pg';
import { startChild } from '../child';
import { machine, measure, ms, summarize, table } from '../measure';
import { createOrganization } from '../organization';
import { openClient } from '../raw-client';
import { importPairs } from './import-pairs';
import { requestPairs } from './request-pairs';

const pairs = 12;
const perRun = 60;

interface Build {
  stack: Stack;
  /** One turn of the chat API, in a new thread. */
  chat: () => Promise<unknown>;
  /** From a request to the first words of its streamed answer. */
  firstWords: () => Promise<unknown>;
}

/**
 * `node tools/bench.mjs builds FOLDER [requests | imports]`: two builds, measured in turns, with
 * the ratio of each pair. By default turns of chats, with `requests` those of the Data API, with
 * `imports` imports of rows that start trigger runs.
 */
async function main(): Promise<void> {
  const { PARLEY_BENCH_BUNDLES: bundles = '', DATABASE_URL = '', REDIS_URL = '' } = process.env;
  const other = process.argv[2];
  if (other === undefined)
    throw new Error('Give the folder with the bundles of the other build, such as dist/apps');
  const where = machine();
  const kind = process.argv[3] ?? 'chat';
  if (kind === 'requests') {
    console.log(where);
    await requestPairs({ databaseUrl: DATABASE_URL, redisUrl: REDIS_URL, bundles, other });
    process.exit(0);
  }
  await copyDatabase(DATABASE_URL, 'bench_other');
  const otherDatabase = Object.assign(new URL(DATABASE_URL), { pathname: '/bench_other' }).href;
  const otherRedis = Object.assign(new URL(REDIS_URL), { pathname: '/1' }).href;

  if (kind === 'imports') {
    console.log(where);
    await importPairs(
      { bundles, databaseUrl: DATABASE_URL, redisUrl: REDIS_URL },
      { bundles: other, databaseUrl: otherDatabase, redisUrl: otherRedis },
    );
    process.exit(0);
  }
  const model = await startChild(join(__dirname, 'model-child.cjs'));
  const own = await startBuild({
    bundles,
    databaseUrl: DATABASE_URL,
    redisUrl: REDIS_URL,
    modelUrl: model.url,
  });
  const base = await startBuild({
    bundles: other,
    databaseUrl: otherDatabase,
    redisUrl: otherRedis,
    modelUrl: model.url,
  });
  console.log(`${where}\n\n${pairs} pairs of runs of ${perRun} calls, in turns\n`);
  const rows: string[][] = [];
  for (const what of ['chat', 'firstWords'] as const) {
    await measure(perRun, own[what]);
    await measure(perRun, base[what]);
    const ratios: number[] = [];
    const medians: [number[], number[]] = [[], []];
    for (let pair = 0; pair < pairs; pair += 1) {
      // The first of a pair changes, because the second finds the caches of the machine warmer.
      const order = pair % 2 === 0 ? [own, base] : [base, own];
      const measured = new Map<Build, number>();
      for (const build of order)
        measured.set(build, summarize(await measure(perRun, build[what])).p50);
      ratios.push(measured.get(own)! / measured.get(base)!);
      medians[0].push(measured.get(own)!);
      medians[1].push(measured.get(base)!);
    }
    const ratio = summarize(ratios);
    const times = medians.map((all) => ms(summarize(all).p50));
    rows.push([
      what,
      ...times,
      `${ratio.p50.toFixed(3)}×`,
      `${Math.min(...ratios).toFixed(3)}–${Math.max(...ratios).toFixed(3)}×`,
    ]);
  }
  console.log(
    table(
      ['what', 'this build p50 ms', 'other build p50 ms', 'median of the ratios', 'all ratios'],
      rows,
    ),
  );
  await Promise.all([own.stack.stop(), base.stack.stop(), model.stop()]);
  process.exit(0);
}

/** From another database, because one with connections cannot be copied. */
async function copyDatabase(url: string, copy: string): Promise<void> {
  const name = new URL(url).pathname.slice(1);
  const client = new pg.Client({
    connectionString: Object.assign(new URL(url), { pathname: '/template1' }).href,
  });
  await client.connect();
  await client.query(`create database ${copy} template ${pg.escapeIdentifier(name)}`);
  await client.end();
}

async function startBuild(options: {
  bundles: string;
  databaseUrl: string;
  redisUrl: string;
  modelUrl: string;
}): Promise<Build> {
  const { bundles, databaseUrl, redisUrl, modelUrl } = options;
  const unlimited = ['CHAT_RATE_LIMIT', 'MANAGE_RATE_LIMIT', 'RATE_LIMIT'].flatMap((limit) => [
    [`${limit}_PER_KEY`, '1000000'],
    [`${limit}_PER_ORGANIZATION`, '1000000'],
  ]);
  const stack = await startStack({
    databaseUrl,
    redisUrl,
    bundles,
    services: ['data', 'chat', 'manage', 'worker', 'gateway'],
    environment: {
      NODE_ENV: 'production',
      OPENAI_BASE_URL: `${modelUrl}/v1`,
      OPENAI_API_KEY: 'sk-bench',
      ...(Object.fromEntries(unlimited) as Record<string, string>),
    },
  });
  const agent = {
    slug: 'stub',
    name: 'Stub',
    systemPrompt: 'You answer for a shop.',
    model: 'openai/gpt-5-mini',
  };
  const { key } = await createOrganization(databaseUrl, stack.url, { agents: [agent] });
  const headers = { Authorization: `Bearer ${key}` };
  const body = JSON.stringify({ message: 'Is it there?' });
  const path = '/v1/agents/stub/chat';
  const client = await openClient(stack.services.chat!.url, {
    method: 'POST',
    path,
    headers,
    body,
  });
  return {
    stack,
    chat: () => client.call(),
    firstWords: () => readFirstWords(stack.services.manage!.url, headers),
  };
}

function readFirstWords(url: string, headers: Record<string, string>): Promise<void> {
  const options = {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json', Accept: 'text/event-stream' },
  };
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/v1/executions`, options, (response) => {
      response.setEncoding('utf8').on('data', (text: string) => {
        if (!text.includes('"text-delta"')) return;
        resolve();
        response.destroy();
      });
      response.on('end', () =>
        reject(new Error(`The stream ended with the status ${response.statusCode}`)),
      );
    });
    sent.on('error', reject).end(JSON.stringify({ agentSlug: 'stub', message: 'Is it there?' }));
  });
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
