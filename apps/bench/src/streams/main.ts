import { get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { createDb } from '@parley/db';
import { createApiKey } from '@parley/identity';
import { startStack } from '@parley/testing';
import pg from 'pg';
import { machine, ms, report, residentKib, summarize, table } from '../measure';
import { createOrganization } from '../organization';

const sizes = [100, 500, 1_000];
const keys = 20;
const idleMs = 10_000;
const changes = 100;
const pauseMs = 50;

/**
 * Open streams of events of one environment through the gateway: memory of each, statements while
 * nothing happens, and the time from the answer to a change until every stream has its event, at 20
 * changes a second.
 */
async function main(): Promise<void> {
  const { PARLEY_BENCH_BUNDLES: bundles = '', DATABASE_URL = '', REDIS_URL = '' } = process.env;
  const where = machine();
  const unlimited = '1000000';
  const stack = await startStack({
    databaseUrl: DATABASE_URL,
    redisUrl: REDIS_URL,
    bundles,
    services: ['data', 'manage', 'gateway'],
    environment: {
      NODE_ENV: 'production',
      RATE_LIMIT_PER_KEY: unlimited,
      RATE_LIMIT_PER_ORGANIZATION: unlimited,
      EVENT_STREAMS_PER_CALLER: unlimited,
      EVENT_STREAMS_PER_ORGANIZATION: unlimited,
    },
  });
  const resources = { entityTypes: [{ slug: 'product', name: 'Product', schema: {} }] };
  const { tenant, post } = await createOrganization(DATABASE_URL, stack.url, resources);
  const db = createDb({ databaseUrl: DATABASE_URL, poolSize: 1 });
  const create = () =>
    createApiKey(db, {
      tenant,
      environment: 'development',
      name: 'bench',
      permissions: ['manage'],
    });
  const tokens = (await Promise.all(Array.from({ length: keys }, create))).map(({ key }) => key);
  await db.close();
  const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 1 });

  /**
   * When the change of an entity was answered, by the entity's id, and the delays
   * until streams had it.
   */
  const answeredAtMs = new Map<string, number>();
  const received: { id: string; atMs: number }[] = [];
  const open = (index: number) =>
    new Promise<void>((resolve, reject) => {
      const headers = { Authorization: `Bearer ${tokens[index % keys]}` };
      get(
        `${stack.url}/v1/events/stream?type=entity.created`,
        { headers, agent: false },
        (response) => {
          if (response.statusCode !== 200)
            return reject(new Error(`a stream was answered ${response.statusCode}`));
          response.setEncoding('utf8').on('data', (text: string) => {
            if (text.includes('event: open')) resolve();
            for (const [, id] of text.matchAll(/"entityId":"([^"]+)"/g))
              received.push({ id: id!, atMs: performance.now() });
          });
        },
      ).on('error', reject);
    });
  const memoryOf = (name: 'gateway' | 'manage') => residentKib(stack.services[name]!.pid);
  const statements = async () =>
    Number(
      (
        await pool.query(
          'select xact_commit as n from pg_stat_database where datname = current_database()',
        )
      ).rows[0].n,
    );

  const rows: (string | number)[][] = [];
  let isOpen = 0;
  const before = { gateway: memoryOf('gateway'), manage: memoryOf('manage') };
  for (const size of sizes) {
    for (; isOpen < size; isOpen += 20)
      await Promise.all(Array.from({ length: 20 }, (_, n) => open(isOpen + n)));
    await sleep(2_000);
    const perStream = (name: 'gateway' | 'manage') =>
      ((memoryOf(name) - before[name]) / size).toFixed(0);
    const memory = [perStream('gateway'), perStream('manage')];
    const committed = await statements();
    await sleep(idleMs);
    const perSecond = ((await statements()) - committed) / (idleMs / 1_000);
    answeredAtMs.clear();
    received.length = 0;
    for (let n = 0; n < changes; n += 1) {
      const { id } = await post('/v1/data/product', { data: { n } });
      answeredAtMs.set(String(id), performance.now());
      await sleep(pauseMs);
    }
    for (let waited = 0; received.length < size * changes && waited < 30_000; waited += 100)
      await sleep(100);
    const { p50, p95, p99 } = summarize(
      received.map(({ id, atMs }) => atMs - answeredAtMs.get(id)!),
    );
    const lost = size * changes - received.length;
    report(`streams: change to event, ${size} streams, p95`, p95, 'ms');
    report(`streams: lost events, ${size} streams`, lost, 'events', { atMost: 0 });
    rows.push([size, ...memory, perSecond.toFixed(1), ms(p50), ms(p95), ms(p99), lost]);
  }
  console.log(`${where}\n\n${changes} changes, one every ${pauseMs} ms and its duration\n`);
  const head = [
    'streams',
    'gateway KiB each',
    'manage KiB each',
    'idle transactions/s',
    'p50 ms',
    'p95 ms',
    'p99 ms',
    'lost',
  ];
  console.log(table(head, rows));
  await stack.stop();
  await pool.end();
  process.exit(0);
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
