import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import {
  type RunningServer,
  isAlive,
  makeTemporaryFolder,
  startPostgres,
  startRedis,
} from '@parley/embedded';
import Redis from 'ioredis';
import pg from 'pg';
import { type SeededOrganization, seedOrganization } from './seed-organization';
import { type ServiceProcess } from './stack/service-process';
import { type Stack, startStack } from './stack/start-stack';
import { until } from './until';

export interface ChaosOptions {
  /** The folder of the bundles. */
  bundles: string;
  /** Number of changes that must be acknowledged. */
  changes: number;
  /** Number of processes that are killed during the run: workers, Redis and PostgreSQL in turn. */
  kills: number;
  /** Whether Redis is flushed once. */
  flush: boolean;
  /** Time for which one of the two workers is paused (SIGSTOP) under load. */
  pauseMs: number;
  leaseMs: number;
  seed?: number;
  /** The root folder of this repository. */
  root: string;
  log?: (line: string) => void;
}

export interface ChaosResult {
  acknowledged: number;
  /** Number of committed changes. A change may be committed although its response was lost. */
  committed: number;
  /** Changes without an effect, and additional effects of a change. */
  lost: number;
  doubled: number;
  /** Number of entities whose effects are not in the order of their changes. */
  disordered: number;
  runs: Record<string, number>;
  done: string[];
  writingMs: number;
  /** Time from the last change to the last effect. */
  drainMs: number;
}

const writers = 8;
const drainLimitMs = 900_000;

/**
 * Runs two workers, the data service, PostgreSQL and Redis as processes, and makes changes over
 * HTTP while processes are killed. Each change fires a trigger that creates an entity. At the end
 * these entities are compared with the changes in PostgreSQL.
 */
export async function runTriggerChaos(options: ChaosOptions): Promise<ChaosResult> {
  const { log = () => {}, bundles, leaseMs, root } = options;
  const folder = makeTemporaryFolder('chaos');
  const closing: (() => Promise<unknown>)[] = [];
  try {
    const postgres = await startPostgres({ dataDir: join(folder, 'postgres') });
    const redis = await startRedis({ dataDir: join(folder, 'redis') });
    const servers = { postgres, redis };
    closing.push(() => Promise.all(Object.values(servers).map((server) => server.stop())));
    await migrate(root, postgres.url);
    const pool = new pg.Pool({ connectionString: postgres.url, max: 3 });
    pool.on('error', () => {});
    closing.push(() => pool.end());
    const shared = {
      databaseUrl: postgres.url,
      redisUrl: redis.url,
      bundles,
      environment: {
        LOG_LEVEL: 'warn',
        TRIGGER_LEASE_MS: String(leaseMs),
        RATE_LIMIT_PER_KEY: '1000000000',
        RATE_LIMIT_PER_ORGANIZATION: '1000000000',
      },
    };
    const stacks: Stack[] = [];
    closing.push(() => Promise.all(stacks.map((stack) => stack.stop())));
    stacks.push(await startStack({ ...shared, services: ['data', 'worker'] }));
    stacks.push(await startStack({ ...shared, services: ['worker'] }));
    const workers = stacks.map(({ services }) => services.worker!);
    return await withWorkerOutput(workers, () =>
      runChaos({ options, folder, servers, workers, log }, stacks[0]!, pool),
    );
  } finally {
    for (const close of closing.reverse()) await close().catch(() => {});
  }
}

async function runChaos(
  system: Omit<FaultTargets, 'load'>,
  stack: Stack,
  pool: pg.Pool,
): Promise<ChaosResult> {
  const { changes } = system.options;
  const org = await seedOrganization(pool);
  const data = stack.services.data!.url;
  await pushTriggers(data, org.key);
  const load = startLoad(data, org.key, changes);
  const startedAtMs = performance.now();
  const done = await injectFaults({ ...system, load });
  await load.ended;
  const writingMs = performance.now() - startedAtMs;
  system.log(`${load.acknowledged()} changes in ${Math.round(writingMs)} ms`);
  const drainMs = await waitForRuns(pool, org);
  return {
    acknowledged: load.acknowledged(),
    done,
    writingMs,
    drainMs,
    ...(await verify(pool, org)),
  };
}

