import { setTimeout as sleep } from 'node:timers/promises';
import type { Json, JsonObject, Scope } from '@parley/contracts';
import { type Db, createDb } from '@parley/db';
import { createEntities } from '@parley/entities';
import {
  type ModelServer,
  type SeededOrganization,
  openTestDatabase,
  seedOrganization,
  startModelServer,
  until,
} from '@parley/testing';
import type { ToolOffer, ToolResult, Tools } from '@parley/tools';
import { type Agents, createAgents } from './create-agents';
import { createModels } from './models/create-models';
import type { ChatRequest } from './chat-result';
import { providersOfEnvironment } from './models/provider-keys';
import { createTransfer } from './routers/transfer';
import { readSteps } from './threads/execution-steps';
import { readPrompt } from './threads/prompts';
import { readExecution } from './threads/read-executions';

const log = { info: () => {}, warn: () => {}, error: () => {} };

/** Tools whose timing and result a test sets. The real tools are tested with apps/chat. */
function probeTools(db: () => Db) {
  type ToolCall = Parameters<Tools['run']>[1];
  const calls: ToolCall[] = [];
  let behave: (call: ToolCall) => Promise<ToolResult> | ToolResult = () => ({
    ok: true,
    result: 'done',
  });
  const tools: Tools = {
    offer: async (_scope, names) => names.map(offerOf),
    describe: async () => null,
    run: async (scope, call) => {
      calls.push(call);
      if (!call.allowed?.includes(call.name)) {
        return {
          ok: false,
          errorType: 'permission_denied',
          message: `Tool not available: ${call.name}`,
        };
      }
      if (call.name === 'router.transfer') {
        const { agentSlug } = call.args as { agentSlug: string };
        const { threadId, executionId, agentSlug: from } = call.context;
        return createTransfer(db())(scope, {
          threadId: threadId!,
          executionId,
          fromAgentSlug: from!,
          toAgentSlug: agentSlug,
        });
      }
      return behave(call);
    },
  };
  return { tools, calls, play: (next: typeof behave) => (behave = next) };
}

const offerOf = (name: string): ToolOffer => ({
  name,
  description: name,
  parameters: { type: 'object', properties: {} },
  sideEffects: true,
});

let db: Db;
let server: ModelServer;
let org: SeededOrganization;
let probe: ReturnType<typeof probeTools>;
let agents: Agents;

const agentsOver = (
  options: { timeoutMs?: number; turnTimeoutMs?: number; historyTokens?: number } = {},
) => {
  const environment = providersOfEnvironment({
    OPENAI_API_KEY: 'k',
    OPENAI_BASE_URL: server.urls.openai,
    ANTHROPIC_API_KEY: 'k',
    ANTHROPIC_BASE_URL: server.urls.anthropic,
  });
  const models = createModels({
    environment,
    log,
    backoffMs: 5,
    timeoutMs: options.timeoutMs ?? 9_000,
  });
  return createAgents({ db, tools: probe.tools, models, log, ...options });
};
const chat = (request: Partial<ChatRequest>, over: Agents = agents, scope: Scope = org.scope) =>
  over.chat(scope, { agent: { slug: 'helper' }, message: 'Hello', channel: 'api', ...request });
async function ask(request: Partial<ChatRequest>, over: Agents = agents) {
  const result = await chat(request, over);
  if (!result.ok) throw new Error(`failed: ${JSON.stringify(result)}`);
  return result.response;
}
const rows = async <T extends object>(text: string, values: unknown[] = []) =>
  (await db.pool.query<T>(text, values)).rows;

beforeAll(async () => {
  db = await openTestDatabase(createDb, { poolSize: 10 });
});
afterAll(() => db.close());
beforeEach(async () => {
  server = await startModelServer();
  org = await seedOrganization(db.pool, {
    agents: [
      { slug: 'helper', tools: ['order.find', 'order.create', 'router.transfer'] },
      { slug: 'claude', tools: ['order.find'], model: 'anthropic/claude-sonnet-4-5' },
      { slug: 'billing', description: 'Invoices and payments' },
      {
        slug: 'strict',
        threadContextParams: [
          { name: 'customer', type: 'string', required: true },
          { name: 'age', type: 'number' },
        ],
      },
      {
        slug: 'typed',
        systemPrompt:
          '{{threadContext.params.customer}} {{threadContext.params.age}} {{threadContext.params.note}}',
        threadContextParams: [
          { name: 'customer', type: 'string' },
          { name: 'age', type: 'number' },
        ],
      },
      { slug: 'spare', model: { model: 'openai/dead', fallbacks: ['openai/alive'] } },
    ],
    routers: [
      {
        slug: 'front',
        name: 'Front',
        mode: 'rules',
        agents: ['helper', 'billing'],
        fallback: 'helper',
        rules: [
          {
            conditions: [{ field: 'customer.debt', operator: 'gt', value: 100 }],
            route: 'billing',
          },
        ],
      },
      {
        slug: 'smart',
        name: 'Smart',
        mode: 'classify',
        agents: ['helper', 'billing'],
        fallback: 'helper',
        classifyModel: 'openai/classifier',
      },
    ],
    entityTypes: [
      { slug: 'customer', name: 'Customer', schema: { phone: 'string', debt: 'number' } },
    ],
  });
  probe = probeTools(() => db);
  agents = agentsOver();
});
afterEach(async () => {
  await agents.close();
  const { problems, unknownRequests } = server;
  await server.stop();
  expect({ problems, unknownRequests }).toEqual({ problems: [], unknownRequests: [] });
});

