import { type Db, createDb } from '@parley/db';
import { type ModelServer, type SeededOrganization } from '@parley/testing';
import { openTestDatabase, seedOrganization, startModelServer, until } from '@parley/testing';
import type { ToolResult, Tools } from '@parley/tools';
import { type Agents, createAgents } from '../create-agents';
import { createModels } from '../models/create-models';
import { providersOfEnvironment } from '../models/provider-keys';
import { listThreadMessages } from './list-messages';
import {
  type PersonsMessage,
  addPersonsMessage,
  changeThread,
  eraseThread,
  lastMessageId,
  lockForReply,
  lockThread,
  recordPhoneReply,
  resumeThread,
  takeThreadOver,
  visitThread,
  withdrawReply,
} from './people';
import { countThreads, listThreads, readThread } from './read-threads';

const ana = { type: 'person', id: 'user_1', name: 'Ana' } as const;
const firstPage = { limit: 10, before: null };
const log = { info: () => {}, warn: () => {}, error: () => {} };

let db: Db;
let server: ModelServer;
let org: SeededOrganization;
let agents: Agents;
let calls: string[];

beforeAll(async () => {
  db = await openTestDatabase(createDb, { poolSize: 10 });
});
afterAll(() => db.close());
beforeEach(async () => {
  server = await startModelServer();
  org = await seedOrganization(db.pool, { agents: [{ slug: 'helper', tools: ['order.cancel'] }] });
  calls = [];
  const environment = providersOfEnvironment({
    OPENAI_API_KEY: 'k',
    OPENAI_BASE_URL: server.urls.openai,
  });
  const tools: Tools = {
    offer: async (_scope, names) =>
      names.map((name) => ({
        name,
        description: name,
        parameters: { type: 'object' },
        sideEffects: true,
      })),
    describe: async () => null,
    run: async (_scope, { name }): Promise<ToolResult> => {
      calls.push(name);
      return { ok: true, result: 'done' };
    },
  };
  agents = createAgents({ db, tools, models: createModels({ environment, log }), log });
});
afterEach(async () => {
  await agents.close();
  await server.stop();
});

const chat = (message: string, externalThreadId = 'order-7') =>
  agents.chat(org.scope, { agent: { slug: 'helper' }, message, channel: 'api', externalThreadId });

/** Runs `work` with the locked thread. */
const inThread = <T>(
  work: (
    tx: Parameters<typeof lockThread>[0],
    thread: NonNullable<Awaited<ReturnType<typeof lockThread>>>,
  ) => Promise<T>,
  name = 'order-7',
) => db.transaction(async (tx) => work(tx, (await lockThread(tx, org.scope, name))!));
const takeOver = (resumesAt: Date | null = null) =>
  inThread((tx, thread) => takeThreadOver(tx, org.scope, thread, { by: ana, resumesAt }));
const resume = () => inThread((tx, thread) => resumeThread(tx, org.scope, thread));
const write = (role: PersonsMessage['role'], content: string, id?: string) =>
  inThread((tx, thread) =>
    addPersonsMessage(tx, org.scope, thread, { role, content, author: ana, ...(id && { id }) }),
  );
const sentToModel = () => server.requests.at(-1)!.messages.map(({ text }) => text);
const lastExecution = async () =>
  (
    await db.pool.query(
      'select status::text, output, input_tokens as tokens from executions order by id desc limit 1',
    )
  ).rows[0];

