import { setTimeout as sleep } from 'node:timers/promises';
import { once } from 'node:events';
import { createServer, get as httpGet } from 'node:http';
import type { AddressInfo } from 'node:net';
import { recordEvent } from '@parley/events';
import { revokeApiKey } from '@parley/identity';
import { OpenStreams, closeServer } from '@parley/service';
import { type OpenEventStream, countStatements, openEventStream, until } from '@parley/testing';
import { createManageApp } from './app';
import { type TestApi, type World, createTestApi } from './testing/create-test-api';

/** What a restore does to the events (libs/db/src/backup). */
const afterRestore = 'update events set xid = default';

let api: TestApi;
let world: World;
let server: ReturnType<typeof createServer>;
let url: string;

const listen = async (streamLimits = api.deps.streamLimits) => {
  const started = createServer(createManageApp({ ...api.deps, streamLimits }));
  await new Promise<void>((resolve) => started.listen(0, '127.0.0.1', resolve));
  return { started, at: `http://127.0.0.1:${(started.address() as AddressInfo).port}` };
};
beforeAll(async () => {
  api = await createTestApi({
    streamLimits: {
      openStreams: new OpenStreams(),
      perCaller: 60,
      perOrganization: 110,
      commentEveryMs: 100,
      maxOpenMs: 60_000,
      stuckAfterMs: 500,
    },
  });
});
beforeEach(async () => {
  world = await api.world();
  ({ started: server, at: url } = await listen());
});
afterEach(() => {
  server.closeAllConnections();
  return closeServer(server);
});
afterAll(() => api.close());

async function open({
  key = world.key,
  after = '',
  query = '',
  at = url,
} = {}): Promise<OpenEventStream> {
  const headers = {
    Authorization: `Bearer ${key}`,
    ...(after !== '' && { 'Last-Event-ID': after }),
  };
  const stream = await openEventStream(`${at}/v1/events/stream${query}`, headers);
  if (stream.response.status === 200)
    expect(stream.response.headers.get('content-type')).toBe('text/event-stream');
  return stream;
}

const record = (n: number, type = 'test.n', of = world) =>
  recordEvent(api.db, of.scope, { type, payload: { n }, actor: { type: 'system' } });
const numbersOf = ({ events }: OpenEventStream): number[] =>
  events.flatMap(({ data }) => data.payload?.n ?? []);

test('events arrive once and in order over several connections, while many transactions write', async () => {
  const total = 600;
  const seen: number[] = [];
  let stream = await open();
  const writing = (async () => {
    for (let n = 0; n < total; n += 6)
      await Promise.all([0, 1, 2, 3, 4, 5].map((m) => record(n + m)));
  })();
  for (let round = 0; round < 5; round += 1) {
    const before = stream.events.length;
    await until(() => stream.events.length > before + 5 || stream.isOver, { limitMs: 1_000 }).catch(
      () => {},
    );
    stream.close();
    seen.push(...numbersOf(stream));
    const last = stream.events.at(-1)!.id!;
    stream = await open({ after: last });
  }
  await writing;
  await until(() => seen.length + numbersOf(stream).length >= total);
  seen.push(...numbersOf(stream));
  stream.close();
  expect(seen).toHaveLength(total);
  expect(new Set(seen).size).toBe(total);
});

test('a stream has the events of its filter, organization and environment', async () => {
  const [other, production] = [await api.world(), await api.sibling(world, 'production')];
  const [all, some] = [await open(), await open({ query: '?type=order.*' })];
  await record(1, 'order.paid');
  await record(2, 'test.n');
  await record(3, 'order.paid', other);
  await record(4, 'order.paid', production);
  // The last one arrives in both streams, after all that would have arrived before it.
  await record(5, 'order.paid');
  await until(() => [all, some].every((stream) => numbersOf(stream).includes(5)));
  expect([numbersOf(all), numbersOf(some)]).toEqual([
    [1, 2, 5],
    [1, 5],
  ]);
  expect(some.events.at(-1)).toMatchObject({ event: 'order.paid', data: { type: 'order.paid' } });
  all.close();
  some.close();
});

test('a payload above 128 KiB is left out of the stream, and is read with the position before it', async () => {
  const stream = await open();
  await until(() => stream.events.length, { isThere: (count) => count > 0 });
  await record(1);
  const payload = { text: 'x'.repeat(200_000) };
  await recordEvent(api.db, world.scope, {
    type: 'test.large',
    payload,
    actor: { type: 'system' },
  });
  await record(2);
  await until(() => numbersOf(stream), { isThere: (numbers) => numbers.includes(2) });
  const [before, large] = stream.events.filter(({ data }) => data.type !== undefined);
  expect(large!.data).toMatchObject({ type: 'test.large', payload: {}, isTruncated: true });
  const next = await fetch(`${url}/v1/events/next?after=${before!.id}&limit=1`, {
    headers: { Authorization: `Bearer ${world.key}` },
  });
  expect(((await next.json()) as { data: object[] }).data).toMatchObject([
    { type: 'test.large', payload },
  ]);
  stream.close();
});

