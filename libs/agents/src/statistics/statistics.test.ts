import type { Scope } from '@parley/contracts';
import { type Db, createDb } from '@parley/db';
import { openTestDatabase, seedOrganization } from '@parley/testing';
import { percentile, readStatistics } from './read-statistics';
import { rollUpExecutions } from './roll-up-executions';

const hourMs = 3_600_000;
const signal = new AbortController().signal;
/** A past day in which nothing else happened. */
const day = Date.UTC(2026, 2, 3);
const nextDay = day + 24 * hourMs;

let db: Db;
let scope: Scope;
beforeAll(async () => {
  db = await openTestDatabase(createDb, { poolSize: 6 });
});
afterAll(() => db.close());
beforeEach(async () => {
  ({ scope } = await seedOrganization(db.pool, {}));
  await db.pool.query(
    `insert into threads (id, tenant, environment, channel, updated_at)
     select c || $1::int, $1::int, 'development', c, now() from unnest('{api,whatsapp}'::text[]) c`,
    [scope.tenant],
  );
});

interface Turn {
  atMs: number;
  agent?: string;
  channel?: string;
  durationMs?: number;
  status?: 'succeeded' | 'failed';
  output?: string | null;
  error?: string;
}

const add = ({
  atMs,
  agent = 'a',
  channel = 'api',
  durationMs = 100,
  status = 'succeeded',
  output = 'x',
  error,
}: Turn) =>
  db.pool.query(
    `insert into executions (id, tenant, environment, thread_id, agent_slug, status, input, output, input_tokens, output_tokens,
       tool_call_count, tool_error_count, created_at, finished_at, error)
     values (time_id($2::bigint), $1::int, 'development', $3::text || $1::int, $4, $5, 'Hi', $6, 10, 2, 3, 1, to_timestamp($2::bigint / 1000.0),
       to_timestamp(($2::bigint + $7::int) / 1000.0), $8)`,
    [scope.tenant, atMs, channel, agent, status, output, durationMs, error],
  );

const readDay = async (more: object = {}) => {
  const range = {
    from: new Date(day),
    to: new Date(nextDay),
    interval: 'hour' as const,
    timezone: 'UTC',
  };
  const { buckets } = await readStatistics(db, scope, { ...range, ...more });
  return buckets;
};
const stored = async () =>
  (
    await db.pool.query<object>(
      'select * from execution_statistics where tenant = $1 order by agent_slug, channel, hour',
      [scope.tenant],
    )
  ).rows;

test('hours have the figures of their executions, by agent and channel', async () => {
  await add({ atMs: day + 1, durationMs: 100 });
  await add({ atMs: day + 2, agent: 'b', channel: 'whatsapp', durationMs: 4_000 });
  await add({ atMs: day + 3, agent: 'b', status: 'failed', output: null });
  await add({ atMs: day + 4, output: null });
  await add({ atMs: day + 5 * hourMs, status: 'failed', output: null, error: 'cancelled' });
  await rollUpExecutions(db, signal);
  const buckets = await readDay();
  expect(buckets).toHaveLength(24);
  expect(buckets[0]).toMatchObject({
    start: new Date(day),
    messages: 4,
    executions: 3,
    failures: 1,
  });
  expect(buckets[0]).toMatchObject({
    inputTokens: 40,
    outputTokens: 8,
    toolCalls: 12,
    toolErrors: 4,
  });
  expect(Math.abs(buckets[0]!.p50Ms! / 100 - 1)).toBeLessThan(0.1);
  expect(Math.abs(buckets[0]!.p95Ms! / 4_000 - 1)).toBeLessThan(0.1);
  expect(buckets[1]).toMatchObject({ messages: 0, executions: 0, p50Ms: null });
  expect(buckets[5]).toMatchObject({ messages: 1, executions: 1, failures: 0 });
  expect((await readDay({ agentSlug: 'b' }))[0]).toMatchObject({ messages: 2, failures: 1 });
  expect((await readDay({ channel: 'whatsapp' }))[0]).toMatchObject({ messages: 1, failures: 0 });
  expect((await readDay({ agentSlug: 'b', channel: 'api' }))[0]).toMatchObject({
    messages: 1,
    failures: 1,
  });
  expect((await readDay({ agentSlug: 'c' }))[0]).toMatchObject({ messages: 0 });
});

test('days begin in the requested time zone', async () => {
  await add({ atMs: day + 2 * hourMs });
  await add({ atMs: day + 5 * hourMs });
  await rollUpExecutions(db, signal);
  const buckets = await readDay({ interval: 'day', timezone: 'America/Santiago' });
  expect(buckets.map(({ start, messages }) => [start.toISOString(), messages])).toEqual([
    ['2026-03-02T03:00:00.000Z', 1],
    ['2026-03-03T03:00:00.000Z', 1],
  ]);
});

test('rolling up again, at the same time or after a crash, changes nothing', async () => {
  for (const hour of [0, 1, 7]) await add({ atMs: day + hour * hourMs });
  await Promise.all([rollUpExecutions(db, signal), rollUpExecutions(db, signal)]);
  const before = await stored();
  expect(before).toHaveLength(3 * 4);
  await db.pool.query('update execution_rollups set until = $2 where tenant = $1', [
    scope.tenant,
    new Date(day),
  ]);
  await rollUpExecutions(db, signal);
  expect(await stored()).toEqual(before);
  expect((await readDay()).reduce((sum, { messages }) => sum + messages, 0)).toBe(3);
});

test('an aborted run continues where it stopped', async () => {
  for (const hour of [0, 1, 2]) await add({ atMs: day + hour * hourMs });
  await expect(rollUpExecutions(db, AbortSignal.abort())).rejects.toThrow();
  await rollUpExecutions(db, signal);
  expect((await readDay()).slice(0, 3)).toMatchObject([
    { messages: 1 },
    { messages: 1 },
    { messages: 1 },
  ]);
});

test('executions of the last hour are counted when they are read, once', async () => {
  const now = Date.now();
  await add({ atMs: now - 1_000 });
  const recent = { from: new Date(now - 3 * hourMs), to: new Date(now + hourMs) };
  const total = async () =>
    (await readDay(recent)).reduce((sum, { messages }) => sum + messages, 0);
  expect(await total()).toBe(1);
  await rollUpExecutions(db, signal);
  expect(await total()).toBe(1);
  await rollUpExecutions(db, signal, now + 3 * hourMs);
  expect(await total()).toBe(1);
});

test('percentiles', () => {
  expect(percentile({}, 0.5)).toBeNull();
  expect(percentile({ 11: 1 }, 0.5)).toBe(Math.round(1.2 ** 9.5));
  expect(percentile({ 2: 94, 11: 1, 20: 5 }, 0.95)).toBe(Math.round(1.2 ** 9.5));
});