/**
 * Adds the last output of the workers to an error. Continues paused workers, so that
 * they can be stopped.
 */
async function withWorkerOutput<T>(workers: ServiceProcess[], work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const lines = workers.flatMap(({ name, lines: printed }) =>
      printed.slice(-15).map((line) => `${name}: ${line}`),
    );
    throw new Error(`${(error as Error).message}\n${lines.join('\n')}`, { cause: error });
  } finally {
    for (const { pid } of workers.filter(isRunning)) process.kill(pid, 'SIGCONT');
  }
}

const isRunning = ({ pid }: ServiceProcess): boolean => pid > 0 && isAlive(pid);

/**
 * Migrates in a separate process, because this library does not depend on the one that migrates.
 */
async function migrate(root: string, databaseUrl: string): Promise<void> {
  const script = `
    import { loadMigrate } from ${JSON.stringify(join(root, 'tools', 'start', 'load-typescript.mjs'))};
    const { migrate } = await loadMigrate();
    await migrate({ databaseUrl: ${JSON.stringify(databaseUrl)}, migrationsDir: ${JSON.stringify(join(root, 'prisma', 'migrations'))} });`;
  await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], { cwd: root });
}

async function pushTriggers(url: string, key: string): Promise<void> {
  const marker = '{{trigger.entityId}} {{trigger.data.n}}';
  const trigger = (action: string) => ({
    slug: `on-${action}`,
    name: action,
    on: { entityType: 'order', action, condition: { 'data.n': { $gte: 0 } } },
    actions: [
      {
        tool: 'entity.create',
        args: { type: 'effect', data: { marker, order: '{{trigger.entityId}}' } },
      },
    ],
  });
  const resources = {
    entityTypes: ['order', 'effect'].map((slug) => ({ slug, name: slug, schema: {} })),
    triggers: [trigger('created'), trigger('updated')],
  };
  const { status, text } = await send(`${url}/v1/sync`, key, 'POST', { resources });
  if (status !== 200) throw new Error(`sync: ${status} ${text}`);
}

async function send(
  url: string,
  key: string,
  method: string,
  body: object,
): Promise<{ status: number; text: string }> {
  const response = await fetch(url, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(20_000),
  });
  return { status: response.status, text: await response.text() };
}

interface Load {
  acknowledged(): number;
  ended: Promise<void>;
}

/**
 * Starts writers that create orders and change each a few times. A failed request is not repeated:
 * it may have taken effect.
 */
function startLoad(url: string, key: string, changes: number): Load {
  let acknowledged = 0;
  async function attempt(path: string, method: string, n: number): Promise<string | null> {
    try {
      const { status, text } = await send(`${url}/v1/data/order${path}`, key, method, {
        data: { n },
      });
      if (status === 200 || status === 201) {
        acknowledged += 1;
        return (JSON.parse(text) as { id: string }).id;
      }
      if (status < 500) throw new Error(`${method} ${path}: ${status} ${text}`);
    } catch (error) {
      if ((error as Error).message.includes(': 4')) throw error;
    }
    await sleep(50);
    return null;
  }
  async function write(): Promise<void> {
    while (acknowledged < changes) {
      const id = await attempt('', 'POST', 0);
      for (let n = 1; id !== null && n <= 3 && acknowledged < changes; n += 1)
        await attempt(`/${id}`, 'PATCH', n);
    }
  }
  const ended = Promise.all(Array.from({ length: writers }, write)).then(() => {});
  return { acknowledged: () => acknowledged, ended };
}

interface FaultTargets {
  options: ChaosOptions;
  folder: string;
  servers: { postgres: RunningServer; redis: RunningServer };
  workers: ServiceProcess[];
  load: Load;
  log: (line: string) => void;
}

/**
 * Injects faults at equal steps of the load's progress. The kinds take turns; the worker is random.
 * Returns the faults.
 */