const callsTool = (name = 'order_find', args: object = { id: 'a' }) => ({
  toolCalls: [{ name, args }],
});
const hasResult = (messages: { role: string }[]) => messages.at(-1)?.role === 'tool';

test('an execution shows the prompt as sent, the offered tools and who allowed each call', async () => {
  probe.play(({ onDecision }) => {
    onDecision?.({
      allowed: true,
      reason: 'policies.0 of the role "sales" allows it',
      policies: [],
    });
    return { ok: true, result: { n: 1 }, logs: [{ level: 'log', message: 'found' }] };
  });
  server.play((request) =>
    hasResult(request.messages) ? { text: 'Here' } : callsTool('order_find', { n: 1 }),
  );
  const { threadId } = await ask({});
  const [{ id }] = (await rows<{ id: string }>(
    'select id::text from executions where thread_id = $1',
    [threadId],
  )) as [{ id: string }];
  const execution = (await readExecution(db, org.scope, id))!;
  expect(execution).toMatchObject({ agentRevision: 1, toolCallCount: 1, toolErrorCount: 0 });
  expect(await readPrompt(db, org.scope, execution.promptHash!)).toMatchObject({
    tools: ['order.find', 'order.create', 'router.transfer'],
  });
  expect(await readSteps(db, org.scope, execution)).toMatchObject([
    { type: 'model' },
    {
      type: 'tool',
      name: 'order.find',
      arguments: { n: 1 },
      result: { n: 1 },
      permission: { allowed: true, reason: 'policies.0 of the role "sales" allows it' },
      logs: [{ message: 'found' }],
    },
    { type: 'model' },
  ]);
});