test('a hundred streams of an environment are read with one statement', async () => {
  const key = await api.keyOf(world.scope, ['manage']);
  const streams = await Promise.all(
    Array.from({ length: 100 }, (_, n) => open({ key: n % 2 === 0 ? key : world.key })),
  );
  const statements = await countStatements(api.db.pool, async () => {
    await record(7);
    await until(() => streams.every((stream) => numbersOf(stream).includes(7)));
  });
  // Besides the reads of events, keys are checked at the comments.
  expect(statements).toBeLessThan(150);
  for (const stream of streams) stream.close();
});

test('a key that is revoked ends its streams, and those of another key stay open', async () => {
  const key = await api.keyOf(world.scope, ['manage']);
  const [ended, open_] = [await open({ key }), await open()];
  const { rows } = await api.db.pool.query(
    'select id from api_keys where tenant = $1 order by created_at desc limit 1',
    [world.scope.tenant],
  );
  await revokeApiKey(api.db, world.scope, rows[0].id);
  await until(() => ended.isOver);
  expect(open_.isOver).toBe(false);
  expect(open_.comments).toBeGreaterThan(0);
  open_.close();
});

test('the streams of a caller are limited, and those of another organization are not affected', async () => {
  const streams = await Promise.all(Array.from({ length: 60 }, () => open()));
  const refused = await open();
  expect(refused.response.status).toBe(429);
  expect(refused.response.headers.get('retry-after')).toMatch(/^\d+$/);
  expect(await refused.response.json()).toMatchObject({ code: 'too_many_streams' });
  const ofOther = await open({ key: (await api.world()).key });
  streams[0]!.close();
  await until(async () => {
    const again = await open();
    again.close();
    return again.response.status === 200;
  });
  for (const stream of [...streams, ofOther]) stream.close();
});

test('a position that the database does not have leads to resync and to the events from then on', async () => {
  const stream = await open({ after: '999999.1' });
  await until(() => stream.events.some(({ event }) => event === 'resync'));
  await record(9);
  await until(() => numbersOf(stream).includes(9));
  stream.close();
  const broken = await open({ after: 'x' });
  await until(() => broken.events.some(({ event }) => event === 'resync'));
  broken.close();
  expect((await open({ query: '?after=x' })).response.status).toBe(400);
});

test('comments bring the position to a stream that no event matches', async () => {
  const stream = await open({ query: '?type=order.*' });
  const first = stream.lastId;
  await record(1);
  await until(() => stream.lastId !== first);
  const after = stream.lastId;
  stream.close();
  await record(2);
  const again = await open({ after });
  await until(() => numbersOf(again).length > 0);
  expect([numbersOf(stream), numbersOf(again)]).toEqual([[], [2]]);
  again.close();
});

test('a stream that is open while the database is restored gets resync and the events from then on', async () => {
  const stream = await open();
  await record(1);
  await until(() => numbersOf(stream).length === 1);
  await api.db.pool.query(afterRestore);
  await until(() => stream.events.some(({ event }) => event === 'resync'));
  await record(2);
  await until(() => numbersOf(stream).length === 2);
  stream.close();
  expect(stream.events.filter(({ event }) => event === 'resync')).toHaveLength(1);
});

test('fifty open streams do not delay the end of the service', async () => {
  const openStreams = new OpenStreams();
  const { started, at } = await listen({ ...api.deps.streamLimits, openStreams });
  const streams = await Promise.all(Array.from({ length: 50 }, () => open({ at })));
  const began = performance.now();
  openStreams.endAll();
  await closeServer(started);
  expect(performance.now() - began).toBeLessThan(10_000);
  await until(() => streams.every(({ isOver }) => isOver));
});

test('a client that does not read keeps neither a stream that was ended, nor the process', async () => {
  const openStreams = new OpenStreams();
  const { started, at } = await listen({
    ...api.deps.streamLimits,
    openStreams,
    stuckAfterMs: 60_000,
  });
  const client = httpGet(`${at}/v1/events/stream`, {
    headers: { Authorization: `Bearer ${world.key}` },
    agent: false,
  });
  client.on('error', () => {});
  const [response] = await once(client, 'response');
  response.on('error', () => {}).pause();
  const payload = { text: 'x'.repeat(4_000_000) };
  for (let i = 0; i < 4; i++)
    await recordEvent(api.db, world.scope, { type: 'a.large', payload, actor: { type: 'system' } });
  // wall clock: nothing shows that the connection is full.
  await sleep(1_000);
  await api.db.pool.query('update api_keys set revoked_at = now() where tenant = $1', [
    world.scope.tenant,
  ]);
  await until(async () => openStreams.size, { isThere: (open) => open === 0 });
  await closeServer(started);
  client.destroy();
});

test('HEAD is answered with the headers of a stream and ends', async () => {
  const openStreams = new OpenStreams();
  const { started, at } = await listen({ ...api.deps.streamLimits, openStreams });
  const headers = { Authorization: `Bearer ${world.key}` };
  const response = await fetch(`${at}/v1/events/stream`, { method: 'HEAD', headers });
  expect([response.status, response.headers.get('content-type')]).toEqual([
    200,
    'text/event-stream',
  ]);
  expect(response.headers.get('cache-control')).toBe('no-store, no-transform');
  await until(async () => openStreams.size, { isThere: (open) => open === 0 });
  await closeServer(started);
});
