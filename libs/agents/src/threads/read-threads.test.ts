import type { Scope } from '@parley/contracts';
import { type Db, createDb } from '@parley/db';
import { type SeededOrganization, openTestDatabase, seedOrganization } from '@parley/testing';
import { mergeThreads } from './merge-threads';
import { readSteps } from './execution-steps';
import { lockThread, takeThreadOver } from './people';
import { listExecutions, readExecution, readMessages } from './read-executions';
import { listThreads, readThread } from './read-threads';
import type { Turn } from './turn';
import { claim } from './turn-sql';
import { createTurnStore } from './turn-store';

const firstPage = { limit: 10, before: null };
const call = { id: 'call_1', name: 'order.find', args: { number: 7 } };
const usage = { inputTokens: 10, outputTokens: 2 };

let db: Db;
let org: SeededOrganization;

beforeAll(async () => {
  db = await openTestDatabase(createDb);
});
afterAll(() => db.close());
beforeEach(async () => {
  org = await seedOrganization(db.pool, { agents: [{ slug: 'helper' }] });
});

const storeOf = () => createTurnStore(db, 'test');

async function begin(
  externalThreadId: string,
  message = 'Hello',
  scope = org.scope,
): Promise<Turn> {
  const entrance = {
    agent: { slug: 'helper' },
    externalThreadId,
    channel: 'api',
    message,
    params: {},
    isChecked: true,
  };
  const entered = await storeOf().begin(scope, entrance);
  if (!entered.ok || entered.turn === null) throw new Error(JSON.stringify(entered));
  return entered.turn;
}

/** Creates a turn that has called a tool and answered. */
async function answered(externalThreadId: string, message?: string, scope?: Scope): Promise<Turn> {
  const turn = await begin(externalThreadId, message, scope);
  await answer(turn);
  return turn;
}

async function answer(turn: Turn): Promise<void> {
  const progress = { model: 'openai/test', iterations: 1, usage, steps: [] };
  await storeOf().recordCalls(turn, {
    position: 1,
    text: '',
    calls: [call],
    progress,
    results: [],
  });
  const result = {
    callId: call.id,
    position: 2,
    isError: false,
    full: { ok: true, result: 7 },
    content: '7',
  };
  const reply = { id: `msg_${turn.id}`, position: 3, content: 'Found it' };
  await storeOf().finish(
    turn,
    { ...progress, iterations: 2, status: 'succeeded', reply, finishReason: 'stop' },
    [result],
  );
}

async function details(scope: Scope, id: string) {
  const execution = (await readExecution(db, scope, id))!;
  return {
    ...execution,
    messages: await readMessages(db, scope, id),
    steps: await readSteps(db, scope, execution),
  };
}

/** The turns of a thread, the first one first. */
async function turnsOf(threadId: string) {
  const { items } = await listExecutions(db, org.scope, { ...firstPage, threadId });
  return Promise.all(items.reverse().map(({ id }) => details(org.scope, id)));
}

test('a thread is listed, and read with its turns, their messages and tool calls', async () => {
  const first = await answered('order-7');
  const second = await begin('order-7', 'And now?');
  const other = await begin('order-8');
  const { items } = await listThreads(db, org.scope, firstPage);
  expect(items.map(({ id }) => id)).toEqual([other.threadId, first.threadId]);
  expect(items[1]).toMatchObject({
    externalId: 'order-7',
    agentSlug: 'helper',
    turnCount: 2,
    lastInput: 'And now?',
  });
  expect(await readThread(db, org.scope, 'order-7')).toMatchObject({
    id: first.threadId,
    params: {},
    transferCount: 0,
  });

  expect(await turnsOf(first.threadId)).toMatchObject([
    {
      id: first.id,
      status: 'succeeded',
      output: 'Found it',
      inputTokens: 10,
      messages: [
        { role: 'user' },
        { role: 'assistant', toolCallIds: [call.id] },
        { role: 'assistant' },
      ],
      steps: [{ callId: call.id, status: 'success', result: 7 }],
    },
    {
      id: second.id,
      status: 'running',
      output: null,
      messages: [{ content: 'And now?' }],
      steps: [],
    },
  ]);
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
  const turns = await turnsOf(first.threadId);
  expect(turns.map(({ id, input, status }) => [id, input, status])).toEqual([
    [rows[0]!.id, 'one', 'succeeded'],
    [second.id, 'two', 'succeeded'],
    [third.id, 'three', 'running'],
    [fourth.id, 'four', 'queued'],
  ]);
  const other = await begin('order-8');
  expect(BigInt(other.id)).toBeLessThan(BigInt(second.id));
});

