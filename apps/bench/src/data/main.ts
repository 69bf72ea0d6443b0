import type { JsonObject, Scope } from '@parley/contracts';
import { createDb } from '@parley/db';
import { type Entities, createEntities } from '@parley/entities';
import { load, machine, measure, measureInTurns, ms, summarize, table } from '../measure';
import { addNoise } from './add-noise';
import { admission } from './admission';
import { backendCpu } from './backend-cpu';
import { createListOnly, createWithLibrary } from './create-cost';
import { httpRows } from './http-rows';
import { big, loadEntities, small, type } from './load-entities';
import { operators, random, randomFilter } from './random-filters';

/**
 * `node tools/bench.mjs data [entities]`: a million by default, a fifth of them in the big
 * tenant. With `BENCH_LOADED` it uses the entities that an earlier run has loaded into the
 * database of `DATABASE_URL`.
 */
async function main(): Promise<void> {
  const {
    DATABASE_URL: databaseUrl = '',
    REDIS_URL: redisUrl = '',
    PARLEY_BENCH_BUNDLES: bundles = '',
    PARLEY_BENCH_FOLDER: folder = '',
  } = process.env;
  const total = Number(process.argv[2] ?? 1_000_000);
  const db = createDb({ databaseUrl, poolSize: 8 });
  const entities = createEntities({ db });
  console.log(`${machine()}\n`);
  if (process.env.BENCH_LOADED === undefined) {
    const startedAt = performance.now();
    await loadEntities(db, databaseUrl, total);
    console.log(
      `${total} entities loaded in ${Math.round((performance.now() - startedAt) / 1000)} s\n`,
    );
  }
  await reads(entities);
  await filters(databaseUrl);
  await creates(db, entities);
  await noise(entities, databaseUrl);
  await admission(db, redisUrl);
  await httpRows({ db, entities, databaseUrl, redisUrl, bundles, folder });
  await entities.settled();
  await db.close();
  process.exit(0);
}

async function reads(entities: Entities): Promise<void> {
  let cursor: string | undefined;
  let id = '';
  for (let page = 1; page < 1_000; page += 1) {
    const result = await entities.list(big, { type, limit: 50, cursor });
    if (!result.ok) throw new Error(result.reason);
    if (page === 1) id = result.page.entities[0]!.id;
    cursor = result.page.cursor;
  }
  const list = (scope: Scope, from?: string) => () =>
    entities.list(scope, { type, limit: 50, cursor: from });
  const samples = await measureInTurns(
    {
      'get, 200k tenant': () => entities.get(big, { type, id }),
      'list of 50, 1k tenant': list(small),
      'list of 50, 200k tenant': list(big),
      'list of 50, 200k tenant, page 1,000': list(big, cursor),
      'list of 1 with an exact count, 200k tenant': () =>
        entities.list(big, { type, limit: 1, count: 'exact' }),
      'list of 1 with an estimated count, 200k tenant': () =>
        entities.list(big, { type, limit: 1, count: 'estimated' }),
      'sort by an undeclared field, 200k tenant': () =>
        entities.query(big, { type, limit: 50, sort: { field: 'data.amount' } }),
      'search of a word that all 200k have': () =>
        entities.search(big, { type, query: 'customer', limit: 20 }),
      'search of a word that 200 of 200k have': () =>
        entities.search(big, { type, query: 'w77 x', limit: 20 }),
    },
    { rounds: 10, perRound: 50 },
  );
  const base = summarize(samples['list of 50, 1k tenant']).p50;
  const rows = Object.entries(samples).map(([name, of]) => {
    const { p50, p95, p99 } = summarize(of);
    return [name, ms(p50), ms(p95), ms(p99), `${(p50 / base).toFixed(2)}×`];
  });
  console.log('Through the library: one statement each, 500 calls\n');
  console.log(table(['read', 'p50 ms', 'p95 ms', 'p99 ms', '÷ list in the 1k tenant'], rows));
}

