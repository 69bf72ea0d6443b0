import {
  type ModelServer,
  type ModelServerReply,
  type Quirk,
  quirksOf,
  startModelServer,
} from '@parley/testing';
import { createModels } from './create-models';
import type { ModelMessage, ModelRequest, TextSink } from './model';
import { providersOfEnvironment } from './provider-keys';

const scope = { organizationId: 'org_1', tenant: 1, environment: 'development' as const };
const log = { info: () => {}, warn: () => {}, error: () => {} };

let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.stop());
beforeEach(() => {
  server.requests.length = 0;
});
afterEach(() => expect(server.problems).toEqual([]));

const models = () =>
  createModels({
    environment: providersOfEnvironment({
      OPENAI_API_KEY: 'k',
      OPENAI_BASE_URL: server.urls.openai,
      ANTHROPIC_API_KEY: 'k',
      ANTHROPIC_BASE_URL: server.urls.anthropic,
      GOOGLE_API_KEY: 'k',
      GOOGLE_BASE_URL: server.urls.google,
      OLLAMA_BASE_URL: server.urls.ollama,
    }),
    log,
    backoffMs: 1,
    timeoutMs: 5_000,
  });

const allModels = [
  'openai/gpt-4.1',
  'anthropic/claude-sonnet-4-5',
  'google/gemini-2.5-flash',
  'ollama/llama3.2:3b',
] as const;
const providers = ['openai', 'anthropic', 'google', 'ollama'] as const;
const openai = allModels.slice(0, 1);
const ways = ['whole', 'streamed'] as const;

const pay = { name: 'pay', description: 'Pays', parameters: { type: 'object', properties: {} } };
const hello: ModelMessage[] = [{ role: 'user', content: 'Hello' }];
const request = (messages = hello): ModelRequest => ({
  system: 'Be brief.',
  messages,
  tools: [pay],
  callId: (index) => `own${messages.length}x${index}`,
});

const tested = new Set<string>();
/** Asks a model once, and returns its result with what was shown while it was written. */
async function ask(
  model: string,
  way: (typeof ways)[number],
  reply: ModelServerReply,
  messages = hello,
) {
  for (const quirk of reply.quirks ?? []) tested.add(`${model.split('/')[0]} ${quirk}`);
  server.play(() => reply);
  let shown = '';
  const sink: TextSink = { begin: () => (shown = ''), write: (delta) => (shown += delta) };
  const options = way === 'streamed' ? { sink } : {};
  const result = await models().complete(
    scope,
    { candidates: [model] },
    request(messages),
    options,
  );
  return { result, shown: way === 'streamed' ? shown : undefined };
}

const text = 'The price is 100 €.';
const args = { amount: 12000 };
const payCall = { toolCalls: [{ name: 'pay', args }] };

const cross = <T>(rows: readonly T[], models: readonly string[] = allModels) =>
  models.flatMap((model) => ways.flatMap((way) => rows.map((row) => [row, model, way] as const)));

const ofText: Quirk[] = [
  'no_role',
  'empty_role',
  'null_role',
  'keepalive_before_role',
  'content_parts',
  'with_thoughts',
  'think_tag',
  'usage_huge',
  'usage_text',
  'usage_negative',
  'usage_missing',
  'ignores_stream',
  'streams_unasked',
  'text_plain',
  'crlf',
  'no_blank_lines',
  'comments',
  'small_chunks',
  'byte_chunks',
  'pretty_json',
  'content_null',
  'usage_null',
  'usage_in_choice',
  'no_done',
];
test.each(cross(ofText))(
  'a text is read with the quirk %s of %s, %s',
  async (quirk, model, way) => {
    const { result, shown } = await ask(model, way, { text, quirks: [quirk] });
    expect(result).toMatchObject({
      ok: true,
      reply: { text, finishReason: 'stop', toolCalls: [] },
    });
    if (way === 'streamed') expect(shown).toBe(text);
    expect(server.requests).toHaveLength(1);
  },
);

test.each(cross(['unopened_think_tag'] as Quirk[]))(
  '%s: the reply has no thoughts (%s, %s)',
  async (quirk, model, way) => {
    const { result } = await ask(model, way, { text, quirks: [quirk] });
    expect(result).toMatchObject({ ok: true, reply: { text } });
  },
);

