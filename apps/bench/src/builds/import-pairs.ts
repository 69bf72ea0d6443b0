import { setTimeout as sleep } from 'node:timers/promises';
import { type Db, createDb } from '@parley/db';
import { createApiKey } from '@parley/identity';
import { type Stack, seedOrganization, startStack } from '@parley/testing';
import { newCustomer } from '../data/create-cost';
import { spread, table } from '../measure';
import { processorTimes, spentSince } from '../process-usage';
import { seedTrigger } from '../seed-trigger';

/** The rate limits of `npm start`. */
const limits = { RATE_LIMIT_PER_KEY: '6000', RATE_LIMIT_PER_ORGANIZATION: '20000' };
const pairs = 6;
const rowsOfImport = 5_000;
const rowsOfRequest = 500;

export interface Build {
  bundles: string;
  databaseUrl: string;
  redisUrl: string;
}

interface Side {
  stack: Stack;
  db: Db;
  key: string;
}

interface Measured {
  endedMs: number;
  effectsPerTransaction: number;
  serviceMs: number;
  postgresMs: number;
  allMs: number;
}

/**
 * Two builds on databases of their own, in turns: an import whose rows each start a run that
 * creates an entity.
 */
export async function importPairs(own: Build, base: Build): Promise<void> {
  const sides = { own: await startSide(own), base: await startSide(base) };
  const rows: string[][] = [];
  for (const callers of [1, 8]) {
    for (const side of Object.values(sides)) await runImport(side, callers);
    const measured: { own: Measured; base: Measured }[] = [];
    for (let pair = 0; pair < pairs; pair += 1) {
      // The first of a pair changes, because the second finds the caches of the machine warmer.
      const order = pair % 2 === 0 ? (['own', 'base'] as const) : (['base', 'own'] as const);
      const first = await runImport(sides[order[0]], callers);
      const second = await runImport(sides[order[1]], callers);
      measured.push(
        order[0] === 'own' ? { own: first, base: second } : { own: second, base: first },
      );
    }
    const ratio = (figure: keyof Measured) =>
      spread(measured.map((pair) => pair.own[figure] / pair.base[figure]));
    rows.push([
      String(callers),
      ratio('endedMs'),
      ratio('effectsPerTransaction'),
      ratio('allMs'),
      ratio('serviceMs'),
      ratio('postgresMs'),
    ]);
  }
  console.log(
    `\nAn import of ${rowsOfImport} rows with a trigger until its last run has ended, ${pairs} pairs, this build ÷ the other: median and middle half\n`,
  );
  const head = [
    'callers',
    'time',
    'effects of a transaction',
    'processor time',
    'data and worker',
    'PostgreSQL',
  ];
  console.log(table(head, rows));
  for (const { stack, db } of Object.values(sides)) {
    await stack.stop();
    await db.close();
  }
}

async function startSide({ bundles, databaseUrl, redisUrl }: Build): Promise<Side> {
  const stack = await startStack({
    databaseUrl,
    redisUrl,
    bundles,
    services: ['data', 'worker'],
    environment: { NODE_ENV: 'production', LOG_LEVEL: 'warn' },
    environmentOf: { data: limits },
  });
  const db = createDb({ databaseUrl, poolSize: 2 });
  const entityTypes = ['order', 'effect'].map((slug) => ({ slug, name: slug, schema: {} }));
  const { scope } = await seedOrganization(db.pool, { entityTypes });
  await seedTrigger(db, scope);
  const { key } = await createApiKey(db, { ...scope, name: 'bench', permissions: ['*'] });
  return { stack, db, key };
}

async function runImport({ stack, db, key }: Side, callers: number): Promise<Measured> {
  const services = [stack.services.data!.pid, stack.services.worker!.pid];
  const { rows } = await db.pool.query<{ pid: number }>('select pg_backend_pid() as pid');
  const processes = { pids: services, siblingsOf: rows[0]!.pid };
  const before = processorTimes(processes);
  const startedAt = performance.now();
  let next = 0;
  async function send(): Promise<void> {
    while (next < rowsOfImport) {
      const from = next;
      next += rowsOfRequest;
      await sendBulk(`${stack.services.data!.url}/v1/data/order/bulk`, key, from);
    }
  }
  await Promise.all(Array.from({ length: callers }, send));
  while ((await waiting(db)) > 0) await sleep(50);
  const endedMs = performance.now() - startedAt;
  const spent = spentSince(before, processorTimes(processes));
  const all = [...spent.values()].reduce((sum, us) => sum + us, 0);
  const ofServices = services.reduce((sum, pid) => sum + (spent.get(pid) ?? 0), 0);
  return {
    endedMs,
    effectsPerTransaction: await effectsPerTransaction(db),
    serviceMs: ofServices / 1_000,
    postgresMs: (all - ofServices) / 1_000,
    allMs: all / 1_000,
  };
}

/** Creates rows with one bulk request. An organization has two at a time; others are sent again. */
async function sendBulk(url: string, key: string, from: number): Promise<void> {
  const operations = Array.from({ length: rowsOfRequest }, (_, at) => ({
    action: 'create',
    data: { ...newCustomer(), n: from + at },
  }));
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  const body = JSON.stringify({ operations });
  for (;;) {
    const response = await fetch(url, { method: 'POST', headers, body });
    const text = await response.text();
    if (response.ok) return;
    if (response.status !== 429) throw new Error(`${response.status} ${text}`);
    await sleep(100);
  }
}

async function waiting(db: Db): Promise<number> {
  const { rows } = await db.pool.query<{ count: number }>(
    `select ((select count(*) from events where relayed_at is null)
       + (select count(*) from trigger_runs where status in ('scheduled', 'running')))::int as count`,
  );
  return rows[0]!.count;
}

async function effectsPerTransaction(db: Db): Promise<number> {
  const { rows } = await db.pool.query<{ size: number }>(
    `select count(*)::float8 / count(distinct xmin::text) as size from (
       select xmin from entities where part = (select no from entity_types where slug = 'effect')
       order by pos desc limit ${rowsOfImport}) e`,
  );
  return rows[0]!.size;
}
