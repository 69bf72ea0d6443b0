import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { onRefusal } from '@parley/contracts';
import { type ModelServer, startModelServer } from '@parley/testing';
import { createModels, type ModelDeps } from './create-models';
import type { ModelMessage, ModelRequest, TextSink } from './model';
import { type ProviderTable, providersOfEnvironment } from './provider-keys';

const scope = { organizationId: 'org_1', tenant: 1, environment: 'development' as const };
const log = { info: () => {}, warn: () => {}, error: () => {} };
const lookUp = {
  name: 'order.find',
  description: 'Finds an order',
  parameters: { type: 'object', properties: { id: { type: 'string' } } },
};

let server: ModelServer;
beforeEach(async () => {
  server = await startModelServer();
});
afterEach(async () => {
  const { problems, unknownRequests } = server;
  await server.stop();
  expect({ problems, unknownRequests }).toEqual({ problems: [], unknownRequests: [] });
});

const allProviders = () =>
  providersOfEnvironment({
    OPENAI_API_KEY: 'sk-openai',
    OPENAI_BASE_URL: server.urls.openai,
    ANTHROPIC_API_KEY: 'sk-anthropic',
    ANTHROPIC_BASE_URL: server.urls.anthropic,
    GOOGLE_API_KEY: 'google-key',
    GOOGLE_BASE_URL: server.urls.google,
    OLLAMA_BASE_URL: server.urls.ollama,
  });
const models = (deps: Partial<ModelDeps> = {}) =>
  createModels({ environment: allProviders(), log, backoffMs: 5, timeoutMs: 5_000, ...deps });

let nextCall = 0;
const request = (messages: ModelMessage[], tools = [lookUp]): ModelRequest => {
  const turn = (nextCall += 1);
  return { system: 'Be brief.', messages, tools, callId: (index) => `ours${turn}x${index}` };
};
const hello: ModelMessage[] = [{ role: 'user', content: 'Hello' }];
const settings = (first: string, ...fallbacks: string[]) => ({
  candidates: [first, ...fallbacks] as [string, ...string[]],
});

const known = [
  ['openai/gpt-5-mini', 'openai', 'gpt-5-mini'],
  ['openai/gpt-4.1', 'openai', 'gpt-4.1'],
  ['anthropic/claude-sonnet-4-5', 'anthropic', 'claude-sonnet-4-5'],
  ['google/gemini-2.5-flash', 'google', 'gemini-2.5-flash'],
  ['ollama/llama3.2:3b', 'ollama', 'llama3.2:3b'],
] as const;
const inBothWays = known.flatMap((one) =>
  (['whole', 'streamed'] as const).map((how) => [...one, how] as const),
);