describe('one turn', () => {
  it('answers and stores the messages', async () => {
    server.play(() => ({ text: 'Hi there', usage: { input: 11, output: 3, reasoning: 1 } }));
    const response = await ask({});
    expect(response).toEqual({
      threadId: expect.stringMatching(/^thread_/),
      message: 'Hi there',
      usage: { inputTokens: 11, outputTokens: 3, totalTokens: 14, reasoningTokens: 1 },
      assistantMessageId: expect.stringMatching(/^msg_/),
      _executionMeta: {
        iterationCount: 1,
        model: 'openai/gpt-5-mini',
        durationMs: expect.any(Number),
        toolCallSummary: [],
        errorCount: 0,
        permissionDenialCount: 0,
        finishReason: 'stop',
      },
    });
    expect(server.requests[0]).toMatchObject({
      system: 'You are helper.',
      tools: ['order_find', 'order_create', 'router_transfer'],
    });
    const stored = await rows(
      'select role::text, content from thread_messages where thread_id = $1 order by position',
      [response.threadId],
    );
    expect(stored).toEqual([
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: 'Hi there' },
    ]);
    const [execution] = await rows('select * from executions where thread_id = $1', [
      response.threadId,
    ]);
    expect(execution).toMatchObject({
      status: 'succeeded',
      input: 'Hello',
      output: 'Hi there',
      iterations: 1,
      input_tokens: 11,
      reasoning_tokens: 1,
      agent_slug: 'helper',
      lease_until: null,
    });
  });

  it('sends the earlier messages of the thread, found by threadId or externalThreadId', async () => {
    server.play((request) => ({ text: `reply ${request.messages.length}` }));
    const first = await ask({ externalThreadId: 'web:1' });
    const second = await ask({ externalThreadId: 'web:1', message: 'Again' });
    const third = await ask({ threadId: first.threadId, message: 'Still' });
    expect(new Set([first.threadId, second.threadId, third.threadId]).size).toBe(1);
    expect(server.requests.at(-1)!.messages.map(({ text }) => text)).toEqual([
      'Hello',
      'reply 1',
      'Again',
      'reply 3',
      'Still',
    ]);
  });

  it('runs parallel calls at the same time and returns their results in order', async () => {
    let begun = 0;
    let ended = 0;
    // The last call ends first.
    probe.play(async ({ args }) => {
      begun += 1;
      await until(() => begun === 3 && ended === (args as { wait: number }).wait, { everyMs: 1 });
      ended += 1;
      return { ok: true, result: args as Json };
    });
    server.play((request) =>
      hasResult(request.messages)
        ? { text: 'Done' }
        : { toolCalls: [2, 1, 0].map((wait) => ({ name: 'order_find', args: { wait } })) },
    );
    const response = await ask({});
    expect(response.message).toBe('Done');
    const seen = server.requests[1]!.messages;
    expect(seen.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'tool', 'tool']);
    expect(seen.slice(2).map(({ text }) => text)).toEqual([
      '{"wait":2}',
      '{"wait":1}',
      '{"wait":0}',
    ]);
    expect(response._executionMeta).toMatchObject({ iterationCount: 2, errorCount: 0 });
    expect(
      response._executionMeta!.toolCallSummary.map(({ name, status }) => ({ name, status })),
    ).toEqual(Array(3).fill({ name: 'order.find', status: 'success' }));
    const stored = await rows<{ position: number; role: string }>(
      'select position, role::text from thread_messages where thread_id = $1 order by position',
      [response.threadId],
    );
    expect(stored.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'tool',
      'tool',
      'assistant',
    ]);
    expect(await rows('select distinct status::text from tool_calls')).toEqual([
      { status: 'succeeded' },
    ]);
  });

  it('stores a call before it runs', async () => {
    let seen: unknown;
    probe.play(async ({ context }) => {
      seen = await rows(
        'select name, status::text, args from tool_calls where execution_id = $1 and call_id = $2',
        [context.executionId, context.callId],
      );
      return { ok: true, result: 1 };
    });
    server.play((request) =>
      hasResult(request.messages) ? { text: 'Done' } : callsTool('order_create'),
    );
    await ask({});
    expect(seen).toEqual([{ name: 'order.create', status: 'started', args: { id: 'a' } }]);
  });

  it('returns errors of calls to the model and continues', async () => {
    server.play((request, index) =>
      index === 0
        ? {
            toolCalls: [
              { name: 'order_find', rawArgs: '{"id": oops' },
              { name: 'no_such_tool', args: {} },
              { name: 'order_find', rawArgs: '"text"' },
            ],
          }
        : {
            text: request.messages
              .slice(2)
              .map(({ text }) => text)
              .join('|'),
          },
    );
    const response = await ask({});
    expect(response.message).toMatch(
      /not a JSON object: \{\\"id\\": oops.*Tool not available: no_such_tool.*not a JSON object/,
    );
    expect(response._executionMeta).toMatchObject({
      errorCount: 3,
      permissionDenialCount: 1,
      iterationCount: 2,
    });
    expect(response._executionMeta!.toolCallSummary[0]).toMatchObject({
      name: 'order.find',
      status: 'error',
      errorType: 'invalid_arguments',
    });
    expect(probe.calls.map(({ name }) => name)).toEqual(['no_such_tool']);
  });

  it.each(['helper', 'claude'])(
    'calls the model exactly ten times and offers %s no tools the last time',
    async (slug) => {
      let n = 0;
      server.play((request) =>
        request.tools.length > 0
          ? callsTool('order_find', { id: (n += 1) })
          : { text: 'I give up' },
      );
      const response = await ask({ agent: { slug } });
      expect(response.message).toBe('I give up');
      expect(server.requests).toHaveLength(10);
      expect(server.requests.map(({ tools }) => tools.length > 0)).toEqual([
        ...Array(9).fill(true),
        false,
      ]);
      expect(response._executionMeta).toMatchObject({ iterationCount: 10, errorCount: 0 });
      expect(probe.calls).toHaveLength(9);
    },
  );

  it('answers even when the model calls tools that it was not offered', async () => {
    let n = 0;
    server.play(() => callsTool('order_find', { id: (n += 1) }));
    const response = await ask({});
    expect(server.requests).toHaveLength(10);
    expect(response.message).toMatch(/could not finish/);
  });

  it('runs the same call at most three times', async () => {
    let asked = 0;
    server.play(() =>
      (asked += 1) <= 5
        ? { toolCalls: [{ name: 'order_find', args: asked % 2 ? { a: 1, b: 2 } : { b: 2, a: 1 } }] }
        : { text: 'Done' },
    );
    const response = await ask({});
    expect(probe.calls).toHaveLength(3);
    expect(response._executionMeta).toMatchObject({ errorCount: 2, iterationCount: 6 });
  });

  it('truncates a long result for the model and stores all of it', async () => {
    const long = 'ñ'.repeat(60_000);
    probe.play(() => ({ ok: true, result: { long } }));
    server.play((request) => (hasResult(request.messages) ? { text: 'Done' } : callsTool()));
    await ask({});
    const shown = server.requests[1]!.messages.at(-1)!.text;
    expect(Buffer.byteLength(shown)).toBeLessThan(33 * 1024);
    expect(shown).toMatch(/truncated: the full result has 1200\d\d bytes/);
    const [{ result }] = (
      await rows<{ result: { result: { long: string } } }>(
        'select result from tool_calls order by started_at',
      )
    ).slice(-1) as [{ result: { result: { long: string } } }];
    expect(result.result.long).toBe(long);
  });

  it('removes characters that PostgreSQL cannot store', async () => {
    probe.play(() => ({ ok: true, result: { 'a\u0000b': 'x\u0000y\ud800' } }));
    server.play((request) =>
      hasResult(request.messages)
        ? { text: 'Nul \u0000 and half \ud83d' }
        : { text: '\u0000', ...callsTool('order_find', { q: '\u0000' }) },
    );
    expect((await ask({})).message).toBe('Nul  and half \ufffd');
  });

  it('passes the actor, the tool list and the context to each call', async () => {
    server.play((request) => (hasResult(request.messages) ? { text: 'Done' } : callsTool()));
    const { threadId } = await ask({
      params: { customer: 'c1' },
      requestId: 'req-1',
      channel: 'widget',
    });
    expect(probe.calls[0]).toMatchObject({
      name: 'order.find',
      args: { id: 'a' },
      actor: { type: 'agent', slug: 'helper', roles: [] },
      allowed: ['order.find', 'order.create', 'router.transfer'],
      context: {
        threadId,
        requestId: 'req-1',
        agentSlug: 'helper',
        channel: 'widget',
        params: { customer: 'c1' },
        depth: 0,
        hops: 0,
      },
    });
  });
});

