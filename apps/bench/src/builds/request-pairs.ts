import { createDb } from '@parley/db';
import { createEntities } from '@parley/entities';
import { createApiKey } from '@parley/identity';
import { type RedisConnection, closeRedis, connectRedis, waitForRedis } from '@parley/redis';
import { type Stack, startStack } from '@parley/testing';
import { newCustomer } from '../data/create-cost';
import { big, loadEntities, type } from '../data/load-entities';
import { spread, summarize, table } from '../measure';
import { processorTimes, spentSince } from '../process-usage';
import { type RawClient, type RawRequest, openClient } from '../raw-client';

/** The rate limits of `npm start`. A turn stays below them. */
const limits = { RATE_LIMIT_PER_KEY: '6000', RATE_LIMIT_PER_ORGANIZATION: '20000' };
const pairs = 20;
const mostCallers = 8;

type Kind = 'get' | 'list' | 'create';
type Target = 'data' | 'gateway';

interface Turn {
  kind: Kind;
  callers: number;
  at: Target;
  count: number;
}

/** Turns of about a second, so that other load on the machine affects both builds. */
const turns: Turn[] = [
  { kind: 'get', callers: 8, at: 'data', count: 800 },
  { kind: 'get', callers: 1, at: 'data', count: 250 },
  { kind: 'get', callers: 8, at: 'gateway', count: 800 },
  { kind: 'list', callers: 8, at: 'data', count: 300 },
  { kind: 'create', callers: 8, at: 'data', count: 500 },
  { kind: 'create', callers: 1, at: 'data', count: 250 },
  { kind: 'create', callers: 8, at: 'gateway', count: 500 },
];

interface Measured {
  perSecond: number;
  p50: number;
  serviceUs: number;
  postgresUs: number;
  redisUs: number;
  allUs: number;
}

interface Place {
  databaseUrl: string;
  redisUrl: string;
  bundles: string;
  other: string;
}

/** Two builds with one database and one Redis, in turns: the ratio of each pair, and its median. */
export async function requestPairs({ databaseUrl, redisUrl, bundles, other }: Place) {
  const db = createDb({ databaseUrl, poolSize: 2 });
  await loadEntities(db, databaseUrl, 20_000);
  await db.pool.query(
    `insert into organizations (id, no, slug, name, updated_at) values ($1, $2, 'big', 'Big', now())`,
    [big.organizationId, big.tenant],
  );
  const redis = connectRedis({ url: redisUrl, role: 'producer' });
  await waitForRedis(redis, 30_000);
  const redisPid = Number(/process_id:(\d+)/.exec(await redis.info('server'))![1]);
  const { rows } = await db.pool.query<{ pid: number }>('select pg_backend_pid() as pid');
  const around: Around = {
    redis,
    redisPid,
    backendPid: rows[0]!.pid,
    requestOf: await createRequests(db),
  };
  const take = (stack: Stack, turn: Turn) => takeTurn(stack, turn, around);
  const startBuild = (folder: string) =>
    startStack({
      databaseUrl,
      redisUrl,
      bundles: folder,
      services: ['data', 'gateway'],
      environment: { NODE_ENV: 'production', LOG_LEVEL: 'info' },
      environmentOf: { data: limits },
    });
  const own = await startBuild(bundles);
  const base = await startBuild(other);

  const rowsOfAll: string[][] = [];
  for (const turn of turns) {
    for (const stack of [own, base]) await take(stack, turn);
    const measured: { own: Measured; base: Measured }[] = [];
    for (let pair = 0; pair < pairs; pair += 1) {
      // The first of a pair changes, because the second finds the caches of the machine warmer.
      const first = await take(pair % 2 === 0 ? own : base, turn);
      const second = await take(pair % 2 === 0 ? base : own, turn);
      measured.push(pair % 2 === 0 ? { own: first, base: second } : { own: second, base: first });
    }
    const ratio = (figure: keyof Measured) =>
      spread(measured.map((pair) => pair.own[figure] / pair.base[figure]));
    rowsOfAll.push([
      `${turn.kind}, ${turn.callers} callers, ${turn.at}`,
      ratio('perSecond'),
      ratio('p50'),
      ratio('allUs'),
      ratio('serviceUs'),
      ratio('postgresUs'),
      ratio('redisUs'),
    ]);
  }
  console.log(`\n${pairs} pairs of turns, this build ÷ the other: median and middle half\n`);
  const head = ['requests', 'rate', 'p50', 'processor time', 'services', 'PostgreSQL', 'Redis'];
  console.log(table(head, rowsOfAll));
  await Promise.all([own.stop(), base.stop(), closeRedis(redis)]);
  await db.close();
}