describe('a takeover', () => {
  it('in mid-turn drops the reply, and the caller gets the tokens that were used', async () => {
    let release = () => {};
    const asked = new Promise<void>((resolve) => {
      server.play(async () => {
        resolve();
        await new Promise<void>((go) => (release = go));
        return { text: 'too late' };
      });
    });
    const answer = chat('Hello');
    await asked;
    await takeOver();
    release();
    const result = await answer;
    expect(result).toMatchObject({ ok: true, state: 'stored', response: { message: '' } });
    if (!result.ok) throw new Error('failed');
    expect(result.response.usage.totalTokens).toBeGreaterThan(0);
    expect(result.response).not.toHaveProperty('assistantMessageId');
    expect(await lastExecution()).toEqual({
      status: 'succeeded',
      output: null,
      tokens: result.response.usage.inputTokens,
    });
    const { items } = await listThreadMessages(db, org.scope, result.response.threadId, firstPage);
    expect(items.map(({ content }) => content)).toEqual(['Hello']);
  });

  it('before a tool runs prevents it', async () => {
    let release = () => {};
    const asked = new Promise<void>((resolve) => {
      server.play(async () => {
        resolve();
        await new Promise<void>((go) => (release = go));
        return { toolCalls: [{ name: 'order_cancel', args: {} }] };
      });
    });
    const answer = chat('Cancel it');
    await asked;
    await takeOver();
    release();
    expect(await answer).toMatchObject({ ok: true, state: 'stored' });
    expect(calls).toEqual([]);
  });

  it('ends turns that wait in the queue of the thread', async () => {
    let release = () => {};
    server.play(async () => {
      await new Promise<void>((go) => (release = go));
      return { text: 'too late' };
    });
    const first = chat('one');
    await until(() => server.requests.length === 1);
    const second = chat('two');
    await until(
      async () =>
        (await db.pool.query("select from executions where status = 'queued'")).rowCount === 1,
    );
    await takeOver();
    release();
    expect(await first).toMatchObject({ ok: true, state: 'stored' });
    expect(await second).toMatchObject({
      ok: true,
      state: 'stored',
      response: { message: '', usage: { totalTokens: 0 } },
    });
    expect(server.requests).toHaveLength(1);
  });

  it('ends at its time, and its messages are in the history', async () => {
    server.play(() => ({ text: 'ok' }));
    await chat('one');
    await takeOver(new Date(Date.now() + 60_000));
    expect(await chat('two')).toMatchObject({ ok: true, state: 'stored' });
    await db.pool.query(
      "update threads set resumes_at = now() - interval '1 ms' where tenant = $1",
      [org.scope.tenant],
    );
    expect(await chat('three')).toMatchObject({ ok: true, state: 'answered' });
    expect(await readThread(db, org.scope, 'order-7')).toMatchObject({
      state: 'agent',
      resumesAt: null,
    });
    expect(sentToModel()).toEqual([
      'one',
      'ok',
      'two',
      '[No reply was sent to this message.]',
      'three',
    ]);
  });

  it('keeps back a reply that is not in the outbox yet', async () => {
    server.play(() => ({ text: 'ok' }));
    const first = await agents.chat(org.scope, {
      agent: { slug: 'helper' },
      message: 'Hi',
      channel: 'whatsapp',
      externalThreadId: 'order-7',
      requestId: 'wam_1',
    });
    if (!first.ok) throw new Error('failed');
    const { threadId } = first.response;
    const locked = () => db.transaction((tx) => lockForReply(tx, org.scope, threadId));
    expect(await locked()).toBe('agent');
    await takeOver();
    expect(await locked()).toBe('human');
    await db.transaction((tx) => withdrawReply(tx, org.scope, { threadId, requestId: 'wam_1' }));
    const { items } = await listThreadMessages(db, org.scope, threadId, firstPage);
    expect(items.map(({ content }) => content)).toEqual(['Hi']);
    expect(await lastExecution()).toMatchObject({ status: 'succeeded', output: null });
    expect(await resume()).toBe('wam_1');
  });
});

test('the model reads what people wrote as such, and no notes', async () => {
  server.play(() => ({ text: 'ok' }));
  await chat('Is it cheaper?');
  await takeOver();
  await chat('Hello?');
  await write('note', 'A difficult customer.');
  await write('assistant', 'Yes, 10% off.');
  expect(await resume()).toBeNull();
  await write('system', 'She may pay later.');
  await chat('And now?');
  expect(sentToModel()).toEqual([
    'Is it cheaper?',
    'ok',
    'Hello?',
    '[Ana, a person of the team, replied:] Yes, 10% off.\n\n[Ana, a person of the team, left this note for you:] She may pay later.',
    'And now?',
  ]);
});

test('a repeated message of a person is added once, and after the messages of a running turn', async () => {
  server.play(() => ({ text: 'ok' }));
  const { response } = (await chat('Hi')) as Extract<
    Awaited<ReturnType<typeof chat>>,
    { ok: true }
  >;
  expect(await write('assistant', 'one', 'msg_a')).toBe('msg_a');
  expect(await write('assistant', 'one', 'msg_a')).toBe('msg_a');
  await write('note', 'two', 'msg_b');
  const { items } = await listThreadMessages(db, org.scope, response.threadId, firstPage);
  expect(items.map(({ content, author }) => [content, author])).toEqual([
    ['two', ana],
    ['one', ana],
    ['ok', null],
    ['Hi', null],
  ]);
  expect(await inThread((tx, thread) => lastMessageId(tx, org.scope, thread))).toBe('msg_a');
});

