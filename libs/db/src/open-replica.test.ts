import {
  type PostgresPair,
  type TcpProxy,
  startPostgresPair,
  startTcpProxy,
  until,
} from '@parley/testing';
import pg from 'pg';
import { type Db, createDb } from './client';
import { type Replica, openReplica } from './open-replica';
import { createReplicaLag } from './replica-lag';
import { column, statement } from './statement';

const tenant = { tenant: 1 };
const lines: string[] = [];
const log = { warn: (_: object, text: string) => void lines.push(text), info: () => {} };
const answered = { replica: 0, primary: 0 };

let pair: PostgresPair;
let primary: Db;
/** Between this process and the standby. */
let proxy: TcpProxy;
let replica: Replica;

beforeAll(async () => {
  // The tables of these servers are not partitioned.
  delete process.env.PARLEY_TEST_PARTITIONS;
  pair = await startPostgresPair();
  primary = createDb({ databaseUrl: pair.primary.url });
  await primary.pool.query('create table notes (n int)');
  proxy = await startTcpProxy(pair.standby.url);
  replica = openReplica(
    // Statements have a long limit, so that only a failed measurement ends those that hang.
    { READ_DATABASE_URL: proxy.url, READ_DATABASE_POOL_SIZE: 3, DATABASE_TIMEOUT_MS: 300_000 },
    { primary, name: 'test', log, onRead: (server) => (answered[server] += 1) },
  );
}, 60_000);

afterAll(async () => {
  await replica.close();
  await primary.close();
  await proxy.cut();
  await pair.stop();
});

const isStandby = statement(
  'is-standby',
  'select pg_is_in_recovery() as it, count(*)::int as notes from notes',
  {
    it: column.bool,
    notes: column.int4,
  },
);
/** Reads through the replica. */
const read = async () => (await replica.reads.query(tenant, isStandby)).rows[0]!;
const untilUsed = (isThere = true) => until(async () => (await read()).it === isThere);
const note = () => primary.pool.query('insert into notes values (1)');
/** Runs a statement on the standby itself. */
const onStandby = async (text: string) => {
  const client = new pg.Client({ connectionString: pair.standby.url });
  await client.connect();
  await client.query(text).finally(() => client.end());
};

test('without a replica the primary is read', () => {
  const settings = { READ_DATABASE_POOL_SIZE: 3, DATABASE_TIMEOUT_MS: 30_000 };
  const { reads, lagSeconds } = openReplica(settings, { primary, name: 'test', log });
  expect([reads, lagSeconds()]).toEqual([primary, null]);
});

test('the replica answers for a tenant and across tenants, and refuses to write', async () => {
  await untilUsed();
  expect((await replica.reads.acrossTenants('metrics', isStandby)).rows[0]!.it).toBe(true);
  expect(replica.lagSeconds()).toBeLessThan(1);
  const before = { ...answered };
  const write = statement('write-note', 'insert into notes values (2)');
  await expect(replica.reads.query(tenant, write)).rejects.toMatchObject({ code: '25006' });
  await expect(replica.reads.transaction(async () => {})).rejects.toThrow('primary');
  expect([answered, (await primary.pool.query('select from notes where n = 2')).rowCount]).toEqual([
    before,
    0,
  ]);
});

test('the address of a server that is not a standby is never used, and refuses to write', async () => {
  const db = createDb({ databaseUrl: pair.primary.url, isReadOnly: true, poolSize: 1 });
  await expect(
    db.query(tenant, statement('write', 'insert into notes values (2)')),
  ).rejects.toMatchObject({
    code: '25006',
  });
  await db.close();
  const settings = {
    READ_DATABASE_URL: pair.primary.url,
    READ_DATABASE_POOL_SIZE: 1,
    DATABASE_TIMEOUT_MS: 30_000,
  };
  const servers: string[] = [];
  const other = openReplica(settings, {
    primary,
    name: 'test',
    log,
    onRead: (server) => servers.push(server),
  });
  await until(() => other.lagSeconds() !== null);
  await other.reads.query(tenant, isStandby);
  await other.close();
  expect(servers).toEqual(['primary']);
});

test('while the replica is more than a second behind the primary answers, also when the replica has lost its connection', async () => {
  await untilUsed();
  for (const [stop, start] of [
    ['select pg_wal_replay_pause()', 'select pg_wal_replay_resume()'],
    // It has replayed everything that it received, and says that it is not behind.
    ["alter system set primary_conninfo = ''", 'alter system reset primary_conninfo'],
  ]) {
    await onStandby(stop!);
    await onStandby('select pg_reload_conf()');
    await note();
    const { notes } = (await primary.query(tenant, isStandby)).rows[0]!;
    await untilUsed(false);
    expect(replica.lagSeconds()).toBeGreaterThan(0);
    expect((await read()).notes).toBe(notes);
    await onStandby(start!);
    await onStandby('select pg_reload_conf()');
    await untilUsed();
    expect((await read()).notes).toBe(notes);
  }
});

test('a replica that ends fails no statement, and is used again after its return', async () => {
  await untilUsed();
  let isDone = false;
  const reading = (async () => {
    let count = 0;
    for (; !isDone; count += 1) await read();
    return count;
  })();
  process.kill(pair.standby.pid, 'SIGKILL');
  await until(async () => !(await read()).it);
  isDone = true;
  expect(await reading).toBeGreaterThan(0);
  await pair.restartStandby();
  await untilUsed();
});

test('statements that hang on the replica are repeated on the primary', async () => {
  await untilUsed();
  proxy.freeze();
  const answers = await Promise.all([read(), read(), read(), read()]);
  expect(answers.map(({ it }) => it)).toEqual([false, false, false, false]);
  proxy.thaw();
  await untilUsed();
});

test('a position that is not replayed has an age, until it is replayed or the primary is another server', () => {
  let nowMs = 0;
  const lag = createReplicaLag(() => nowMs);
  lag.written(10n);
  lag.replayed(10n);
  nowMs = 5_000;
  expect(lag.ms()).toBe(0);
  lag.written(20n);
  nowMs = 6_000;
  lag.written(30n);
  lag.replayed(19n);
  expect(lag.ms()).toBe(1_000);
  lag.replayed(20n);
  expect(lag.ms()).toBe(0);
  nowMs = 8_000;
  expect(lag.ms()).toBe(2_000);
  lag.written(5n);
  lag.replayed(5n);
  expect(lag.ms()).toBe(0);
});
