import { type Db, createDb } from '@parley/db';
import { type SeededOrganization, type TestDatabase, createTestDatabase, seedOrganization } from '@parley/testing';
import { mergeThreads } from './merge-threads';
import { findExecution, listExecutions, readTurns } from './read-executions';
import { listThreads, readThread, setPaused } from './read-threads';
import type { Turn } from './turn';
import { createTurnStore } from './turn-store';

const firstPage = { limit: 10, before: null };
const call = { id: 'call_1', name: 'order.find', args: { number: 7 } };
const usage = { inputTokens: 10, outputTokens: 2 };

let database: TestDatabase;
let db: Db;
let org: SeededOrganization;

beforeAll(async () => {
  database = await createTestDatabase();
  db = createDb({ databaseUrl: database.url });
});
afterAll(async () => {
  await db.close();
  await database.drop();
});
beforeEach(async () => {
  org = await seedOrganization(db.pool, { agents: [{ slug: 'helper' }] });
});

const storeOf = () => createTurnStore(db, 'test');

async function begin(externalThreadId: string, message = 'Hello'): Promise<Turn> {
  const entrance = {
    agent: { slug: 'helper' },
    externalThreadId,
    channel: 'api',
    message,
    params: {},
    isChecked: true,
  };
  const entered = await storeOf().enter(org.scope, entrance);
  if (!entered.ok || entered.turn === null) throw new Error(JSON.stringify(entered));
  return entered.turn;
}

/** A turn that called a tool and answered. */
async function answered(externalThreadId: string, message?: string): Promise<Turn> {
  const turn = await begin(externalThreadId, message);
  const progress = { model: 'openai/test', iterations: 1, usage, steps: [] };
  await storeOf().recordCalls(turn, { position: 1, text: '', calls: [call], progress, results: [] });
  const result = { callId: call.id, position: 2, isError: false, full: { ok: true, result: 7 }, content: '7' };
  const reply = { id: `msg_${turn.id}`, position: 3, content: 'Found it' };
  await storeOf().finish(turn, { ...progress, iterations: 2, status: 'succeeded', reply }, [result]);
  return turn;
}

test('a thread is listed, and read with its turns, their messages and tool calls', async () => {
  const first = await answered('order-7');
  const second = await begin('order-7', 'And now?');
  const other = await begin('order-8');
  const { items } = await listThreads(db, org.scope, firstPage);
  expect(items.map(({ id }) => id)).toEqual([other.threadId, first.threadId]);
  expect(items[1]).toMatchObject({ externalId: 'order-7', agentSlug: 'helper', turnCount: 2, lastInput: 'And now?' });
  expect(await readThread(db, org.scope, 'order-7')).toMatchObject({
    id: first.threadId,
    params: {},
    transferCount: 0,
  });

  const { turns, isWhole } = await readTurns(db, org.scope, { threadId: first.threadId, limit: 5, beforeId: null });
  expect(isWhole).toBe(true);
  expect(turns).toMatchObject([
    {
      id: first.id,
      status: 'succeeded',
      output: 'Found it',
      inputTokens: 10,
      messages: [{ role: 'user' }, { role: 'assistant', toolCalls: [call] }, { role: 'tool' }, { role: 'assistant' }],
      toolCalls: [{ callId: call.id, status: 'succeeded', result: { ok: true, result: 7 } }],
    },
    { id: second.id, status: 'running', output: null, messages: [{ content: 'And now?' }], toolCalls: [] },
  ]);
  expect(await findExecution(db, org.scope, first.id)).toEqual(turns[0]);
  const listed = await listExecutions(db, org.scope, { ...firstPage, status: 'running' });
  expect(listed.items.map(({ id }) => id)).toEqual([other.id, second.id]);
});

test('turns of a thread are in the order of their messages after the clock was set back', async () => {
  const first = await answered('order-7', 'one');
  const { rows } = await db.pool.query<{ id: string }>(
    'update executions set id = id + (3600000::bigint << 21) where id = $1 returning id::text',
    [first.id],
  );
  const second = await answered('order-7', 'two');
  const third = await begin('order-7', 'three');
  const fourth = await begin('order-7', 'four');
  const { turns } = await readTurns(db, org.scope, { threadId: first.threadId, limit: 5, beforeId: null });
  expect(turns.map(({ id, input, status }) => [id, input, status])).toEqual([
    [rows[0]!.id, 'one', 'succeeded'],
    [second.id, 'two', 'succeeded'],
    [third.id, 'three', 'running'],
    [fourth.id, 'four', 'queued'],
  ]);
  const other = await begin('order-8');
  expect(BigInt(other.id)).toBeLessThan(BigInt(second.id));
});

test('a thread that a person has taken over is listed as paused', async () => {
  const { threadId } = await begin('order-7');
  expect(await setPaused(db, org.scope, threadId, true)).toBe(true);
  expect(await setPaused(db, org.scope, threadId, true)).toBe(false);
  const paused = await listThreads(db, org.scope, { ...firstPage, state: 'paused' });
  expect(paused.items).toMatchObject([{ id: threadId, agentPaused: true }]);
});

test('a thread takes another external id, when no thread has it', async () => {
  const { threadId } = await begin('old');
  await mergeThreads(db, org.scope, 'old', 'new');
  expect(await readThread(db, org.scope, 'new')).toMatchObject({ id: threadId });
  expect(await readThread(db, org.scope, 'old')).toBeNull();
});
