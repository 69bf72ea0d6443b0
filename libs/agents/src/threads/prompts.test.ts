import { randomUUID } from 'node:crypto';
import { type Db, createDb, statement } from '@parley/db';
import { type SeededOrganization, openTestDatabase, seedOrganization } from '@parley/testing';
import { readPrompt, withPromptsErased } from './prompts';
import { readExecution } from './read-executions';
import { maxStoredPromptBytes, sentPrompt } from './sent-prompt';
import type { Turn } from './turn';
import { createTurnStore } from './turn-store';

const offers = [{ name: 'order.find', description: '', parameters: {}, sideEffects: false }];
const progress = { iterations: 1, usage: { inputTokens: 1, outputTokens: 1 }, steps: [] };

let db: Db;
let org: SeededOrganization;

beforeAll(async () => {
  db = await openTestDatabase(createDb, { poolSize: 10 });
});
afterAll(() => db.close());
beforeEach(async () => {
  org = await seedOrganization(db.pool, { agents: [{ slug: 'helper' }] });
});

/** Each store is that of another process. */
const processOf = () => createTurnStore(db, randomUUID());

async function begin(store = processOf()): Promise<Turn> {
  const message = {
    agent: { slug: 'helper' },
    channel: 'api',
    message: 'Hi',
    params: {},
    isChecked: true,
  };
  const begun = await store.begin(org.scope, message);
  if (!begun.ok || begun.turn === null) throw new Error(JSON.stringify(begun));
  return begun.turn;
}

async function answer(text: string, store = processOf(), tools = offers): Promise<Turn> {
  const turn = await begin(store);
  const reply = { id: randomUUID(), position: 1, content: 'Hello' };
  expect(
    await store.finish(
      turn,
      { ...progress, status: 'succeeded', reply, finishReason: 'stop' },
      [],
      sentPrompt(text, tools),
    ),
  ).toBe(true);
  return turn;
}

async function promptOf({ id }: Turn) {
  const execution = await readExecution(db, org.scope, id);
  if (execution?.promptHash == null) return null;
  return readPrompt(db, org.scope, execution.promptHash);
}

const stored = async () =>
  (
    await db.pool.query('select text from execution_prompts where tenant = $1 order by text', [
      org.scope.tenant,
    ])
  ).rows;

test('the prompt and the tools of a turn are stored once for all turns that send them', async () => {
  const store = processOf();
  const turns = [
    await answer('You sell.', store),
    await answer('You sell.', store),
    await answer('You sell.'),
  ];
  for (const turn of turns)
    expect(await promptOf(turn)).toEqual({ text: 'You sell.', bytes: 9, tools: ['order.find'] });
  expect(await stored()).toHaveLength(1);
  await answer('You sell.', store, []);
  expect(await stored()).toHaveLength(2);
  expect(await readExecution(db, org.scope, turns[0]!.id)).toMatchObject({ agentRevision: 1 });
});

test('processes that send a new prompt at the same time store it once', async () => {
  const turns = await Promise.all(Array.from({ length: 20 }, () => answer('Together')));
  for (const turn of turns) expect(await promptOf(turn)).toMatchObject({ text: 'Together' });
  expect(await stored()).toHaveLength(1);
});

test('the prompt of a turn whose process is killed after a tool call is stored, before it there is none', async () => {
  const store = processOf();
  const [called, begun] = [await begin(store), await begin(store)];
  const prompt = sentPrompt('Before the crash', offers);
  await store.recordCalls(called, {
    position: 1,
    text: '',
    calls: [],
    progress,
    results: [],
    prompt,
  });
  expect(await promptOf(called)).toMatchObject({ text: 'Before the crash' });
  expect(await promptOf(begun)).toBeNull();
});

test('a turn that another process has ended stores no prompt', async () => {
  const turn = await begin();
  const outcome = { ...progress, status: 'failed', reply: null, finishReason: null } as const;
  expect(await processOf().finish(turn, outcome, [], sentPrompt('Lost', offers))).toBe(false);
  expect(await stored()).toEqual([]);
});

test('a prompt is erased with the last execution that sent it, and stored again when it is sent again', async () => {
  const store = processOf();
  const [first, second] = [await answer('Shared', store), await answer('Shared', store)];
  const erase = ({ threadId }: Turn) =>
    db.transaction((tx) =>
      withPromptsErased(tx, org.scope, threadId, () =>
        tx.query(
          org.scope,
          statement('x', 'delete from threads where tenant = $tenant and id = $threadId'),
          { threadId },
        ),
      ),
    );
  await erase(first);
  expect(await promptOf(second)).toMatchObject({ text: 'Shared' });
  await erase(second);
  expect(await stored()).toEqual([]);
  expect(await promptOf(await answer('Shared', store))).toMatchObject({ text: 'Shared' });
});

test('another organization with the same prompt has its own row', async () => {
  await answer('Common');
  const before = org;
  org = await seedOrganization(db.pool, { agents: [{ slug: 'helper' }] });
  expect(await stored()).toEqual([]);
  expect(await promptOf(await answer('Common'))).toMatchObject({ text: 'Common' });
  org = before;
  expect(await stored()).toHaveLength(1);
});

test('a long prompt is cut at a character, and text that PostgreSQL cannot store is left out', async () => {
  const long = 'ñ'.repeat(maxStoredPromptBytes / 2 - 1) + '€€€';
  const cut = await promptOf(await answer(long));
  expect(cut).toMatchObject({ bytes: maxStoredPromptBytes - 2 + 9, text: long.slice(0, -3) });
  expect(await promptOf(await answer('a\u0000b\ud800c'))).toMatchObject({ text: 'ab\ufffdc' });
});
