import { setTimeout as sleep } from 'node:timers/promises';
import type { Scope } from '@parley/contracts';
import { type Db, createDb } from '@parley/db';
import { type Entities, createEntities } from '@parley/entities';
import { createApiKey } from '@parley/identity';
import { closeRedis, connectRedis, createRelayWaker } from '@parley/redis';
import { seedOrganization, startStack } from '@parley/testing';
import { newCustomer } from '../data/create-cost';
import {
  type Samples,
  machine,
  measure,
  measureInTurns,
  ms,
  report,
  summarize,
  table,
} from '../measure';
import { openClient } from '../raw-client';

const {
  PARLEY_BENCH_BUNDLES: bundles = '',
  DATABASE_URL: databaseUrl = '',
  REDIS_URL: redisUrl = '',
} = process.env;
const type = 'customer';
const actor = { type: 'system' } as const;
const customerType = { slug: type, name: 'Customer', schema: {}, searchFields: ['name', 'note'] };
/** What may grow: an index one level deeper, and the noise of a run. */
const mostGrowth = 1.5;

/**
 * `node tools/bench.mjs growth [largest]`: a type of 1,000 entities up to `largest`,
 * 100,000 by default.
 */
async function main(): Promise<void> {
  const largest = Number(process.argv[2] ?? 100_000);
  console.log(machine());
  const db = createDb({ databaseUrl });
  const redis = connectRedis({ url: redisUrl, role: 'producer' });
  const entities = createEntities({ db, wakeRelay: createRelayWaker(redis) });
  await ofEntities(db, entities, largest);
  await ofOrganizations(db, entities);
  await ofThreads(db);
  await firstRequests(db, entities);
  await entities.settled();
  await closeRedis(redis);
  await db.close();
  process.exit(0);
}

async function organizationOf(db: Db, entities: Entities, count: number): Promise<Scope> {
  const { scope } = await seedOrganization(db.pool, { entityTypes: [customerType] });
  for (let made = 0; made < count; made += 500) {
    const size = Math.min(500, count - made);
    const results = await entities.createMany(scope, {
      type,
      entities: Array.from({ length: size }, () => ({ data: newCustomer(), actor })),
    });
    if (results.some(({ ok }) => !ok)) throw new Error('Not created');
  }
  return scope;
}

/**
 * The operations on the entities of an organization. Each reads another entity of it,
 * chosen at random.
 */
async function operationsOf(
  entities: Entities,
  scope: Scope,
): Promise<Record<string, () => Promise<unknown>>> {
  const page = await entities.list(scope, { type, limit: 100 });
  if (!page.ok) throw new Error(page.reason);
  const found = page.page.entities;
  const any = () => found[Math.floor(Math.random() * found.length)]!;
  const query = (filters: object, sort?: { field: string }) =>
    entities.query(scope, { type, limit: 50, filters: filters as never, sort });
  return {
    get: () => entities.get(scope, { type, id: any().id }),
    'list of 50': () => entities.list(scope, { type, limit: 50 }),
    'filter, one match': () => query({ 'data.name': any().data.name }),
    'filter, 1 % match': () => query({ 'data.score': any().data.score }),
    'sort by a field': () => query({}, { field: 'data.amount' }),
    'search, one match': () =>
      entities.search(scope, { type, limit: 20, query: String(any().data.name).slice(9) }),
    create: () => entities.create(scope, { type, data: newCustomer(), actor }),
  };
}

/** Prints the p50 of each operation at each size and its ratio to that at the smallest size. */
function printGrowth(
  title: string,
  sizes: readonly number[],
  samplesOf: (operation: string, size: number) => Samples,
  operations: readonly string[],
): void {
  const rows = operations.map((operation) => {
    const p50s = sizes.map((size) => summarize(samplesOf(operation, size)).p50);
    const growth = p50s.at(-1)! / p50s[0]!;
    report(`growth: ${operation}, ${title}`, growth, '×', { atMost: mostGrowth });
    return [
      operation,
      ...p50s.map((p50, at) => (at === 0 ? `${ms(p50)} ms` : `${(p50 / p50s[0]!).toFixed(2)}×`)),
    ];
  });
  console.log(
    `\n## ${title}\n\n${table(['p50', ...sizes.map((size) => size.toLocaleString('en-US'))], rows)}`,
  );
}