async function injectFaults({
  options,
  folder,
  servers,
  workers,
  load,
  log,
}: FaultTargets): Promise<string[]> {
  const random = randomOf(options.seed ?? 1);
  const kinds = ['worker', 'redis', 'worker', 'postgres'] as const;
  const steps: (() => Promise<string>)[] = Array.from(
    { length: options.kills },
    (_, index) => async () => {
      const kind = kinds[index % kinds.length]!;
      await sleep(random() * 100);
      if (kind === 'worker') {
        const worker = workers[Math.floor(random() * workers.length)]!;
        await worker.kill();
        await worker.start();
      } else {
        const { pid, port } = servers[kind];
        process.kill(pid, 'SIGKILL');
        await sleep(100);
        const again = { dataDir: join(folder, kind), port };
        if (kind === 'redis') servers.redis = await startRedis(again);
        else servers.postgres = await startPostgres(again);
      }
      return kind;
    },
  );
  if (options.flush) {
    steps.splice(Math.ceil(steps.length / 2), 0, async () => {
      const redis = new Redis(servers.redis.url, { maxRetriesPerRequest: 5 });
      await redis.flushall();
      redis.disconnect();
      return 'flush';
    });
  }
  if (options.pauseMs > 0) {
    steps.push(async () => {
      const { pid } = workers[0]!;
      process.kill(pid, 'SIGSTOP');
      await sleep(options.pauseMs);
      process.kill(pid, 'SIGCONT');
      return 'pause';
    });
  }
  const done: string[] = [];
  for (const [index, step] of steps.entries()) {
    if (!workers.every(isRunning))
      throw new Error(`A worker ended unexpectedly after ${done.at(-1)}`);
    const progress = ((index + 0.5) / steps.length) * options.changes;
    await until(() => load.acknowledged() >= progress, { limitMs: drainLimitMs, everyMs: 5 });
    done.push(await step());
    log(`${load.acknowledged()} changes: ${done.at(-1)}`);
  }
  return done;
}

/** A random number generator that is deterministic by its seed (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/**
 * Waits until all events are relayed and all runs have ended. Returns the duration in milliseconds.
 */
async function waitForRuns(pool: pg.Pool, { scope }: SeededOrganization): Promise<number> {
  const startedAtMs = performance.now();
  const read = async () => {
    const { rows } = await pool.query(
      `select (select count(*) from events where tenant = $1 and relayed_at is null) as events,
         (select count(*) from trigger_runs where tenant = $1 and status in ('scheduled', 'running')) as runs`,
      [scope.tenant],
    );
    return rows[0];
  };
  await until(read, {
    isThere: (left) => left.events === '0' && left.runs === '0',
    limitMs: drainLimitMs,
  });
  return performance.now() - startedAtMs;
}

async function verify(pool: pg.Pool, { scope }: SeededOrganization) {
  const { rows } = await pool.query(
    `with changes as (
       select entity_id || ' ' || (payload->'data'->>'n') as marker from events
       where tenant = $1 and entity_type = 'order'),
     effects as (
       select payload->'data'->>'marker' as marker, payload->'data'->>'order' as entity, id,
         split_part(payload->'data'->>'marker', ' ', 2)::int as n
       from events where tenant = $1 and type = 'entity.created' and entity_type = 'effect'),
     stored as (select count(*) from entities where tenant = $1 and data ? 'marker')
     select (select count(*) from changes)::int as committed,
       (select count(*) from changes where marker not in (select marker from effects))::int as lost,
       ((select count(*) from effects) - (select count(distinct marker) from effects)
         + abs((select count from stored) - (select count(*) from effects)))::int as doubled,
       (select count(*) from (select entity from effects group by entity
          having array_agg(n order by id) <> array_agg(n order by n)) d)::int as disordered`,
    [scope.tenant],
  );
  const runs = await pool.query<{ status: string; count: number }>(
    'select status::text, count(*)::int from trigger_runs where tenant = $1 group by 1',
    [scope.tenant],
  );
  const counts = Object.fromEntries(runs.rows.map(({ status, count }) => [status, count]));
  return {
    ...(rows[0] as Pick<ChaosResult, 'committed' | 'lost' | 'doubled' | 'disordered'>),
    runs: counts,
  };
}