async function filters(databaseUrl: string): Promise<void> {
  const db = createDb({ databaseUrl, poolSize: 1 });
  const entities = createEntities({ db });
  const onCpu = await backendCpu(db);
  const next = random(7);
  const measured: { operator: string; filters: JsonObject; p50: number; cpu: number }[] = [];
  for (let at = 0; at < 1_000; at += 1) {
    const operator = operators[at % operators.length]!;
    const one = randomFilter(operator, next);
    const call = async (): Promise<void> => {
      const result = await entities.query(big, { type, limit: 50, filters: one });
      if (!result.ok) throw new Error(JSON.stringify(result));
    };
    // The statement is prepared the second time.
    for (let time = 0; time < 2; time += 1) await call();
    const cpu: number[] = [];
    const times = await measure(7, async () => cpu.push(await onCpu(call)));
    measured.push({ operator, filters: one, p50: summarize(times).p50, cpu: summarize(cpu).p50 });
  }
  await db.close();
  const rows = operators.map((operator) => {
    const of = measured.filter((one) => one.operator === operator);
    const worst = of.reduce((a, b) => (a.cpu > b.cpu ? a : b));
    const cpu = summarize(of.map((one) => one.cpu));
    const above = of.filter((one) => one.cpu > 10).length;
    return [
      operator,
      ms(summarize(of.map((one) => one.p50)).p50),
      ms(cpu.p50),
      ms(cpu.p95),
      ms(worst.cpu),
      above,
      `\`${JSON.stringify(worst.filters).slice(0, 60)}\``,
    ];
  });
  console.log(
    '\n1,000 random filters on undeclared fields in the 200k tenant, 100 an operator, p50 of each\n',
  );
  const head = [
    'operator',
    'median',
    'in the database',
    'p95',
    'worst',
    'above 10 ms',
    'the worst',
  ];
  console.log(table(head, rows));
  console.log(
    '\n"In the database" and the columns after it are milliseconds of CPU time of the backend.',
  );
}

async function creates(
  db: Parameters<typeof createListOnly>[0],
  entities: Entities,
): Promise<void> {
  const samples = await measureInTurns(
    {
      'list index only': () => createListOnly(db, big),
      'all indexes': () => createWithLibrary(entities, big),
    },
    { rounds: 10, perRound: 200 },
  );
  const [plain, all] = [summarize(samples['list index only']), summarize(samples['all indexes'])];
  const rates = { plain: 0, all: 0 };
  for (let round = 0; round < 3; round += 1) {
    rates.plain += (await load(4, 1_500, () => () => createListOnly(db, big))).perSecond / 3;
    rates.all += (await load(4, 1_500, () => () => createWithLibrary(entities, big))).perSecond / 3;
  }
  console.log('\nCreate of an entity of 14 fields with its event, durable\n');
  console.log(
    table(
      ['', 'p50 ms', 'p95 ms', 'p99 ms', '4 callers, a second'],
      [
        ['list index only', ms(plain.p50), ms(plain.p95), ms(plain.p99), Math.round(rates.plain)],
        ['all indexes', ms(all.p50), ms(all.p95), ms(all.p99), Math.round(rates.all)],
        [
          'ratio',
          `${(all.p50 / plain.p50).toFixed(2)}×`,
          '',
          '',
          `${(rates.plain / rates.all).toFixed(2)}×`,
        ],
      ],
    ),
  );
}

async function noise(entities: Entities, databaseUrl: string): Promise<void> {
  const calls = {
    'search of a word that all have': () =>
      entities.search(small, { type, query: 'customer', limit: 20 }),
    'search of a rare word': () => entities.search(small, { type, query: 'w77', limit: 20 }),
    'list of 50, to compare': () => entities.list(small, { type, limit: 50 }),
  };
  const turns = { rounds: 8, perRound: 50 };
  const before = await measureInTurns(calls, turns);
  await addNoise(databaseUrl, 200_000);
  const after = await measureInTurns(calls, turns);
  const grown = (name: keyof typeof calls): number =>
    summarize(after[name]).p50 / summarize(before[name]).p50;
  // The measurements are minutes apart. The list reads nothing of the other tenant, so it shows the
  // effect of other load.
  const drift = grown('list of 50, to compare');
  const rows = (Object.keys(calls) as (keyof typeof calls)[]).map((name) => [
    name,
    ms(summarize(before[name]).p50),
    ms(summarize(after[name]).p50),
    `${grown(name).toFixed(2)}×`,
    `${(grown(name) / drift).toFixed(2)}×`,
  ]);
  console.log('\nThe 1k tenant before and after another tenant gains 200,000 matching entities\n');
  console.log(
    table(['', 'before, p50 ms', 'after, p50 ms', 'ratio', 'ratio ÷ ratio of the list'], rows),
  );
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
