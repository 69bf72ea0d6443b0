import { type Operation, operationsOf } from '@parley/contracts';
import { type Db, type Replica, createDb, migrate, openReplica } from '@parley/db';
import { silentLogger } from '@parley/service';
import { type PostgresPair, startPostgresPair, until } from '@parley/testing';
import pg from 'pg';
import { type Method, type TestApi, createTestApi } from './testing/create-test-api';
import { samples } from './testing/samples';

const root = `${__dirname}/../../..`;
const marked = Object.values<Operation>(operationsOf.manage).filter(({ replica }) => replica);
const answered = { replica: 0, primary: 0 };

let pair: PostgresPair;
let primary: Db;
let standby: pg.Client;
let replica: Replica;
let api: TestApi;

beforeAll(async () => {
  const prepare = async (databaseUrl: string) =>
    void (await migrate({ databaseUrl, migrationsDir: `${root}/prisma/migrations` }));
  pair = await startPostgresPair({ prepare });
  const { url } = pair.primary;
  standby = new pg.Client({ connectionString: pair.standby.url });
  await standby.connect();
  primary = createDb({ databaseUrl: url });
  replica = openReplica(
    {
      READ_DATABASE_URL: pair.standby.url,
      READ_DATABASE_POOL_SIZE: 3,
      DATABASE_TIMEOUT_MS: 15_000,
    },
    { primary, name: 'test', log: silentLogger(), onRead: (server) => (answered[server] += 1) },
  );
  api = await createTestApi({ reads: replica.reads }, { url, drop: async () => {} });
}, 60_000);

afterAll(async () => {
  await api.close();
  await replica.close();
  await primary.close();
  await standby.end();
  await pair.stop();
});

/** Waits until the standby has everything that was written. */
async function untilReplayed(): Promise<void> {
  const position = (await primary.pool.query('select pg_current_wal_flush_lsn()::text as at'))
    .rows[0].at as string;
  const isReplayed = () =>
    standby.query('select pg_last_wal_replay_lsn() >= $1::pg_lsn as it', [position]);
  await until(async () => (await isReplayed()).rows[0].it);
}

/** Repeats `call` until the replica alone has answered it. */
const fromReplica = <T>(call: () => Promise<T>): Promise<T> =>
  until(
    async () => {
      Object.assign(answered, { replica: 0, primary: 0 });
      const result = await call();
      return answered.primary === 0 && answered.replica > 0 ? { result } : null;
    },
    { limitMs: 10_000 },
  ).then((found) => found!.result);

test('only reads of lists and counts have the word replica, and no keys, rights, entities or events', () => {
  expect(marked.map(({ id }) => id).sort()).toEqual([
    'countThreads',
    'getHealthReport',
    'getStatistics',
    'listAuditLog',
    'listChannelMessages',
    'listCreditEntries',
    'listEmails',
    'listExecutions',
    'listPayments',
    'listThreads',
    'listTriggerRuns',
    'listWebhookDeliveries',
  ]);
  for (const area of Object.values(operationsOf))
    for (const operation of Object.values<Operation>(area))
      if (operation.replica)
        expect([operation.method, marked.includes(operation)]).toEqual(['get', true]);
});

test.each(marked.map(({ id }) => id))(
  '%s reads from the replica alone, and with no-cache from the primary',
  async (id) => {
    const { method, path } = marked.find((one) => one.id === id)!;
    const world = await api.world();
    const { query = {} } = await samples[id as keyof typeof samples](world);
    await untilReplayed();
    const call = async (headers = {}) =>
      (
        await world
          .call(method as Method, `${path}?${new URLSearchParams(query)}`, { headers })
          .expect(200)
      ).body;
    const { checkedAt: _at, ...recent } = await fromReplica(() => call());
    Object.assign(answered, { replica: 0, primary: 0 });
    const { checkedAt: _, ...fresh } = await call({ 'Cache-Control': 'no-cache' });
    expect([fresh, answered]).toEqual([recent, { replica: 0, primary: 0 }]);
  },
);

test('a list does not show what the replica does not have yet, with no-cache it does', async () => {
  const world = await api.world();
  const list = async (headers = {}) =>
    (await world.call('get', '/v1/audit-log', { headers }).expect(200)).body.data.length as number;
  await untilReplayed();
  await fromReplica(list);
  await standby.query('select pg_wal_replay_pause()');
  try {
    await world
      .call('post', '/v1/api-keys', { body: { name: 'till', permissions: ['data'] } })
      .expect(201);
    expect(await list({ 'Cache-Control': 'no-cache' })).toBe(1);
    // More than a second behind: the primary answers.
    await until(async () => (await list()) === 1);
  } finally {
    await standby.query('select pg_wal_replay_resume()');
  }
});