const counted: [string, ModelServerReply['quirks']][] = [
  ['huge', ['usage_huge']],
  ['a text', ['usage_text']],
  ['negative', ['usage_negative']],
  ['absent', ['usage_missing']],
  ['null', ['usage_null']],
];
test.each(cross(counted))(
  'tokens that are %s count as none (%s, %s)',
  async ([, quirks], model, way) => {
    const { result } = await ask(model, way, { text, quirks, usage: { input: 12, output: 7 } });
    expect(result.ok && result.reply.usage).toEqual({
      inputTokens: 0,
      outputTokens: 0,
      totalTokens: 0,
    });
  },
);

test.each(cross(['usage']))(
  '%s: cached tokens are part of the input (%s, %s)',
  async (_, model, way) => {
    const usage = { input: 100, output: 7, cacheRead: 60, cacheWrite: 30 };
    const { result } = await ask(model, way, { text, usage });
    if (!result.ok) throw new Error(result.detail);
    expect(result.reply.usage).toMatchObject({
      inputTokens: 100,
      outputTokens: 7,
      totalTokens: 107,
    });
    if (!model.startsWith('ollama')) expect(result.reply.usage.cacheReadTokens).toBe(60);
    if (/^(openai|anthropic)/.test(model)) expect(result.reply.usage.cacheWriteTokens).toBe(30);
  },
);

const ofCalls: Quirk[] = [
  'call_id_null',
  'call_id_empty',
  'call_id_missing',
  'arguments_object',
  'calls_without_index',
  'legacy_function_call',
  'with_thoughts',
  'ignores_stream',
  'streams_unasked',
  'no_role',
  'empty_role',
  'null_role',
  'content_null',
  'call_ids_equal',
  'no_done',
  'pretty_json',
  'byte_chunks',
];
test.each(cross(ofCalls))(
  'a call is read and sent back with the quirk %s of %s, %s',
  async (quirk, model, way) => {
    const first = await ask(model, way, { ...payCall, quirks: [quirk] });
    expect(first.result).toMatchObject({ ok: true, reply: { toolCalls: [{ name: 'pay', args }] } });
    if (!first.result.ok) return;
    const { toolCalls, raw } = first.result.reply;
    expect(toolCalls[0]!.problem).toBeUndefined();
    const next: ModelMessage[] = [
      ...hello,
      { role: 'assistant', content: '', toolCalls, raw },
      { role: 'tool', toolCallId: toolCalls[0]!.id, name: 'pay', content: 'paid', isError: false },
    ];
    const second = await ask(model, way, { text }, next);
    expect(second.result).toMatchObject({ ok: true, reply: { text } });
    const sent = server.requests.at(-1)!.messages;
    expect(sent[1]).toMatchObject({ role: 'assistant', toolCalls: [{ name: 'pay', args }] });
  },
);

test.each(ways)(
  'thoughts of OpenAI-compatible servers go back with the calls of the turn (%s)',
  async (way) => {
    const { result } = await ask('openai/deepseek', way, { ...payCall, quirks: ['with_thoughts'] });
    if (!result.ok) throw new Error(result.detail);
    const { toolCalls, raw } = result.reply;
    await ask('openai/deepseek', way, { text }, [
      ...hello,
      { role: 'assistant', content: '', toolCalls, raw },
      { role: 'tool', toolCallId: toolCalls[0]!.id, name: 'pay', content: 'paid', isError: false },
    ]);
    const messages = server.requests.at(-1)!.body.messages as Record<string, unknown>[];
    expect(messages.find(({ role }) => role === 'assistant')).toMatchObject({
      reasoning_content: 'The secret discount is 30%.',
    });
  },
);

const withoutArguments: Quirk[] = [
  'arguments_null',
  'arguments_empty',
  'arguments_blank',
  'arguments_null_text',
  'arguments_missing',
];
test.each(cross(withoutArguments))(
  'no arguments are {} with the quirk %s of %s, %s',
  async (quirk, model, way) => {
    const { result } = await ask(model, way, {
      toolCalls: [{ name: 'pay', args: {} }],
      quirks: [quirk],
    });
    expect(result).toMatchObject({ ok: true, reply: { toolCalls: [{ name: 'pay', args: {} }] } });
    expect(result.ok && result.reply.toolCalls[0]!.problem).toBeUndefined();
  },
);