describe.each(inBothWays)('%s in its own protocol (%s %s), %s', (model, protocol, name, how) => {
  let attempts: string[][];
  let sink: TextSink | undefined;
  beforeEach(() => {
    attempts = [];
    const begin = () => void attempts.push([]);
    sink =
      how === 'streamed'
        ? { begin, write: (delta) => void attempts.at(-1)!.push(delta) }
        : undefined;
  });

  it('sends the prompt and the tools, and reads the answer and the usage', async () => {
    server.play(() => ({ text: 'Hi there', usage: { input: 12, output: 7 } }));
    const result = await models().complete(scope, settings(model), request(hello), { sink });
    expect(result).toMatchObject({ ok: true, model, reply: { text: 'Hi there', toolCalls: [] } });
    expect(result.ok && result.reply.usage).toEqual({
      inputTokens: 12,
      outputTokens: 7,
      totalTokens: 19,
    });
    expect(server.requests).toHaveLength(1);
    expect(server.requests[0]).toMatchObject({
      protocol,
      model: name,
      system: 'Be brief.',
      tools: ['order_find'],
    });
    expect(attempts).toEqual(how === 'streamed' ? [['Hi', ' there']] : []);
  });

  it('sends calls and their results, from the turn and from the history', async () => {
    server.play((_, index) =>
      index === 0
        ? {
            text: 'Looking',
            toolCalls: [
              { name: 'order_find', args: { id: 'a' } },
              { name: 'order_find', args: { id: 'b' } },
            ],
          }
        : { text: 'Done' },
    );
    const first = await models().complete(scope, settings(model), request(hello), { sink });
    if (!first.ok) throw new Error(first.detail);
    expect(first.reply.toolCalls.map(({ name: tool, args }) => ({ tool, args }))).toEqual([
      { tool: 'order.find', args: { id: 'a' } },
      { tool: 'order.find', args: { id: 'b' } },
    ]);
    const { text, toolCalls, raw } = first.reply;
    const results: ModelMessage[] = toolCalls.map((call, at) => ({
      role: 'tool',
      toolCallId: call.id,
      name: call.name,
      content: `result ${at}`,
      isError: at === 1,
    }));
    for (const assistant of [
      { role: 'assistant' as const, content: text, toolCalls, raw },
      { role: 'assistant' as const, content: '', toolCalls },
    ]) {
      const next = await models().complete(
        scope,
        settings(model),
        request([...hello, assistant, ...results]),
        {
          sink,
        },
      );
      expect(next).toMatchObject({ ok: true, reply: { text: 'Done' } });
      const seen = server.requests.at(-1)!.messages;
      expect(seen.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'tool']);
      expect(seen[1]!.toolCalls.map((call) => call.name)).toEqual(['order_find', 'order_find']);
      expect(seen[2]!.text).toContain('result 0');
      expect(seen[3]!.text).toContain('result 1');
    }
  });

  it('accepts a request without tools after tool calls', async () => {
    const exchange: ModelMessage[] = [
      ...hello,
      {
        role: 'assistant',
        content: '',
        toolCalls: [{ id: 'abc123def', name: 'order.find', args: { id: 'a' } }],
      },
      {
        role: 'tool',
        toolCallId: 'abc123def',
        name: 'order.find',
        content: 'found it',
        isError: false,
      },
    ];
    const result = await models().complete(scope, settings(model), request(exchange, []), { sink });
    expect(result.ok).toBe(true);
    expect(server.requests[0]!.tools).toEqual([]);
    expect(JSON.stringify(server.requests[0]!.messages)).toContain('found it');
  });

  it('retries after a 500 and a broken body, at most twice', async () => {
    server.play((_, index) =>
      index === 0
        ? { status: 500 }
        : index === 1
          ? { text: 'cut off in the middle', broken: 'json' }
          : { text: 'third time' },
    );
    expect(await models().complete(scope, settings(model), request(hello), { sink })).toMatchObject(
      {
        ok: true,
        reply: { text: 'third time' },
      },
    );
    server.play(() => ({ status: 503 }));
    const failed = await models().complete(scope, settings(model), request(hello), { sink });
    expect(failed).toMatchObject({ ok: false, reason: 'unavailable' });
    expect(server.requests).toHaveLength(6);
  });

  it('retries when the connection breaks in the middle of an answer', async () => {
    server.play((_, index) =>
      index === 0 ? { text: 'cut off here', broken: 'connection' } : { text: 'whole' },
    );
    expect(await models().complete(scope, settings(model), request(hello), { sink })).toMatchObject(
      {
        ok: true,
        reply: { text: 'whole' },
      },
    );
    expect(attempts.map((deltas) => deltas.join(''))).toEqual(
      how === 'streamed' ? [expect.stringMatching(/^cut/), 'whole'] : [],
    );
  });

  it('ends a hanging call at its time limit and closes the connection', async () => {
    server.play(() => ({ hang: true }));
    const result = await models({ timeoutMs: 150 }).complete(
      scope,
      settings(model),
      request(hello),
      { sink },
    );
    expect(result).toMatchObject({ ok: false, reason: 'timeout' });
    // None, when the limit has passed before the request was received.
    expect(server.requests.length).toBeLessThanOrEqual(1);
  });

  it('stops when the caller disconnects', async () => {
    const caller = new AbortController();
    server.play(() => {
      setTimeout(() => caller.abort(), 20);
      return { hang: true };
    });
    const result = await models().complete(scope, settings(model, 'openai/other'), request(hello), {
      signal: caller.signal,
      sink,
    });
    expect(result).toMatchObject({ ok: false, reason: 'aborted' });
    expect(server.requests).toHaveLength(1);
  });

  it('does not retry a request that the provider rejected', async () => {
    server.play(() => ({ status: 400, message: 'no such parameter' }));
    expect(await models().complete(scope, settings(model), request(hello), { sink })).toMatchObject(
      {
        ok: false,
        reason: 'rejected',
        status: 400,
      },
    );
    expect(server.requests).toHaveLength(1);
  });
});