/** The processes besides those of a stack, and what a caller sends. */
interface Around {
  redis: RedisConnection;
  redisPid: number;
  backendPid: number;
  requestOf: (kind: Kind, caller: number) => RawRequest;
}

async function takeTurn(
  stack: Stack,
  { kind, callers, at, count }: Turn,
  { redis, redisPid, backendPid, requestOf }: Around,
): Promise<Measured> {
  // As if a minute had passed.
  const lists = await redis.keys('rate:*');
  if (lists.length > 0) await redis.del(lists);
  const url = at === 'data' ? stack.services.data!.url : stack.url;
  const clients = await Promise.all(
    Array.from({ length: callers }, (_, caller) => openClient(url, requestOf(kind, caller))),
  );
  const servicePids = [stack.services.data!.pid, stack.services.gateway!.pid];
  const before = processorTimes({ pids: [...servicePids, redisPid], siblingsOf: backendPid });
  const startedAt = performance.now();
  const times = await sendAll(clients, count);
  const seconds = (performance.now() - startedAt) / 1_000;
  const after = processorTimes({ pids: [...servicePids, redisPid], siblingsOf: backendPid });
  for (const client of clients) client.close();
  const spent = spentSince(before, after);
  const us = (pids: readonly number[]): number =>
    pids.reduce((sum, pid) => sum + (spent.get(pid) ?? 0), 0) / count;
  const serviceUs = us(servicePids);
  const redisUs = us([redisPid]);
  const allUs = us([...spent.keys()]);
  return {
    perSecond: count / seconds,
    p50: summarize(times).p50,
    serviceUs,
    redisUs,
    postgresUs: allUs - serviceUs - redisUs,
    allUs,
  };
}

/** Sends requests over all clients until there were `count`. Returns the duration of each. */
async function sendAll(clients: readonly RawClient[], count: number): Promise<number[]> {
  const times: number[] = [];
  let left = count;
  async function send(client: RawClient): Promise<void> {
    while (left > 0) {
      left -= 1;
      const sentAt = performance.now();
      const status = await client.call();
      if (status !== 200 && status !== 201) throw new Error(`The service answers ${status}`);
      times.push(performance.now() - sentAt);
    }
  }
  await Promise.all(clients.map(send));
  return times;
}

/** Each caller has a key and an entity of its own. */
async function createRequests(
  db: ReturnType<typeof createDb>,
): Promise<(kind: Kind, caller: number) => RawRequest> {
  const page = await createEntities({ db }).list(big, { type, limit: mostCallers });
  if (!page.ok) throw new Error(page.reason);
  const ids = page.page.entities.map(({ id }) => id);
  const keys: string[] = [];
  for (const id of ids) {
    const { key } = await createApiKey(db, { ...big, name: id, permissions: ['data'] });
    keys.push(key);
  }
  const path = `/v1/data/${type}`;
  return (kind, caller) => {
    const headers = { Authorization: `Bearer ${keys[caller]}` };
    if (kind === 'get') return { path: `${path}/${ids[caller]}`, headers };
    if (kind === 'list') return { path: `${path}?limit=50`, headers };
    return { method: 'POST', path, headers, body: JSON.stringify({ data: newCustomer() }) };
  };
}
