import { type ModelServer, startModelServer } from '@parley/testing';
import { assistant, catalog } from './catalog';
import { type Client, push } from './client';
import { type Tenant, createTenant } from './tenant';

let model: ModelServer;
let tenant: Tenant;
let client: Client;
const path = '/v1/agents/clerk/chat';

beforeAll(async () => {
  model = await startModelServer();
  tenant = await createTenant();
  await tenant.useModels(model.urls.openai);
  client = await tenant.client();
  const clerk = {
    ...assistant,
    slug: 'clerk',
    model: 'openai/gpt-5-mini',
    threadContextParams: [
      { name: 'plan', type: 'string', required: true },
      { name: 'age', type: 'number' },
    ],
  };
  const free = { ...clerk, slug: 'free', threadContextParams: undefined };
  await push(client, { ...catalog, agents: [clerk, free] });
});
beforeEach(() => {
  model.requests.length = 0;
  model.play(() => ({ text: 'ok', usage: { input: 7, output: 3 } }));
});
afterEach(() => expect(model.problems).toEqual([]));
afterAll(async () => {
  await tenant?.close();
  await model?.stop();
});

const params = { plan: 'gold' };
const say = (message: string, rest: object = {}, to = path) =>
  client.post(to, { message, threadContext: { params }, ...rest });

describe('a thread', () => {
  it('is new without threadId and externalThreadId', async () => {
    const [one, two] = [await say('one'), await say('two')];
    expect(one.status).toBe(200);
    expect(one.body.threadId).not.toBe(two.body.threadId);
    expect(one.body).toMatchObject({
      message: 'ok',
      usage: { inputTokens: 7, outputTokens: 3, totalTokens: 10 },
    });
  });

  it('continues by threadId, and the agent gets the full history', async () => {
    const { threadId } = (await say('first')).body;
    const second = await say('second', { threadId });
    expect(second.body.threadId).toBe(threadId);
    await say('third', { threadId });
    expect(model.requests.at(-1)!.messages.map(({ role, text }) => [role, text])).toEqual([
      ['user', 'first'],
      ['assistant', 'ok'],
      ['user', 'second'],
      ['assistant', 'ok'],
      ['user', 'third'],
    ]);
  });

  it('is found by externalThreadId, or created', async () => {
    const first = await say('a', { externalThreadId: 'web:1' });
    const again = await say('b', { externalThreadId: 'web:1' });
    const other = await say('c', { externalThreadId: 'web:2' });
    expect(again.body.threadId).toBe(first.body.threadId);
    expect(other.body.threadId).not.toBe(first.body.threadId);
    expect(model.requests.at(-2)!.messages).toHaveLength(3);
  });

  it('is created once for simultaneous first messages with one externalThreadId, which are answered in turn', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) => say(`m${index}`, { externalThreadId: 'web:rush' })),
    );
    expect(new Set(answers.map(({ body }) => body.threadId)).size).toBe(1);
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
    const last = model.requests
      .map(({ messages }) => messages)
      .sort((a, b) => b.length - a.length)[0]!;
    expect(last).toHaveLength(15);
    expect(last.map(({ role }) => role)).toEqual(
      last.map((_, at) => (at % 2 === 0 ? 'user' : 'assistant')),
    );
  });

  it('that is unknown is answered with 404, and no thread is created', async () => {
    const answer = await say('hi', { threadId: 'unknown' });
    expect([answer.status, answer.body.error]).toEqual([404, 'Thread not found']);
    expect(model.requests).toEqual([]);
  });
});