const broken: [string, ModelServerReply, RegExp][] = [
  ['no function', { ...payCall, quirks: ['call_without_function'] }, /names no tool/],
  [
    'incomplete arguments',
    { toolCalls: [{ name: 'pay', rawArgs: '{"amount":1200' }] },
    /not a JSON object: \{"amount/,
  ],
  ['a list', { toolCalls: [{ name: 'pay', rawArgs: '[1]' }] }, /not a JSON object/],
  ['a text', { toolCalls: [{ name: 'pay', rawArgs: '"{}"' }] }, /not a JSON object/],
];
test.each(cross(['call_without_name'] as Quirk[]))(
  '%s is a fault that the model sees (%s, %s)',
  async (quirk, model, way) => {
    const { result } = await ask(model, way, { ...payCall, quirks: [quirk] });
    const problem = 'The call names no tool';
    expect(result).toMatchObject({
      ok: true,
      reply: { toolCalls: [{ name: 'unnamed', args: {}, problem }] },
    });
  },
);
test.each(cross(broken, openai))(
  'a call with %j is a fault that the model sees',
  async ([, reply, problem], model, way) => {
    const { result } = await ask(model, way, reply);
    expect(result).toMatchObject({
      ok: true,
      reply: { toolCalls: [{ args: {}, problem: expect.stringMatching(problem) }] },
    });
  },
);

/** The words of the four providers, in the order of `allModels`. */
const ends: [string, string, [string, string, string, string]][] = [
  ['length', 'length', ['length', 'max_tokens', 'MAX_TOKENS', 'length']],
  ['content_filter', 'content_filter', ['content_filter', '', 'SAFETY', '']],
  ['refusal', 'refusal', ['', 'refusal', '', '']],
  ['error', 'error', ['error', '', 'OTHER', 'unload']],
];
const endsOfModels = ends.flatMap(([name, finishReason, words]) =>
  words.flatMap((finish, at) =>
    finish === ''
      ? []
      : ways.map((way) => [name, finishReason, finish, allModels[at]!, way] as const),
  ),
);
test.each(endsOfModels)(
  '%s: a text that was cut is marked %s (%s, %s, %s)',
  async (_, finishReason, finish, model, way) => {
    const { result } = await ask(model, way, { text, finish });
    expect(result).toMatchObject({ ok: true, reply: { text, finishReason } });
  },
);
test.each(endsOfModels)(
  '%s: without a text it is a failure (%s, %s, %s, %s)',
  async (name, _, finish, model, way) => {
    const { result } = await ask(model, way, { finish, usage: { input: 3, output: 2 } });
    expect(result).toMatchObject({
      ok: false,
      reason: name === 'error' ? 'empty_answer' : name,
      usage: { inputTokens: 6, outputTokens: 4 },
    });
    expect(server.requests).toHaveLength(2);
  },
);

test.each(cross(['thoughts_only', 'think_tag'] as Quirk[]))(
  '%s and no text is a failure (%s, %s)',
  async (quirk, model, way) => {
    const reply = quirk === 'think_tag' ? { quirks: [quirk] } : { text, quirks: [quirk] };
    const { result } = await ask(model, way, reply);
    expect(result).toMatchObject({ ok: false, reason: 'empty_answer' });
    expect(server.requests).toHaveLength(2);
  },
);

test.each(cross(['\n\n', '']))('%j is no answer (%s, %s)', async (blank, model, way) => {
  const { result } = await ask(model, way, { text: blank });
  expect(result).toMatchObject({ ok: false, reason: 'empty_answer' });
});

test.each(ways)('the text of a refusal is the answer (%s)', async (way) => {
  const { result, shown } = await ask('openai/gpt-4.1', way, { refusal: 'I cannot help.' });
  expect(result).toMatchObject({
    ok: true,
    reply: { text: 'I cannot help.', finishReason: 'refusal' },
  });
  if (way === 'streamed') expect(shown).toBe('I cannot help.');
});

test.each(ways)('a prompt that Gemini blocks is refused once, and no outage (%s)', async (way) => {
  const { result } = await ask('google/gemini-2.5-flash', way, {
    blockReason: 'PROHIBITED_CONTENT',
  });
  expect(result).toMatchObject({ ok: false, reason: 'content_filter' });
  expect(server.requests).toHaveLength(1);
});

test('blocked prompts and refusals of one conversation do not open the circuit for others', async () => {
  const shared = models();
  const complete = (model: string) => shared.complete(scope, { candidates: [model] }, request());
  server.play(() => ({ blockReason: 'SAFETY' }));
  for (let count = 0; count < 20; count += 1) await complete('google/gemini-2.5-flash');
  server.play(() => ({ status: 429, headers: { 'retry-after-ms': '1' } }));
  for (let count = 0; count < 10; count += 1) await complete('google/gemini-2.5-flash');
  server.play(() => ({ text }));
  expect(await complete('google/gemini-2.5-flash')).toMatchObject({ ok: true, reply: { text } });
});

test.each(cross(['error_in_answer'] as Quirk[]))(
  '%s is retried as its own status says (%s, %s)',
  async (quirk, model, way) => {
    const { result } = await ask(model, way, { text, quirks: [quirk] });
    expect(result).toMatchObject({
      ok: false,
      reason: 'unavailable',
      detail: expect.stringMatching(/down|overloaded|stopped/i),
    });
    expect(server.requests).toHaveLength(3);
  },
);

test.each(cross(['html', 'empty_body'] as Quirk[]))(
  '%s is no answer (%s, %s)',
  async (quirk, model, way) => {
    const { result } = await ask(model, way, { text, quirks: [quirk] });
    expect(result).toMatchObject({ ok: false, reason: 'unavailable' });
  },
);

test.each(cross(['huge_answer'] as Quirk[]))(
  '%s is refused once (%s, %s)',
  async (quirk, model, way) => {
    const { result } = await ask(model, way, { quirks: [quirk] });
    if (result.ok) expect(result.reply).toMatchObject({ finishReason: 'length' });
    else
      expect(result).toMatchObject({
        reason: 'rejected',
        detail: expect.stringContaining('larger than'),
      });
    expect(server.requests).toHaveLength(1);
  },
);

test.each(cross(['many_calls'] as Quirk[]))(
  '%s: 32 calls are read (%s, %s)',
  async (quirk, model, way) => {
    const { result } = await ask(model, way, { ...payCall, quirks: [quirk] });
    expect(result).toMatchObject({ ok: true, reply: { droppedCalls: 168 } });
    expect(result.ok && result.reply.toolCalls).toHaveLength(32);
  },
);

test.each(cross(['call_ids_equal'] as Quirk[]))(
  '%s: two calls stay two (%s, %s)',
  async (quirk, model, way) => {
    const two = [
      { name: 'pay', args },
      { name: 'pay', args: { amount: 7 } },
    ];
    const { result } = await ask(model, way, { toolCalls: two, quirks: [quirk] });
    if (!result.ok) throw new Error(result.detail);
    expect(result.reply.toolCalls.map((call) => call.args)).toEqual([args, { amount: 7 }]);
    expect(new Set(result.reply.raw!.callIds.values()).size).toBe(2);
  },
);

test.each(cross(['endless_text'] as Quirk[]))(
  '%s is cut at 1 MiB (%s, %s)',
  async (quirk, model, way) => {
    const { result } = await ask(model, way, { quirks: [quirk] });
    expect(result).toMatchObject({ ok: true, reply: { finishReason: 'length' } });
    expect(result.ok && result.reply.text.length).toBe(1024 * 1024);
  },
);

test.each(cross(['no_finish_reason'] as Quirk[]))(
  '%s: the end of the protocol is an end (%s, %s)',
  async (quirk, model, way) => {
    const { result } = await ask(model, way, { text, quirks: [quirk] });
    // A stream of Gemini has no other end, and may have been cut off.
    const isUnknown = model.startsWith('google') && way === 'streamed';
    if (isUnknown) return expect(result).toMatchObject({ ok: false, reason: 'unavailable' });
    expect(result).toMatchObject({ ok: true, reply: { text, finishReason: 'stop' } });
    expect(server.requests).toHaveLength(1);
  },
);

test('another candidate is asked after an answer without a text, and only then', async () => {
  server.play(({ model }) => (model === 'empty' ? { usage: { input: 5, output: 5 } } : { text }));
  const settings = { candidates: ['openai/empty', 'openai/full'] as [string, ...string[]] };
  expect(await models().complete(scope, settings, request())).toMatchObject({
    ok: true,
    model: 'openai/full',
    reply: { text, usage: { inputTokens: 15, outputTokens: 10 } },
  });
  expect(server.requests.map(({ model }) => model)).toEqual(['empty', 'full']);
});

test('half an answer is used when no candidate has a whole one', async () => {
  server.play(({ model }) =>
    model === 'half' ? { text: 'Your refund is', finish: 'error' } : { status: 400 },
  );
  const settings = { candidates: ['openai/half', 'openai/none'] as [string, ...string[]] };
  expect(await models().complete(scope, settings, request())).toMatchObject({
    ok: true,
    model: 'openai/half',
    reply: { text: 'Your refund is', finishReason: 'error' },
  });
});

test('each quirk of the server was tried', () => {
  const all = providers.flatMap((provider) =>
    quirksOf(provider).map((quirk) => `${provider} ${quirk}`),
  );
  expect(all.filter((one) => !tested.has(one))).toEqual([]);
});