const ana = { type: 'person', id: 'user_1', name: 'Ana' } as const;
const takeOver = (name: string) =>
  db.transaction(async (tx) =>
    takeThreadOver(tx, org.scope, (await lockThread(tx, org.scope, name))!, {
      by: ana,
      resumesAt: null,
    }),
  );

test('a takeover continues in the thread into which another is merged', async () => {
  await answered('old');
  await answered('new');
  await takeOver('old');
  await mergeThreads(db, org.scope, 'old', 'new');
  expect(await readThread(db, org.scope, 'new')).toMatchObject({
    state: 'human',
    takenOverBy: ana,
    turnCount: 2,
  });
});

test('a thread gets another external id when no thread has it', async () => {
  const { threadId } = await begin('old');
  await mergeThreads(db, org.scope, 'old', 'new');
  expect(await readThread(db, org.scope, 'new')).toMatchObject({ id: threadId });
  expect(await readThread(db, org.scope, 'old')).toBeNull();
});

test('the turns of a thread are moved into the thread with the external id', async () => {
  const first = await answered('old', 'one');
  const second = await answered('new', 'two');
  await mergeThreads(db, org.scope, 'old', 'new');
  expect(await readThread(db, org.scope, first.threadId)).toBeNull();
  const turns = await turnsOf(second.threadId);
  expect(turns.map(({ id, messages, steps }) => [id, messages.length, steps.length])).toEqual([
    [first.id, 3, 1],
    [second.id, 3, 1],
  ]);
});

describe('with a second organization', () => {
  let other: SeededOrganization;
  beforeEach(async () => {
    other = org;
    org = await seedOrganization(db.pool, { agents: [{ slug: 'helper' }] });
  });

  test('a turn is read from its own organization when both have a turn with the same id', async () => {
    const theirs = await answered('order-7', 'Hello', other.scope);
    const begun = await begin('order-7', 'Mine');
    await db.pool.query('update executions set id = $2 where tenant = $1', [
      org.scope.tenant,
      theirs.id,
    ]);
    const mine = { ...begun, id: theirs.id };
    const before = await details(other.scope, theirs.id);
    expect(before).toMatchObject({ input: 'Hello', steps: [{ callId: call.id }] });
    expect(await details(org.scope, mine.id)).toMatchObject({
      input: 'Mine',
      messages: [{ content: 'Mine' }],
      steps: [],
    });
    await answer(mine);
    expect(await details(org.scope, mine.id)).toMatchObject({
      status: 'succeeded',
      threadId: mine.threadId,
    });
    expect(await details(other.scope, theirs.id)).toEqual(before);
    expect(await readThread(db, org.scope, theirs.threadId)).toBeNull();
    expect(await db.transaction((tx) => lockThread(tx, org.scope, theirs.threadId))).toBeNull();
  });

  test('a process renews the leases of its turns in both', async () => {
    const turns = [await begin('order-7', 'Mine'), await begin('order-7', 'Theirs', other.scope)];
    const leases = (text: string) =>
      db.pool.query(`${text} where tenant = any($1)`, [turns.map((turn) => turn.tenant)]);
    await leases("update executions set lease_until = now() - interval '1 s'");
    await storeOf().renew(turns);
    const { rows } = await leases('select lease_until > now() as lives from executions');
    expect(rows).toEqual([{ lives: true }, { lives: true }]);
  });
});

test('the last messages of a thread are read from an index, regardless of the number of tenants', async () => {
  await db.pool.query(`
    insert into threads (id, tenant, environment, updated_at)
    select 't' || n, 1000 + n % 50, 'production', now() from generate_series(1, 500) n`);
  await db.pool.query(`
    insert into executions (id, tenant, environment, thread_id, input)
    select n, 1000 + n % 50, 'production', 't' || n, '' from generate_series(1, 500) n`);
  await db.pool.query(`
    insert into thread_messages (id, tenant, thread_id, execution_id, position, role, content)
    select n || '-' || p, 1000 + n % 50, 't' || n, n, p, 'user', repeat('x', 100)
    from generate_series(1, 500) n, generate_series(0, 19) p`);
  await db.pool.query('analyze threads, executions, thread_messages');
  const { rows } = await db.pool.query<{ 'QUERY PLAN': string }>(
    `explain (generic_plan, costs off) ${claim.text}`,
  );
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
  expect(plan).toMatch(/Index Scan Backward using \S+ on thread_messages/);
});