test('a message of the contact opens a closed thread, and read marks belong to one visitor', async () => {
  server.play(() => ({ text: 'ok' }));
  await chat('Hi');
  await inThread((tx, thread) =>
    changeThread(tx, org.scope, thread, { status: 'closed', labels: ['vip'], assigneeId: 'u' }),
  );
  const list = async (
    filters: Parameters<typeof listThreads>[2] extends infer F ? Partial<F> : never,
  ) => (await listThreads(db, org.scope, { ...firstPage, visitorId: ana.id, ...filters })).items;
  expect(
    await list({ status: 'closed', label: 'vip', assigneeId: 'u', text: 'ER-7', channel: 'api' }),
  ).toHaveLength(1);
  expect(await list({ text: 'order%' })).toEqual([]);
  expect(await countThreads(db, org.scope, 'u')).toEqual({
    agent: 0,
    human: 0,
    waiting: 0,
    mine: 0,
  });
  const { id } = (await readThread(db, org.scope, 'order-7'))!;
  await visitThread(db, org.scope, id, {
    visitor: ana,
    isRead: true,
    openSeconds: 45,
    typingSeconds: 6,
  });
  expect(await list({ isUnread: true })).toEqual([]);
  expect(await readThread(db, org.scope, id, 'other')).toMatchObject({
    isUnread: true,
    visitors: [{ ...ana, isTyping: true }],
  });
  await db.pool.query(
    "update thread_visits set typing_until = now() - interval '1 ms' where thread_id = $1",
    [id],
  );
  expect(await readThread(db, org.scope, id)).toMatchObject({
    visitors: [{ ...ana, isTyping: false }],
  });
  await visitThread(db, org.scope, id, { visitor: ana, openSeconds: 0 });
  await chat('Again');
  expect(await list({ isUnread: true, status: 'open' })).toMatchObject([
    { id, labels: ['vip'], assigneeId: 'u' },
  ]);
  expect(await readThread(db, org.scope, id)).toMatchObject({ visitors: [] });
  await takeOver();
  expect(await countThreads(db, org.scope, 'u')).toEqual({
    agent: 0,
    human: 1,
    waiting: 0,
    mine: 1,
  });
  expect(await list({ state: 'human', since: new Date(Date.now() - 60_000) })).toMatchObject([
    { takenOverBy: ana },
  ]);
  expect(await list({ state: 'waiting' })).toEqual([]);
});

test('a message from the phone enters the thread and pauses the agent, but never shortens a takeover', async () => {
  server.play(() => ({ text: 'ok' }));
  await chat('Hi');
  const resumesAt = new Date(Date.now() + 60_000);
  const phone = (externalId = 'order-7') =>
    db.transaction((tx) =>
      recordPhoneReply(tx, org.scope, {
        externalId,
        content: 'From the shop',
        channelMessageId: 'wam_1',
        resumesAt,
      }),
    );
  await phone();
  expect(await readThread(db, org.scope, 'order-7')).toMatchObject({
    state: 'human',
    resumesAt,
    takenOverBy: { type: 'phone' },
  });
  await takeOver();
  await phone();
  expect(await readThread(db, org.scope, 'order-7')).toMatchObject({
    resumesAt: null,
    takenOverBy: ana,
  });
  await phone('order-8');
  expect(await chat('Hi', 'order-8')).toMatchObject({ ok: true, state: 'stored' });
});

test('a thread is erased with all that it has, unless the agent is answering', async () => {
  let release = () => {};
  server.play(async () => {
    await new Promise<void>((go) => (release = go));
    return { text: 'ok' };
  });
  const answer = chat('Hi');
  await until(() => server.requests.length === 1);
  expect(await inThread((tx, thread) => eraseThread(tx, org.scope, thread))).toBe(false);
  release();
  await answer;
  expect(await inThread((tx, thread) => eraseThread(tx, org.scope, thread))).toBe(true);
  for (const table of ['threads', 'executions', 'thread_messages', 'execution_prompts'])
    expect(
      (await db.pool.query(`select from ${table} where tenant = $1`, [org.scope.tenant])).rowCount,
    ).toBe(0);
});