describe('failures', () => {
  it('names a missing agent, configuration or thread', async () => {
    const other = await seedOrganization(db.pool, { agents: [{ slug: 'helper' }] });
    const theirs = await agents.chat(other.scope, {
      agent: { slug: 'helper' },
      message: 'x',
      channel: 'api',
    });
    expect(await chat({ agent: { slug: 'missing' } })).toEqual({
      ok: false,
      reason: 'agent_not_found',
    });
    expect(await chat({ agent: { id: other.agentIds.helper! } })).toEqual({
      ok: false,
      reason: 'agent_not_found',
    });
    expect(await chat({ agent: { routerSlug: 'none' } })).toEqual({
      ok: false,
      reason: 'router_not_found',
    });
    expect(await chat({ threadId: 'thread_none' })).toEqual({
      ok: false,
      reason: 'thread_not_found',
    });
    expect(await chat({ threadId: theirs.ok ? theirs.response.threadId : '' })).toEqual({
      ok: false,
      reason: 'thread_not_found',
    });
    const production = { ...org.scope, environment: 'production' as const };
    expect(await chat({}, agents, production)).toEqual({
      ok: false,
      reason: 'no_active_config',
      agentSlug: 'helper',
    });
  });

  it('does not answer with the scripted model on a channel in production', async () => {
    const live = await seedOrganization(db.pool, {
      environment: 'production',
      agents: [{ slug: 'helper' }],
    });
    const offline = createAgents({
      db,
      tools: probe.tools,
      models: createModels({ environment: {}, log }),
      log,
    });
    const command = { message: '/tool order.create {}' };
    expect(await chat({ ...command, channel: 'whatsapp' }, offline, live.scope)).toMatchObject({
      ok: false,
      reason: 'model_not_configured',
    });
    expect(await chat(command, offline, live.scope)).toMatchObject({ ok: true });
    await offline.close();
  });

  it('answers from a fallback when the first model fails', async () => {
    server.play(({ model }) => (model === 'dead' ? { status: 500 } : { text: 'still here' }));
    const response = await ask({ agent: { slug: 'spare' } });
    expect(response).toMatchObject({
      message: 'still here',
      _executionMeta: { model: 'openai/alive' },
    });
  });

  it('stores the message of a failed turn, and the next turn has a valid history', async () => {
    server.play(() => ({ status: 500 }));
    const failed = await chat({ externalThreadId: 'f' });
    expect(failed).toMatchObject({ ok: false, reason: 'model_failed', model: 'openai/gpt-5-mini' });
    server.play(() => ({ text: 'back again' }));
    await ask({ externalThreadId: 'f', message: 'Are you there?' });
    expect(server.requests.at(-1)!.messages.map(({ role, text }) => `${role}: ${text}`)).toEqual([
      'user: Hello',
      'assistant: [No reply was sent to this message.]',
      'user: Are you there?',
    ]);
    const [execution] = await rows<{ error: string }>(
      "select error from executions where status = 'failed' order by id desc",
    );
    expect(execution!.error).toContain('HTTP 500');
  });

  it('reports a timeout as such, and frees the thread', async () => {
    const quick = agentsOver({ timeoutMs: 100 });
    server.play(() => ({ hang: true }));
    expect(await chat({ externalThreadId: 't' }, quick)).toMatchObject({
      ok: false,
      reason: 'model_timeout',
    });
    server.play(() => ({ text: 'ok' }));
    expect((await ask({ externalThreadId: 't' })).message).toBe('ok');
    await quick.close();
  });

  it('ends a turn whose tool hangs at the limit of the turn', async () => {
    const quick = agentsOver({ turnTimeoutMs: 300 });
    probe.play(() => new Promise(() => {}));
    server.play((request) => (hasResult(request.messages) ? { text: 'Done' } : callsTool()));
    expect(await chat({ externalThreadId: 'h' }, quick)).toMatchObject({
      ok: false,
      reason: 'turn_timeout',
    });
    await quick.close();
  });

  it('stops after the current step when the caller disconnects', async () => {
    const caller = new AbortController();
    let finished = false;
    probe.play(async () => {
      caller.abort();
      // wall clock: the call takes longer than the disconnect of the caller.
      await sleep(50);
      finished = true;
      return { ok: true, result: 1 };
    });
    server.play(() => callsTool());
    expect(await chat({ externalThreadId: 'a', signal: caller.signal })).toMatchObject({
      ok: false,
      reason: 'aborted',
    });
    expect({ finished, asked: server.requests.length }).toEqual({ finished: true, asked: 1 });
    server.play(() => ({ text: 'ok' }));
    await ask({ externalThreadId: 'a', message: 'Next' });
    expect(server.requests.at(-1)!.messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
      'user',
    ]);
  });

  it('shortens the history when the model reports that it is too long', async () => {
    server.play(() => ({ text: 'x'.repeat(4_000) }));
    for (let n = 0; n < 6; n += 1) await ask({ externalThreadId: 'long' });
    server.play(({ messages }) =>
      messages.length > 5
        ? { status: 400, body: { error: { message: 'maximum context length is 10 tokens' } } }
        : { text: 'fits' },
    );
    const response = await ask({ externalThreadId: 'long' });
    expect(response).toMatchObject({ message: 'fits', _executionMeta: { iterationCount: 1 } });
  });
});

describe('answers that are cut off', () => {
  const cut = { toolCalls: [{ name: 'order_find', rawArgs: '{"id":"a' }], finish: 'length' };

  it('runs no call of one, and calls the model again', async () => {
    let found = 0;
    probe.play(async () => {
      found += 1;
      return { ok: true, result: 1 };
    });
    server.play(({ messages }) =>
      hasResult(messages) ? { text: 'In smaller parts, then.' } : cut,
    );
    const response = await ask({});
    expect(response).toMatchObject({
      message: 'In smaller parts, then.',
      _executionMeta: {
        iterationCount: 2,
        finishReason: 'stop',
        toolCallSummary: [
          {
            name: 'order.find',
            status: 'error',
            errorMessage: 'not run: the answer was cut off at the limit of its length',
          },
        ],
      },
    });
    expect(found).toBe(0);
  });

  it('ends the turn with the second one', async () => {
    server.play(() => cut);
    expect(await chat({})).toMatchObject({ ok: false, reason: 'length', isLasting: true });
    expect(server.requests).toHaveLength(2);
    server.play(() => ({ ...cut, text: 'Your refund is' }));
    expect(await ask({})).toMatchObject({
      message: 'Your refund is',
      _executionMeta: { finishReason: 'length' },
    });
  });

  it('ends the text of a turn at 1 MiB', async () => {
    const long = 'é'.repeat(300_000);
    server.play(({ messages }) => ({ text: long, ...(!hasResult(messages) && callsTool()) }));
    const response = await ask({});
    expect(Buffer.byteLength(response.message)).toBe(1024 * 1024 - 600_000);
    expect(response._executionMeta).toMatchObject({ finishReason: 'length' });
  });
});