describe('retries and fallbacks', () => {
  it.each(['openai/gpt-5-mini', 'anthropic/claude-sonnet-4-5'])(
    'waits for the Retry-After of %s',
    async (model) => {
      server.play((_, index) =>
        index === 0 ? { status: 429, headers: { 'retry-after': '1' } } : { text: 'ok' },
      );
      const startedAt = performance.now();
      expect(await models().complete(scope, settings(model), request(hello))).toMatchObject({
        ok: true,
      });
      expect(performance.now() - startedAt).toBeGreaterThanOrEqual(990);
    },
  );

  it('calls the fallbacks in order', async () => {
    server.play(({ model }) =>
      model === 'third'
        ? { text: 'from the third' }
        : model === 'first'
          ? { status: 500 }
          : { status: 401 },
    );
    const chain = settings('openai/first', 'anthropic/second', 'google/third');
    const result = await models().complete(scope, chain, request(hello));
    expect(result).toMatchObject({
      ok: true,
      model: 'google/third',
      reply: { text: 'from the third' },
    });
    expect(server.requests.map(({ model }) => model)).toEqual([
      'first',
      'first',
      'first',
      'second',
      'third',
    ]);
  });

  it('does not wait for a long Retry-After when there is a fallback', async () => {
    server.play(({ model }) =>
      model === 'first' ? { status: 429, headers: { 'retry-after': '30' } } : { text: 'ok' },
    );
    expect(
      await models().complete(scope, settings('openai/first', 'openai/second'), request(hello)),
    ).toMatchObject({
      ok: true,
    });
    expect(server.requests).toHaveLength(2);
  });

  it('reports a model without a key, or of an unknown provider, as not configured', async () => {
    const only = createModels({
      environment: { openai: { apiKey: 'k', baseUrl: server.urls.openai } },
      log,
    });
    expect(await only.complete(scope, settings('anthropic/x'), request(hello))).toMatchObject({
      ok: false,
      reason: 'not_configured',
    });
    for (const model of ['unknown/x', 'constructor/x', '__proto__/x', 'toString/x'])
      expect(await only.complete(scope, settings(model), request(hello))).toMatchObject({
        ok: false,
        reason: 'unknown_model',
      });
  });

  it('reports a conversation that is too long as context_overflow', async () => {
    server.play(() => ({
      status: 400,
      body: {
        error: {
          message: "This model's maximum context length is 8192 tokens.",
          code: 'context_length_exceeded',
        },
      },
    }));
    expect(await models().complete(scope, settings('openai/x'), request(hello))).toMatchObject({
      ok: false,
      reason: 'context_overflow',
    });
  });

  it('stops calling a provider that keeps failing', async () => {
    server.play(() => ({ status: 500 }));
    const circuit = models({ backoffMs: 1 });
    for (let n = 0; n < 10; n += 1)
      await circuit.complete(scope, settings('openai/x'), request(hello));
    expect(server.requests).toHaveLength(8);
  });

  it('stops calls of one organization, credential and model, and no others', async () => {
    server.play((asked) =>
      JSON.stringify(asked).includes('broken') ? { status: 500 } : { text: 'ok' },
    );
    const own: ProviderTable[string] = { ...allProviders().openai };
    const circuit = models({
      backoffMs: 1,
      organizationKeys: async () => ({ openai: { ...own } }),
    });
    for (let n = 0; n < 10; n += 1)
      await circuit.complete(scope, settings('openai/broken'), request(hello));
    const other = { ...scope, organizationId: 'org_2', tenant: 2 };
    server.play(() => ({ text: 'ok' }));
    const answers = (from: typeof scope, model: string) =>
      circuit.complete(from, settings(model), request(hello)).then(({ ok }) => ok);
    expect(await answers(scope, 'openai/broken')).toBe(false);
    expect(await answers(scope, 'openai/healthy')).toBe(true);
    expect(await answers(other, 'openai/broken')).toBe(true);
    own.apiKey = 'sk-new';
    expect(await answers(scope, 'openai/broken')).toBe(true);
  });

  it('leaves connections for another organization, and ends a long wait for one', async () => {
    let release = () => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    server.play(async (asked) => {
      if (JSON.stringify(asked).includes('slow')) await released;
      return { text: 'ok' };
    });
    const shared = models({ maxConnections: 3, timeoutMs: 1_000 });
    const refusals: string[] = [];
    onRefusal((limit) => void refusals.push(limit));
    const slow = Array.from({ length: 4 }, () =>
      shared.complete(scope, settings('openai/slow'), request(hello)),
    );
    const other = { ...scope, organizationId: 'org_2', tenant: 2 };
    expect(await shared.complete(other, settings('openai/quick'), request(hello))).toMatchObject({
      ok: true,
    });
    expect(await Promise.all(slow)).toMatchObject(
      slow.map(() => ({ ok: false, reason: 'timeout' })),
    );
    expect(server.requests.filter(({ model }) => model === 'slow')).toHaveLength(2);
    expect(refusals).toEqual(['model_connections', 'model_connections']);
    release();
  });
});