async function ofEntities(db: Db, entities: Entities, largest: number): Promise<void> {
  const sizes = [1_000, 10_000, 100_000, 1_000_000].filter((size) => size <= largest);
  const scopes = new Map<number, Scope>();
  for (const size of sizes) scopes.set(size, await organizationOf(db, entities, size));
  await entities.settled();
  await db.pool.query('vacuum analyze');
  const calls: Record<string, () => Promise<unknown>> = {};
  const names = new Set<string>();
  for (const [size, scope] of scopes)
    for (const [name, call] of Object.entries(await operationsOf(entities, scope))) {
      names.add(name);
      calls[`${name} ${size}`] = call;
    }
  const samples = await measureInTurns(calls, { rounds: 10, perRound: 30 });
  const runs = await triggerRuns(db, entities, scopes);
  const all = (name: string, size: number) => samples[`${name} ${size}`] ?? runs.get(size)!;
  printGrowth('entities of a type', sizes, all, [...names, 'change to first action']);
}

/** The time from a committed change to the start of the trigger's action, by size. */
async function triggerRuns(
  db: Db,
  entities: Entities,
  scopes: Map<number, Scope>,
): Promise<Map<number, Samples>> {
  const stack = await startStack({
    databaseUrl,
    redisUrl,
    bundles,
    services: ['worker'],
    environment: { NODE_ENV: 'production', LOG_LEVEL: 'warn' },
  });
  const definition = JSON.stringify({
    slug: 'bench',
    name: 'bench',
    on: { entityType: type, action: 'created' },
    actions: [{ tool: 'entity.query', args: { type, limit: 1 } }],
  });
  await db.pool.query('update events set relayed_at = now() where relayed_at is null');
  const samples = new Map<number, Samples>();
  for (const [size, { tenant, environment }] of scopes) {
    samples.set(size, []);
    await db.pool.query(
      `insert into triggers (id, tenant, environment, slug, name, entity_type, action, definition, updated_at)
       values ($1, $2, $3::"Environment", 'bench', 'bench', $4, 'created', $5, now())`,
      [`bench-${size}`, tenant, environment, type, definition],
    );
    await db.pool.query(`update entity_types set relayed_actions = '{created}' where tenant = $1`, [
      tenant,
    ]);
  }
  for (let round = 0; round < 60; round += 1) {
    for (const [size, scope] of scopes) {
      const made = await entities.create(scope, { type, data: newCustomer(), actor });
      if (!made.ok) throw new Error(made.reason);
      const committedAt = performance.timeOrigin + performance.now();
      for (;;) {
        await sleep(15);
        const { rows } = await db.pool.query<{ at: number }>(
          `select (steps->0->>'startedAt')::float8 as at from trigger_runs where tenant = $1 and entity_id = $2 and status = 'succeeded'`,
          [scope.tenant, made.entity.id],
        );
        if (rows[0] === undefined) continue;
        // The worker records milliseconds, rounded down. The first rounds are a warm-up.
        if (round >= 10) samples.get(size)!.push(rows[0].at + 0.5 - committedAt);
        break;
      }
    }
  }
  await stack.stop();
  return samples;
}

async function ofOrganizations(db: Db, entities: Entities): Promise<void> {
  const sizes = [1, 100, 10_000];
  const own = await operationsOf(entities, await organizationOf(db, entities, 1_000));
  // In another organization, so that the type which is read does not grow.
  const { create } = await operationsOf(entities, await organizationOf(db, entities, 1_000));
  const calls = {
    ...own,
    create: create!,
    'driver: select 1': () => db.pool.query({ name: 'one', text: 'select 1' }),
  };
  const samples = new Map<number, Record<string, Samples>>();
  for (const [at, size] of sizes.entries()) {
    for (let made = sizes[at - 1] ?? 1; made < size; made += 1)
      await organizationOf(db, entities, 10);
    await db.pool.query('analyze');
    samples.set(size, await measureInTurns(calls, { rounds: 8, perRound: 40 }));
  }
  printGrowth(
    'organizations with 10 entities each',
    sizes,
    (name, size) => samples.get(size)![name]!,
    Object.keys(calls),
  );
}