describe('a history that the provider refuses', () => {
  const filter = {
    status: 400,
    body: { error: { code: 'content_filter', message: 'The response was filtered' } },
  };
  const refusesBomb = () =>
    server.play(({ messages }) =>
      messages.some(({ text }) => text.includes('bomb')) ? filter : { text: 'We open at nine.' },
    );
  const sent = () =>
    server.requests.map(({ messages }) => messages.filter(({ role }) => role === 'user').length);

  it('is sent without the turns that it refused before', async () => {
    refusesBomb();
    expect(await chat({ externalThreadId: 'p', message: 'a bomb' })).toMatchObject({
      reason: 'content_filter',
    });
    server.requests.length = 0;
    for (const message of ['When do you open?', 'And on Sundays?']) {
      expect(await ask({ externalThreadId: 'p', message })).toMatchObject({
        message: 'We open at nine.',
      });
    }
    expect(sent()).toEqual([2, 1, 3, 2]);
  });

  it('is not shortened for a message that is refused itself', async () => {
    refusesBomb();
    await ask({ externalThreadId: 'q' });
    await ask({ externalThreadId: 'q' });
    server.requests.length = 0;
    expect(await chat({ externalThreadId: 'q', message: 'a bomb' })).toMatchObject({
      reason: 'content_filter',
    });
    expect(sent()).toEqual([3]);
  });

  it('is halved once for an unknown 400, and twice never', async () => {
    server.play(() => ({ text: 'fine '.repeat(1_000) }));
    for (let count = 0; count < 4; count += 1) await ask({ externalThreadId: 'u' });
    server.requests.length = 0;
    server.play(({ messages }) =>
      messages.length > 6 ? { status: 400, message: 'no' } : { text: 'fits' },
    );
    expect(await ask({ externalThreadId: 'u' })).toMatchObject({ message: 'fits' });
    expect(sent()).toEqual([5, 3]);
    server.requests.length = 0;
    server.play(() => ({ status: 400, message: 'no such parameter' }));
    expect(await chat({ externalThreadId: 'u' })).toMatchObject({
      ok: false,
      reason: 'model_failed',
      isLasting: true,
    });
    expect(server.requests).toHaveLength(2);
  });

  it('is not shortened for a thread without earlier turns, or another status', async () => {
    server.play(() => ({ status: 400, message: 'no such parameter' }));
    await chat({ externalThreadId: 'n' });
    expect(server.requests).toHaveLength(1);
    server.play(() => ({ text: 'fine' }));
    for (let count = 0; count < 3; count += 1) await ask({ externalThreadId: 'm' });
    server.requests.length = 0;
    server.play(() => ({ status: 401, message: 'bad key' }));
    await chat({ externalThreadId: 'm' });
    expect(server.requests).toHaveLength(1);
  });

  it('has no blank texts', async () => {
    server.play(() => ({ text: 'fine' }));
    await ask({ externalThreadId: 'b' });
    await rows(
      "update thread_messages set content = E'\\n\\n' where role = 'assistant' and content = 'fine'",
    );
    await ask({ externalThreadId: 'b', message: 'Still there?' });
    expect(server.requests.at(-1)!.messages.map(({ text }) => text)).toEqual([
      'Hello',
      '[No reply was sent to this message.]',
      'Still there?',
    ]);
  });
});