describe('answers', () => {
  it('reports reasoning tokens as the provider counts them', async () => {
    server.play(() => ({ text: 'ok', usage: { input: 10, output: 50, reasoning: 40 } }));
    for (const model of ['openai/gpt-5-mini', 'google/gemini-2.5-flash']) {
      const result = await models().complete(scope, settings(model), request(hello));
      expect(result.ok && result.reply.usage).toEqual({
        inputTokens: 10,
        outputTokens: 50,
        totalTokens: 60,
        reasoningTokens: 40,
      });
    }
  });

  it('names arguments that are not a JSON object, in the order of the calls', async () => {
    server.play((_, index) =>
      index === 0
        ? {
            toolCalls: [
              { name: 'order_find', rawArgs: '{"id": ' },
              { name: 'order_find', args: { id: 'b' } },
              { name: 'order_find', rawArgs: '[1]' },
            ],
          }
        : { text: 'sorry' },
    );
    const first = await models().complete(scope, settings('openai/gpt-5-mini'), request(hello));
    if (!first.ok) throw new Error(first.detail);
    expect(first.reply.toolCalls.map(({ args, problem }) => ({ args, problem }))).toEqual([
      { args: {}, problem: 'The arguments are not a JSON object: {"id":' },
      { args: { id: 'b' }, problem: undefined },
      { args: {}, problem: 'The arguments are not a JSON object: [1]' },
    ]);
    const { toolCalls, text, raw } = first.reply;
    const results: ModelMessage[] = toolCalls.map((call) => ({
      role: 'tool',
      toolCallId: call.id,
      name: call.name,
      content: 'x',
      isError: true,
    }));
    await models().complete(
      scope,
      settings('openai/gpt-5-mini'),
      request([...hello, { role: 'assistant', content: text, toolCalls, raw }, ...results]),
    );
  });

  it('distinguishes calls with the same id of the provider', async () => {
    server.play((_, index) =>
      index === 0
        ? {
            toolCalls: [
              { id: 'call_1', name: 'order_find' },
              { id: 'call_1', name: 'order_find' },
            ],
          }
        : { text: 'ok' },
    );
    const first = await models().complete(scope, settings('openai/gpt-4.1'), request(hello));
    if (!first.ok) throw new Error(first.detail);
    const { toolCalls, text, raw } = first.reply;
    expect(new Set(toolCalls.map(({ id }) => id)).size).toBe(2);
    const results: ModelMessage[] = toolCalls.map((call) => ({
      role: 'tool',
      toolCallId: call.id,
      name: call.name,
      content: 'x',
      isError: false,
    }));
    expect(
      await models().complete(
        scope,
        settings('openai/gpt-4.1'),
        request([...hello, { role: 'assistant', content: text, toolCalls, raw }, ...results]),
      ),
    ).toMatchObject({ ok: true });
  });

  it('sends the settings to the provider', async () => {
    const chosen = await models().settings(scope, {
      model: 'openai/gpt-5-mini',
      maxTokens: 100,
      reasoning: 'low',
      fallbacks: ['ollama/x'],
    });
    expect(chosen.candidates).toEqual(['openai/gpt-5-mini', 'ollama/x']);
    await models().complete(scope, chosen, request(hello));
    expect(server.requests[0]!.body).toMatchObject({
      max_completion_tokens: 100,
      reasoning_effort: 'low',
    });
    expect((await models().settings(scope, undefined)).candidates).toEqual(['openai/gpt-5-mini']);
  });

  it("prefers the organization's own key", async () => {
    const organizationKeys = async () => ({
      openai: { apiKey: 'their-own', baseUrl: server.urls.openai },
    });
    await models({ organizationKeys }).complete(scope, settings('openai/x'), request(hello));
    expect(server.requests[0]!.headers.authorization).toBe('Bearer their-own');
  });
});

