import { setTimeout as sleep } from 'node:timers/promises';
import { createDb } from '@parley/db';
import { createEntities } from '@parley/entities';
import { closeRedis, connectRedis, createRelayWaker } from '@parley/redis';
import { runTriggerChaos, seedOrganization, startStack } from '@parley/testing';
import { machine, ms, report, summarize, table } from '../measure';
import { seedTrigger } from '../seed-trigger';

const { PARLEY_BENCH_BUNDLES: bundles = '', DATABASE_URL = '', REDIS_URL = '' } = process.env;
const secondsPerRate = 20;
const idleChanges = 500;

/** `node tools/bench.mjs triggers [speed] [chaos]`: both by default; `chaos` takes minutes. */
async function main(): Promise<void> {
  const wanted = process.argv.slice(2);
  console.log(machine());
  if (wanted.length === 0 || wanted.includes('speed')) await speed();
  if (wanted.length === 0 || wanted.includes('chaos')) await chaos();
}

async function speed(): Promise<void> {
  const stack = await startStack({
    databaseUrl: DATABASE_URL,
    redisUrl: REDIS_URL,
    bundles,
    services: ['worker'],
    environment: { NODE_ENV: 'production', LOG_LEVEL: 'warn' },
  });
  const db = createDb({ databaseUrl: DATABASE_URL });
  const redis = connectRedis({ url: REDIS_URL, role: 'producer' });
  const entities = createEntities({ db, wakeRelay: createRelayWaker(redis) });
  const { scope } = await seedOrganization(db.pool, {
    entityTypes: ['order', 'plain', 'effect'].map((slug) => ({ slug, name: slug, schema: {} })),
  });
  await seedTrigger(db, scope, { 'data.n': { $gte: 0 } });
  const change = async (n: number, type = 'order') => {
    const made = await entities.create(scope, { type, data: { n }, actor: { type: 'system' } });
    if (!made.ok) throw new Error(made.reason);
    return (JSON.parse(made.entity.json) as { id: string }).id;
  };
  const waiting = async () => {
    const { rows } = await db.pool.query<{ count: string }>(
      `select (select count(*) from events where relayed_at is null)
         + (select count(*) from trigger_runs where status in ('scheduled', 'running')) as count`,
    );
    return Number(rows[0]!.count);
  };
  const idle = async () => {
    while ((await waiting()) > 0) await sleep(20);
  };

  for (let n = 0; n < 200; n += 1) await change(n);
  await idle();
  const committedAt = new Map<string, number>();
  for (let n = 0; n < idleChanges; n += 1) {
    committedAt.set(await change(n), performance.timeOrigin + performance.now());
    await sleep(20 + Math.random() * 20);
  }
  await idle();
  const { rows } = await db.pool.query<{ entity_id: string; at: number }>(
    `select entity_id, (steps->0->>'startedAt')::float8 as at from trigger_runs where entity_id = any($1)`,
    [[...committedAt.keys()]],
  );
  // The worker records milliseconds, rounded down.
  const { p50, p95, p99 } = summarize(
    rows.map(({ entity_id, at }) => at + 0.5 - committedAt.get(entity_id)!),
  );
  console.log(
    `\nChange committed to first action started, one change at a time (${rows.length}), ms\n`,
  );
  console.log(table(['p50', 'p95', 'p99'], [[ms(p50), ms(p95), ms(p99)]]));
  report('triggers: change to first action, p50', p50, 'ms', { atMost: 25 });

  console.log(
    `\nChanges at a fixed rate for ${secondsPerRate} s; each has a run that creates an entity\n`,
  );
  const results: (string | number)[][] = [];
  let sustained = 0;
  for (const perSecond of [100, 250, 500, 750, 1_000, 1_500]) {
    const startedAt = performance.now();
    const backlog: number[] = [];
    let sent = 0;
    const pending = new Set<Promise<unknown>>();
    while (performance.now() - startedAt < secondsPerRate * 1_000) {
      const due = Math.floor(((performance.now() - startedAt) / 1_000) * perSecond);
      // If the machine cannot create entities at this rate, fewer are created.
      for (; sent < due && pending.size < 16; sent += 1) {
        const one = change(sent).finally(() => pending.delete(one));
        pending.add(one);
      }
      if ((performance.now() - startedAt) / 1_000 > backlog.length) backlog.push(await waiting());
      await sleep(2);
    }
    await Promise.all(pending);
    const sentMs = performance.now() - startedAt;
    const atEnd = await waiting();
    await idle();
    const drainMs = performance.now() - startedAt - sentMs;
    const half = backlog[Math.floor(backlog.length / 2)] ?? 0;
    results.push([
      perSecond,
      Math.round((sent * 1_000) / sentMs),
      half,
      atEnd,
      Math.round(drainMs),
    ]);
    // The backlog of less than a second of changes, all of which were made, does not grow.
    if (atEnd < perSecond && sent >= 0.99 * perSecond * secondsPerRate) sustained = perSecond;
    if (atEnd > perSecond * 5) break;
  }
  const head = [
    'wanted/s',
    'changes/s',
    'backlog at half time',
    'backlog at the end',
    'drained after ms',
  ];
  console.log(table(head, results));
  report('triggers: highest rate without a growing backlog', sustained, 'runs/s', {
    atLeast: 700,
    target: 1_500,
  });
  await entities.settled();
  await closeRedis(redis);
  await db.close();
  await stack.stop();
}

async function chaos(): Promise<void> {
  const result = await runTriggerChaos({
    bundles,
    changes: Number(process.env.PARLEY_CHAOS_CHANGES ?? 10_000),
    kills: Number(process.env.PARLEY_CHAOS_KILLS ?? 20),
    flush: true,
    pauseMs: Number(process.env.PARLEY_CHAOS_PAUSE_MS ?? 90_000),
    leaseMs: 4_000,
    root: process.cwd(),
    log: (line) => console.log(line),
  });
  console.log(`\n${JSON.stringify(result, null, 2)}`);
  if (result.lost + result.doubled + result.disordered > 0) process.exitCode = 1;
}

void main();