describe('threads', () => {
  it('answers 50 messages on one thread one after the other', async () => {
    let open = 0;
    let most = 0;
    server.play(async (request) => {
      most = Math.max(most, (open += 1));
      // wall clock: the time of an answer, in which a second turn would be seen.
      await sleep(3);
      open -= 1;
      return request.messages.length % 3 === 0 && !hasResult(request.messages)
        ? callsTool()
        : { text: `re: ${request.messages.at(-1)!.text}` };
    });
    await ask({ externalThreadId: 'busy', message: 'm-first' });
    const second = agentsOver();
    const messages = Array.from({ length: 50 }, (_, n) => `m${n}`);
    const responses = await Promise.all(
      messages.map((message, n) =>
        ask({ externalThreadId: 'busy', message }, n % 2 ? agents : second),
      ),
    );
    await second.close();
    expect(responses).toHaveLength(50);
    expect(most).toBe(1);
    const stored = await rows<{
      execution_id: string;
      role: string;
      content: string;
      tool_calls: unknown;
    }>(
      'select execution_id::text, role::text, content, tool_calls from thread_messages where thread_id = $1 order by execution_id, position',
      [responses[0]!.threadId],
    );
    const spoken = stored.filter(({ role, tool_calls }) => role !== 'tool' && tool_calls === null);
    expect(spoken).toHaveLength(102);
    for (let at = 0; at < spoken.length; at += 2) {
      expect(spoken[at]).toMatchObject({ role: 'user' });
      expect(spoken[at + 1]).toMatchObject({
        role: 'assistant',
        execution_id: spoken[at]!.execution_id,
      });
    }
    expect(
      await rows("select 1 from executions where status <> 'succeeded'  and thread_id = $1", [
        responses[0]!.threadId,
      ]),
    ).toEqual([]);
  });

  it('creates one thread for 100 first messages with the same external id', async () => {
    server.play(() => ({ text: 'ok' }));
    const responses = await Promise.all(
      Array.from({ length: 100 }, () => ask({ externalThreadId: 'rush' })),
    );
    expect(new Set(responses.map(({ threadId }) => threadId)).size).toBe(1);
    expect(
      await rows("select id from threads where external_id = 'rush' and tenant = $1", [
        org.scope.tenant,
      ]),
    ).toHaveLength(1);
  });

  it('runs turns of different threads at the same time', async () => {
    let release = () => {};
    const gate = new Promise<void>((resolve) => (release = resolve));
    server.play(async ({ messages }) => {
      if (messages.at(-1)!.text === 'slow') await gate;
      return { text: 'ok' };
    });
    await ask({ externalThreadId: 's' });
    const waiting = Array.from({ length: 30 }, () =>
      ask({ externalThreadId: 's', message: 'slow' }),
    );
    const stored = `select 1 from executions where tenant = $1 and input = 'slow'`;
    await until(async () => (await rows(stored, [org.scope.tenant])).length === waiting.length);
    expect((await ask({ externalThreadId: 'other' })).message).toBe('ok');
    release();
    await Promise.all(waiting);
  });

  it('ends the turn of a process that died, and reports its open call as interrupted', async () => {
    server.play(() => ({ text: 'ok' }));
    const { threadId } = await ask({ externalThreadId: 'dead' });
    const [{ id }] = (await rows<{ id: string }>(
      `insert into executions (tenant, environment, thread_id, status, lease_owner, lease_until, input)
       values ($1, 'development', $2, 'running', 'dead', now() + interval '1 second', 'buy') returning id::text`,
      [org.scope.tenant, threadId],
    )) as [{ id: string }];
    const toolCalls = JSON.stringify([
      { id: 'c1', name: 'order.create', args: { n: 1 } },
      { id: 'c2', name: 'order.find', args: {} },
    ]);
    await rows(
      `insert into thread_messages (id, tenant, thread_id, execution_id, position, role, content, tool_calls, tool_call_id)
       values ('m1', $4, $1, $2, 0, 'user', 'buy', null, null), ('m2', $4, $1, $2, 1, 'assistant', '', $3, null),
              ('m3', $4, $1, $2, 3, 'tool', 'found', null, 'c2')`,
      [threadId, id, toolCalls, org.scope.tenant],
    );
    const startedAt = performance.now();
    await ask({ threadId, message: 'And?' });
    expect(performance.now() - startedAt).toBeGreaterThan(900);
    expect(
      server.requests
        .at(-1)!
        .messages.slice(2)
        .map(({ role, text }) => `${role}: ${text}`),
    ).toEqual([
      'user: buy',
      'assistant: ',
      expect.stringMatching(/tool: .*may or may not have happened/),
      'tool: found',
      'assistant: [No reply was sent to this message.]',
      'user: And?',
    ]);
    expect(probe.calls).toEqual([]);
    expect(await rows('select status::text, error from executions where id = $1', [id])).toEqual([
      { status: 'failed', error: 'interrupted' },
    ]);
  });

  it('stores nothing from a process whose lease has expired', async () => {
    server.play(async ({ messages }) => {
      if (messages.length === 1)
        await rows(
          "update executions set lease_until = now() - interval '1 s', status = 'failed' where tenant = $1",
          [org.scope.tenant],
        );
      return callsTool('order_create');
    });
    expect(await chat({})).toMatchObject({ ok: false, reason: 'interrupted' });
    expect(probe.calls).toEqual([]);
  });

  it('keeps the usage of a turn whose process died', async () => {
    let asked = 0;
    server.play(() => {
      asked += 1;
      // The lease expires during the third call of the model.
      if (asked === 3)
        return rows(
          `update executions set lease_until = now() - interval '1 s', status = 'failed', error = 'interrupted'
           where tenant = $1`,
          [org.scope.tenant],
        ).then(() => ({ ...callsTool('order_find'), usage: { input: 10, output: 5 } }));
      const call = { name: 'order_find', args: { asked } };
      return { toolCalls: [call], usage: { input: 10, output: 5 } };
    });
    expect(await chat({})).toMatchObject({ ok: false, reason: 'interrupted' });
    expect(
      await rows(
        'select status::text, model, iterations, input_tokens, output_tokens, steps from executions where tenant = $1',
        [org.scope.tenant],
      ),
    ).toEqual([
      {
        status: 'failed',
        model: 'openai/gpt-5-mini',
        iterations: 2,
        input_tokens: 20,
        output_tokens: 10,
        steps: [
          expect.objectContaining({ kind: 'model', inputTokens: 10 }),
          expect.objectContaining({ kind: 'tool', name: 'order.find', status: 'success' }),
          expect.objectContaining({ kind: 'model', inputTokens: 10 }),
        ],
      },
    ]);
    const results = await rows(
      `select status::text, result->>'result' as result from tool_calls where tenant = $1 order by args->>'asked'`,
      [org.scope.tenant],
    );
    expect(results).toEqual(Array(2).fill({ status: 'succeeded', result: 'done' }));
    expect(probe.calls).toHaveLength(2);
  });

  it('renews the lease of a long turn', async () => {
    const isRenewed = Promise.withResolvers<void>();
    server.play(async ({ messages }) => {
      if (messages.length === 1) await isRenewed.promise;
      return { text: 'slow but sure' };
    });
    const asked = server.requests.length;
    const first = chat({ externalThreadId: 'long-turn' });
    await until(() => server.requests.length > asked);
    const second = ask({ externalThreadId: 'long-turn', message: 'hurry' }, agentsOver());
    const lease = async () => {
      const sql = `select lease_until from executions where tenant = $1 and status = 'running'`;
      return (await rows<{ lease_until: Date }>(sql, [org.scope.tenant]))[0]!.lease_until.getTime();
    };
    const begunWith = await lease();
    await until(async () => (await lease()) > begunWith);
    isRenewed.resolve();
    expect(await first).toMatchObject({ ok: true, response: { message: 'slow but sure' } });
    await second;
  });

  it('stops waiting at its time limit', async () => {
    const hasty = agentsOver({ turnTimeoutMs: 150 });
    let release = () => {};
    const gate = new Promise<void>((resolve) => (release = resolve));
    server.play(async () => {
      await gate;
      return { text: 'ok' };
    });
    const asked = server.requests.length;
    const first = ask({ externalThreadId: 'w' });
    await until(() => server.requests.length > asked);
    expect(await chat({ externalThreadId: 'w', message: 'now' }, hasty)).toMatchObject({
      ok: false,
      reason: 'thread_busy',
    });
    release();
    await first;
    await ask({ externalThreadId: 'w', message: 'later' });
    expect(server.requests.at(-1)!.messages.map(({ text }) => text)).toEqual([
      'Hello',
      'ok',
      'now',
      '[No reply was sent to this message.]',
      'later',
    ]);
    await hasty.close();
  });

  it('stores messages without answering during a takeover', async () => {
    server.play(() => ({ text: 'ok' }));
    const { threadId } = await ask({});
    await rows(`update threads set state = 'human' where id = $1`, [threadId]);
    const result = await chat({ threadId, message: 'psst' });
    expect(result).toMatchObject({
      ok: true,
      state: 'stored',
      response: { threadId, message: '', usage: { totalTokens: 0 } },
    });
    expect(server.requests).toHaveLength(1);
    await rows(`update threads set state = 'agent' where id = $1`, [threadId]);
    await ask({ threadId, message: 'back' });
    expect(server.requests.at(-1)!.messages.map(({ text }) => text)).toEqual([
      'Hello',
      'ok',
      'psst',
      '[No reply was sent to this message.]',
      'back',
    ]);
  });

  it('trims the history at whole turns', async () => {
    const short = agentsOver({ historyTokens: 400 });
    server.play((request) =>
      hasResult(request.messages) || request.messages.length > 20
        ? { text: 'y'.repeat(300) }
        : callsTool(),
    );
    for (let n = 0; n < 6; n += 1)
      await ask({ externalThreadId: 'trim', message: `question ${n}` }, short);
    const seen = server.requests.at(-2)!.messages;
    expect(seen.length).toBeLessThan(12);
    expect(seen[0]).toMatchObject({ role: 'user', text: expect.stringMatching(/^question/) });
    await short.close();
  });
});