describe('threadContext.params', () => {
  const systemOf = () => model.requests.at(-1)!.system;

  it('are inserted into the prompt, with the channel', async () => {
    await say('hi');
    expect(systemOf()).toContain('Channel api, plan gold.');
  });

  it('are stored with the thread', async () => {
    const { threadId } = (await say('hi')).body;
    const answer = await client.post(path, { message: 'again', threadId });
    expect(answer.status).toBe(200);
    expect(systemOf()).toContain('plan gold');
  });

  it('may have any name when the agent defines none', async () => {
    await say(
      'hi',
      { threadContext: { params: { plan: 'any', more: { deep: 1 } } } },
      '/v1/agents/free/chat',
    );
    expect(systemOf()).toContain('plan any');
    await client.post('/v1/agents/free/chat', { message: 'hi' });
    expect(systemOf()).toContain('plan none');
  });

  it.each([
    ['a required param is missing', {}, 'plan'],
    ['a type is wrong', { plan: 'x', age: 'old' }, 'age'],
  ])('are refused when %s', async (_name, given, named) => {
    const answer = await client.post(path, { message: 'hi', threadContext: { params: given } });
    expect(answer.status).toBe(400);
    expect(JSON.stringify(answer.body)).toContain(named);
    expect(model.requests).toEqual([]);
  });

  it('that are not defined are dropped', async () => {
    const { threadId } = (await say('hi', { threadContext: { params: { plan: 'x', stray: 'y' } } }))
      .body;
    const [row] = await tenant.query('select params from threads where id = $1', [threadId]);
    expect(row!.params).toEqual({ plan: 'x' });
  });

  it('are never evaluated as a template', async () => {
    await say('hi', {
      threadContext: { params: { plan: '{{threadContext.channel}} {{entity.query({})}}' } },
    });
    expect(systemOf()).toContain('plan {{threadContext.channel}} {{entity.query({})}}.');
  });
});

describe('the tool loop', () => {
  it('offers tools with names that providers accept, and runs the called tool', async () => {
    await client.post('/v1/data/product', { data: { name: 'Lamp' } });
    model.play((_request, index) =>
      index === 0
        ? { toolCalls: [{ name: 'entity_query', args: { type: 'product' } }] }
        : { text: 'There is a lamp.' },
    );
    const { body } = await say('What is there?');
    expect(body.message).toBe('There is a lamp.');
    expect(model.requests[0]!.tools.sort()).toEqual(['entity_get', 'entity_query']);
    const results = model.requests[1]!.messages.filter(({ role }) => role === 'tool');
    expect(results).toHaveLength(1);
    expect(results[0]!.text).toContain('Lamp');
    expect(body.usage.totalTokens).toBe(body.usage.inputTokens + body.usage.outputTokens);
    expect(body._executionMeta).toMatchObject({
      iterationCount: 2,
      model: expect.stringContaining('gpt-5-mini'),
    });
  });

  it('calls the model at most ten times, the tenth time without tools', async () => {
    let calls = 0;
    model.play(({ tools }) =>
      tools.length > 0
        ? { toolCalls: [{ name: 'entity_query', args: { type: 'product', limit: (calls += 1) } }] }
        : { text: 'Enough.' },
    );
    const { status, body } = await say('Loop');
    expect([status, body.message]).toEqual([200, 'Enough.']);
    expect(model.requests).toHaveLength(10);
    expect(model.requests.map(({ tools }) => tools.length > 0)).toEqual([
      ...Array(9).fill(true),
      false,
    ]);
    expect(body._executionMeta.iterationCount).toBe(10);
  });

  it('continues after malformed arguments and unknown tools', async () => {
    model.play((_request, index) => {
      if (index === 0) return { toolCalls: [{ name: 'entity_query', rawArgs: '{"type": ' }] };
      if (index === 1) return { toolCalls: [{ name: 'nothing_like_it', args: {} }] };
      return { text: 'Sorry.' };
    });
    const { status, body } = await say('Break');
    expect([status, body.message, body._executionMeta.errorCount]).toEqual([200, 'Sorry.', 2]);
  });

  it('answers 502 when the provider fails, with its reason in development, and the thread can be continued', async () => {
    const { threadId } = (await say('fine')).body;
    model.play(() => ({ status: 400, message: 'no such setting' }));
    const failed = await say('fails', { threadId });
    expect([failed.status, failed.body.code]).toEqual([502, 'model_failed']);
    expect(failed.body.error).toContain('HTTP 400: no such setting');
    model.play(() => ({ text: 'back' }));
    expect((await say('works', { threadId })).body.message).toBe('back');
  });
});