async function ofThreads(db: Db): Promise<void> {
  const sizes = [10, 100, 1_000, 5_000];
  const environment = {
    NODE_ENV: 'production',
    LOG_LEVEL: 'warn',
    CHAT_RATE_LIMIT_PER_KEY: '1000000',
    CHAT_RATE_LIMIT_PER_ORGANIZATION: '1000000',
  };
  const stack = await startStack({
    databaseUrl,
    redisUrl,
    bundles,
    services: ['chat'],
    environment,
  });
  const { scope } = await seedOrganization(db.pool, {
    agents: [{ slug: 'bench', model: 'offline/scripted' }],
  });
  const { key } = await createApiKey(db, { ...scope, name: 'bench', permissions: ['*'] });
  const calls: Record<string, () => Promise<unknown>> = {};
  for (const size of sizes) {
    const body = JSON.stringify({ message: 'Is it there?', externalThreadId: `bench:${size}` });
    const request = {
      method: 'POST',
      path: '/v1/agents/bench/chat',
      headers: { Authorization: `Bearer ${key}` },
      body,
    };
    const turn = async (times: number) => {
      const client = await openClient(stack.services.chat!.url, request);
      const samples = await measure(times, async () => {
        const status = await client.call();
        if (status !== 200) throw new Error(`chat answered ${status}`);
      });
      client.close();
      return samples;
    };
    await turn(size / 2);
    let waiting: Samples = [];
    // The connection is opened outside of the measurement, for 20 turns.
    calls[`a turn ${size}`] = async () => {
      if (waiting.length === 0) waiting = await turn(20);
      return waiting.pop();
    };
  }
  const samples: Record<string, Samples> = {};
  for (let round = 0; round < 80; round += 1)
    for (const [name, call] of Object.entries(calls))
      (samples[name] ??= []).push((await call()) as number);
  printGrowth('messages of a thread', sizes, (name, size) => samples[`${name} ${size}`]!, [
    'a turn',
  ]);
  await stack.stop();
}

/** The first request of a new process, and of new connections to PostgreSQL, beside a warm one. */
async function firstRequests(db: Db, entities: Entities): Promise<void> {
  const scope = await organizationOf(db, entities, 1_000);
  const { key } = await createApiKey(db, { ...scope, name: 'bench', permissions: ['data'] });
  const environmentOf = {
    data: { RATE_LIMIT_PER_KEY: '100000000', RATE_LIMIT_PER_ORGANIZATION: '100000000' },
  };
  const environment = { NODE_ENV: 'production', LOG_LEVEL: 'warn' };
  const stack = await startStack({
    databaseUrl,
    redisUrl,
    bundles,
    services: ['data'],
    environment,
    environmentOf,
  });
  const client = await openClient(stack.services.data!.url, {
    path: `/v1/data/${type}?limit=50`,
    headers: { Authorization: `Bearer ${key}` },
  });
  const call = () => client.call();
  const [first] = await measure(1, call);
  const warm = summarize(await measure(500, call)).p50;
  const { rowCount } = await db.pool.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'parley-data'`,
  );
  if (rowCount === 0) throw new Error('The data service has no connection');
  await sleep(200);
  const [reconnected] = await measure(1, call);
  const list = (from: Entities) => () => from.list(scope, { type, limit: 50 });
  const prepared = summarize(await measure(500, list(entities))).p50;
  const unprepared = summarize(await onNewConnections(20, list)).p50;
  const rows = [
    ['after the start', ms(first!), `${(first! / warm).toFixed(1)}×`],
    ['after all connections were closed', ms(reconnected!), `${(reconnected! / warm).toFixed(1)}×`],
    ['warm, p50', ms(warm), '1×'],
    ['without the service, p50', ms(prepared), '1×'],
    [
      'without the service and prepared statements, p50',
      ms(unprepared),
      `${(unprepared / prepared).toFixed(1)}×`,
    ],
  ];
  console.log(`\n## First list of 50\n\n${table(['', 'ms', '÷ warm'], rows)}`);
  report('growth: first list after the start ÷ warm', first! / warm, '×', { atMost: 5 });
  report('growth: first list without prepared statements ÷ warm', unprepared / prepared, '×', {
    atMost: 5,
  });
  client.close();
  await stack.stop();
}

/** Measures the first call on each of `count` new connections. */
async function onNewConnections(
  count: number,
  call: (entities: Entities) => () => Promise<unknown>,
): Promise<Samples> {
  const samples: Samples = [];
  for (let made = 0; made < count; made += 1) {
    const db = createDb({ databaseUrl, poolSize: 1 });
    await db.ping();
    samples.push(...(await measure(1, call(createEntities({ db })))));
    await db.close();
  }
  return samples;
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