describe('thread params', () => {
  const strict = { slug: 'strict' };
  it('checks params, merges them with stored ones and drops unknown ones', async () => {
    server.play(() => ({ text: 'ok' }));
    expect(await chat({ agent: strict })).toEqual({
      ok: false,
      reason: 'invalid_params',
      problems: [{ path: 'threadContext.params.customer', message: 'is required' }],
    });
    expect(await chat({ agent: strict, params: { customer: 5, age: 'x' } })).toMatchObject({
      reason: 'invalid_params',
      problems: [{ message: 'must be a string' }, { message: 'must be a number' }],
    });
    expect(await rows('select 1 from threads where tenant = $1', [org.scope.tenant])).toEqual([]);
    const { threadId } = await ask({ agent: strict, params: { customer: 'c1', other: 1 } });
    await ask({ agent: strict, threadId, params: { age: 3 } });
    await ask({ agent: strict, threadId });
    expect(await rows('select params from threads where id = $1', [threadId])).toEqual([
      { params: { customer: 'c1', age: 3 } },
    ]);
  });
});

it('drops stored params of another type than the agent declares', async () => {
  const { threadId } = await ask({
    params: { customer: { $ne: 'nobody' }, age: 4, note: { a: 1 } },
  });
  probe.calls.length = 0;
  server.play(({ system, messages }) =>
    hasResult(messages) ? { text: system } : { toolCalls: [{ name: 'order_find', args: {} }] },
  );
  expect(await chat({ agent: { slug: 'strict' }, threadId })).toEqual({
    ok: false,
    reason: 'invalid_params',
    problems: [{ path: 'threadContext.params.customer', message: 'is required' }],
  });
  const { message } = await ask({ agent: { slug: 'typed' }, threadId });
  expect(message).toBe('[TEMPLATE_ERROR: threadContext.params.customer not found] 4 {"a":1}');
});