describe('the offline model', () => {
  const offline = createModels({ environment: {}, log });
  it('answers when no provider is configured, and calls the tool that a message names', async () => {
    const chosen = await offline.settings(scope, 'openai/gpt-5-mini');
    expect(chosen.candidates).toEqual(['offline/scripted']);
    expect(await offline.complete(scope, chosen, request(hello))).toMatchObject({
      ok: true,
      reply: { text: expect.stringContaining('OPENAI_API_KEY') },
    });
    const command: ModelMessage[] = [{ role: 'user', content: '/tool order.find {"id":"a"}' }];
    const called = await offline.complete(scope, chosen, request(command));
    expect(called).toMatchObject({
      ok: true,
      reply: { text: '', toolCalls: [{ name: 'order.find', args: { id: 'a' } }] },
    });
    const broken = await offline.complete(
      scope,
      chosen,
      request([{ role: 'user', content: '/tool order.find {"id"' }]),
    );
    expect(broken).toMatchObject({
      ok: true,
      reply: { toolCalls: [{ name: 'order.find', problem: expect.stringContaining('{"id"') }] },
    });
    const answer = await offline.complete(
      scope,
      chosen,
      request([
        ...command,
        { role: 'assistant', content: '', toolCalls: [{ id: 'x', name: 'order.find', args: {} }] },
        {
          role: 'tool',
          toolCallId: 'x',
          name: 'order.find',
          content: '{"total":5}',
          isError: false,
        },
      ]),
    );
    expect(answer).toMatchObject({ ok: true, reply: { text: 'order.find returned: {"total":5}' } });
  });

  it('answers on a channel in production only when the agent names it', async () => {
    const live = { ...scope, environment: 'production' as const };
    const command = request([{ role: 'user', content: '/tool order.find {"id":"a"}' }]);
    const ask = async (...asked: Parameters<typeof offline.settings>) =>
      offline.complete(asked[0], await offline.settings(...asked), command);
    const refused = { ok: false, model: 'openai/gpt-5-mini', reason: 'not_configured' };
    expect(await ask(live, undefined, 'whatsapp')).toMatchObject(refused);
    expect(await ask(live, 'openai/gpt-5-mini', 'whatsapp')).toMatchObject(refused);
    const acts = {
      ok: true,
      model: 'offline/scripted',
      reply: { toolCalls: [{ name: 'order.find' }] },
    };
    expect(await ask(live, 'offline/scripted', 'whatsapp')).toMatchObject(acts);
    expect(await ask(live, undefined, 'api')).toMatchObject(acts);
    expect(await ask(scope, undefined, 'whatsapp')).toMatchObject(acts);
  });
});

it('sends no traces to third parties, regardless of the environment variables', async () => {
  let visits = 0;
  const collector = createServer((_request, response) => {
    visits += 1;
    response.end('{}');
  }).listen(0, '127.0.0.1');
  await once(collector, 'listening');
  const address = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
  const before = { ...process.env };
  Object.assign(process.env, {
    LANGSMITH_TRACING: 'true',
    LANGSMITH_TRACING_V2: 'true',
    LANGCHAIN_TRACING_V2: 'true',
    LANGSMITH_ENDPOINT: address,
    LANGCHAIN_ENDPOINT: address,
    LANGSMITH_API_KEY: 'ls-key',
    LANGCHAIN_API_KEY: 'ls-key',
    LANGSMITH_GATEWAY: address,
  });
  try {
    for (const model of ['openai/x', 'anthropic/x', 'google/x', 'ollama/x']) {
      expect(await models().complete(scope, settings(model), request(hello))).toMatchObject({
        ok: true,
      });
    }
    // wall clock: a trace would be sent after the answer, and nothing shows that none comes.
    await sleep(500);
    expect({ visits, models: server.requests.length }).toEqual({ visits: 0, models: 4 });
  } finally {
    process.env = before;
    collector.closeAllConnections();
    collector.close();
  }
});