describe('routers', () => {
  const front = { routerSlug: 'front' };
  const smart = { routerSlug: 'smart' };
  const insertCustomer = (data: JsonObject) =>
    createEntities({ db }).create(org.scope, {
      type: 'customer',
      data,
      actor: { type: 'system' },
    });

  it('follows the first rule that matches the entity with the phone number', async () => {
    server.play(({ system }) => ({ text: system }));
    await insertCustomer({ phone: '+56 9 1111-2222', debt: 500 });
    await insertCustomer({ phone: '56933334444', debt: 5 });
    expect(await ask({ agent: front, phoneNumber: '+56911112222' })).toMatchObject({
      message: 'You are billing.',
      routedToAgentSlug: 'billing',
      routedToAgent: org.agentIds.billing,
    });
    expect(await ask({ agent: front, phoneNumber: '+56933334444' })).toMatchObject({
      routedToAgentSlug: 'helper',
    });
    expect(await ask({ agent: front })).toMatchObject({ routedToAgentSlug: 'helper' });
  });

  it('asks a model, and falls back when its answer names no agent', async () => {
    let answer = 'billing';
    server.play(({ model, system }) => ({
      text: model === 'classifier' ? answer : system,
      usage: { input: 10, output: 1 },
    }));
    const response = await ask({ agent: smart, message: 'Where is my invoice?' });
    expect(response).toMatchObject({
      message: 'You are billing.',
      routedToAgentSlug: 'billing',
      usage: { inputTokens: 20 },
    });
    expect(
      await rows(
        'select input_tokens, output_tokens, iterations, steps from executions where tenant = $1',
        [org.scope.tenant],
      ),
    ).toEqual([
      {
        input_tokens: 20,
        output_tokens: 2,
        iterations: 1,
        steps: [
          expect.objectContaining({
            kind: 'model',
            purpose: 'routing',
            status: 'success',
            inputTokens: 10,
          }),
          expect.objectContaining({ kind: 'model', status: 'success', inputTokens: 10 }),
        ],
      },
    ]);
    expect(server.requests[0]!.system).toContain('billing: billing. Invoices and payments');
    expect(server.requests[0]!.tools).toEqual([]);
    for (answer of ['helper or billing', 'the moon', ''])
      expect(await ask({ agent: smart })).toMatchObject({ routedToAgentSlug: 'helper' });
    server.play(({ model }) => (model === 'classifier' ? { status: 500 } : { text: 'ok' }));
    expect(await ask({ agent: smart })).toMatchObject({ routedToAgentSlug: 'helper' });
    expect(await rows('select steps->0 as step from executions order by id desc limit 1')).toEqual([
      {
        step: expect.objectContaining({
          purpose: 'routing',
          status: 'error',
          error: 'unavailable',
        }),
      },
    ]);
  });

  it('sends the last messages of the thread to the classifying model', async () => {
    server.play(({ model }) => ({ text: model === 'classifier' ? 'billing' : 'ok' }));
    const { threadId } = await ask({ agent: smart, message: 'Where is my invoice?' });
    await ask({ agent: smart, threadId, message: 'And now?' });
    const asked = server.requests.filter(({ model }) => model === 'classifier');
    expect(asked[1]!.messages.at(-1)!.text).toBe(
      'Earlier:\nuser: Where is my invoice?\nassistant: ok\n\nLast message:\nAnd now?',
    );
  });

  it('calls no model during a takeover', async () => {
    server.play(({ model }) => ({ text: model === 'classifier' ? 'billing' : 'ok' }));
    const { threadId } = await ask({ agent: smart });
    await rows(`update threads set state = 'human' where id = $1`, [threadId]);
    const asked = server.requests.length;
    expect(await chat({ agent: smart, threadId })).toMatchObject({ ok: true, state: 'stored' });
    expect(server.requests).toHaveLength(asked);
  });

  it('transfers a thread at most five times and never to the same agent', async () => {
    let target = 'billing';
    server.play((request) =>
      hasResult(request.messages) || !request.tools.includes('router_transfer')
        ? { text: request.messages.at(-1)!.text }
        : callsTool('router_transfer', { agentSlug: target }),
    );
    const first = await ask({ agent: front });
    expect(first).toMatchObject({
      routedToAgentSlug: 'helper',
      _transferred: { targetAgentSlug: 'billing', targetAgent: org.agentIds.billing },
    });
    expect(await ask({ agent: front, threadId: first.threadId })).toMatchObject({
      routedToAgentSlug: 'billing',
    });
    await rows("update threads set last_message_at = now() - interval '5 hours' where id = $1", [
      first.threadId,
    ]);
    for (const wrong of ['helper', 'claude', 'missing']) {
      target = wrong;
      const refused = await ask({ agent: front, threadId: first.threadId });
      expect(refused._transferred).toBeUndefined();
      expect(refused._executionMeta!.errorCount).toBe(1);
    }
    target = 'billing';
    for (let n = 0; n < 5; n += 1)
      expect((await ask({ threadId: first.threadId }))._transferred).toBeDefined();
    const sixth = await ask({ threadId: first.threadId });
    expect(sixth._transferred).toBeUndefined();
    expect(sixth.message).toContain('already transferred 5 times');
    await rows("update threads set last_message_at = now() - interval '5 hours' where id = $1", [
      first.threadId,
    ]);
    expect((await ask({ threadId: first.threadId }))._transferred).toBeDefined();
  });
});

it('lets an agent call another', async () => {
  server.play(({ system }) => ({ text: `${system} here` }));
  const request = {
    agentSlug: 'billing',
    message: 'hi',
    actor: { type: 'system' as const },
    depth: 1,
    parentAgents: ['helper'],
    hops: 0,
  };
  expect(await agents.chatWithAgent(org.scope, request)).toMatchObject({
    ok: true,
    result: { message: 'You are billing. here' },
  });
  expect(await agents.chatWithAgent(org.scope, { ...request, agentSlug: 'missing' })).toMatchObject(
    {
      ok: false,
      errorType: 'not_found',
    },
  );
});
