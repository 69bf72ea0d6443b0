import { type ModelServer, startModelServer } from './model-server';
import type { ModelServerReply, ModelServerRequest } from './protocol';
import { type Quirk, quirks, quirksOf } from './quirks';

type ProtocolName = ModelServerRequest['protocol'];

const protocols = ['openai', 'anthropic', 'google', 'ollama'] as const;
const ways = ['whole', 'streamed'] as const;
type Way = (typeof ways)[number];

let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.stop());
afterEach(() => {
  expect(server.problems).toEqual([]);
  server.requests.length = 0;
});

const pathOf = (protocol: ProtocolName, way: Way): string =>
  ({
    openai: '/chat/completions',
    anthropic: '/v1/messages',
    google: `/v1beta/models/m:${way === 'streamed' ? 'streamGenerateContent' : 'generateContent'}`,
    ollama: '/api/chat',
  })[protocol];

const headers = {
  'content-type': 'application/json',
  authorization: 'Bearer k',
  'x-api-key': 'k',
  'anthropic-version': '2023-06-01',
  'x-goog-api-key': 'k',
};

function bodyOf(protocol: ProtocolName, way: Way, text: string): object {
  if (protocol === 'google') return { contents: [{ role: 'user', parts: [{ text }] }] };
  return {
    model: 'm',
    max_tokens: 100,
    messages: [{ role: 'user', content: text }],
    stream: way === 'streamed',
  };
}

const post = (protocol: ProtocolName, way: Way, body: object) =>
  fetch(server.urls[protocol] + pathOf(protocol, way), {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  });

interface Received {
  status: number;
  type: string | null;
  text: string;
}

async function ask(
  protocol: ProtocolName,
  way: Way,
  reply: ModelServerReply,
  text = 'Hello',
): Promise<Received> {
  server.play(() => reply);
  const response = await post(protocol, way, bodyOf(protocol, way, text));
  return {
    status: response.status,
    type: response.headers.get('content-type'),
    text: await response.text(),
  };
}

/** The JSON documents of the events of a stream. */
const eventsOf = ({ text }: Received): unknown[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice('data: '.length)) as unknown);

/** What was received without what differs in each answer: ids and times. */
const comparable = ({ text, type }: Received): string =>
  type +
  text.replaceAll(
    /(chatcmpl-|call_|msg_|toolu_|resp)[0-9a-z]{6}"|"created":\d+|"created_at":"[^"]+"/g,
    '$1',
  );

const reply: ModelServerReply = {
  text: 'The price is 100 €.',
  toolCalls: [
    { name: 'pay', args: { amount: 1 } },
    { name: 'pay', args: { amount: 2 } },
  ],
};
const answered = async (protocol: ProtocolName, way: Way, given: Quirk[]): Promise<string> =>
  comparable(await ask(protocol, way, { ...reply, quirks: given }));

/** Their answers have the usual bytes, in other writes. */
const ofWrites: Quirk[] = ['small_chunks', 'byte_chunks'];
const rows = protocols.flatMap((protocol) =>
  (Object.keys(quirks) as Quirk[]).map((quirk) => [protocol, quirk] as const),
);

test.each(rows)('%s: %s changes an answer if it has a meaning there', async (protocol, quirk) => {
  const changes = [];
  for (const way of ways) {
    const [usual, odd] = [
      await answered(protocol, way, []),
      await answered(protocol, way, [quirk]),
    ];
    changes.push(odd !== usual);
  }
  expect(changes.includes(true)).toBe(
    quirksOf(protocol).includes(quirk) && !ofWrites.includes(quirk),
  );
});

const amount = (value: number) =>
  expect.objectContaining({ function: { name: 'pay', arguments: { amount: value } } });

test('no_role: neither a message nor a delta has a role', async () => {
  const whole = await ask('openai', 'whole', { text: 'Hi', quirks: ['no_role'] });
  expect(JSON.parse(whole.text).choices[0].message).toEqual({ content: 'Hi', refusal: null });
  const [first] = eventsOf(await ask('openai', 'streamed', { text: 'Hi', quirks: ['no_role'] }));
  expect(first).toMatchObject({ choices: [{ delta: { content: '' } }] });
  expect(JSON.stringify(first)).not.toContain('role');
});

test('arguments_object: an object where there is a text, a text where there is an object', async () => {
  const whole = await ask('openai', 'whole', { ...reply, quirks: ['arguments_object'] });
  expect(JSON.parse(whole.text).choices[0].message.tool_calls).toEqual([amount(1), amount(2)]);
  const streamed = eventsOf(
    await ask('openai', 'streamed', { ...reply, quirks: ['arguments_object'] }),
  );
  expect(streamed).toContainEqual(
    expect.objectContaining({
      choices: [expect.objectContaining({ delta: { tool_calls: [amount(1)] } })],
    }),
  );
  const ollama = await ask('ollama', 'whole', { ...reply, quirks: ['arguments_object'] });
  expect(JSON.parse(ollama.text).message.tool_calls[0]).toEqual({
    function: { name: 'pay', arguments: '{"amount":1}' },
  });
});

test('think_tag: the text begins with thoughts', async () => {
  const text = '<think>\nThe secret discount is 30%.\n</think>\n\nHi';
  const whole = await ask('anthropic', 'whole', { text: 'Hi', quirks: ['think_tag'] });
  expect(JSON.parse(whole.text).content).toEqual([{ type: 'text', text }]);
  const events = eventsOf(await ask('openai', 'streamed', { text: 'Hi', quirks: ['think_tag'] }));
  const deltas = events.map(
    (event) => (event as { choices: { delta: { content?: string } }[] }).choices[0]?.delta,
  );
  expect(deltas.map((delta) => delta?.content ?? '').join('')).toBe(text);
});

test('many_calls: 200 calls with their own ids', async () => {
  const { text } = await ask('openai', 'whole', { ...reply, quirks: ['many_calls'] });
  const calls = JSON.parse(text).choices[0].message.tool_calls as {
    id: string;
    function: object;
  }[];
  expect(new Set(calls.map(({ id }) => id)).size).toBe(200);
  expect(calls[199]!.function).toEqual({ name: 'pay', arguments: '{"amount":2}' });
});

test.each(ways)('a call can be cut by the limit of tokens (%s)', async (way) => {
  const cut = { toolCalls: [{ name: 'pay', rawArgs: '{"amou' }] };
  const openai = await ask('openai', way, { ...cut, finish: 'length' });
  expect(openai.text).toContain('"finish_reason":"length"');
  const anthropic = await ask('anthropic', way, { ...cut, finish: 'max_tokens' });
  expect(anthropic.text).toContain('"stop_reason":"max_tokens"');
  if (way === 'whole') {
    expect(JSON.parse(openai.text).choices[0].message.tool_calls[0].function.arguments).toBe(
      '{"amou',
    );
    expect(JSON.parse(anthropic.text).content[0].input).toEqual({});
    return;
  }
  const deltas = eventsOf(anthropic).map(
    (event) => (event as { delta?: { partial_json?: string } }).delta,
  );
  expect(deltas.map((delta) => delta?.partial_json ?? '').join('')).toBe('{"amou');
});

test.each(protocols)('%s: a blank user message is refused', async (protocol) => {
  expect((await ask(protocol, 'whole', reply, ' \n')).status).toBe(400);
  expect(server.problems.splice(0)).toContain('message 0: blank user message');
});

test('demandsThoughts: calls of the turn come back with the thoughts', async () => {
  const call = { id: 'call_1', type: 'function', function: { name: 'pay', arguments: '{}' } };
  const asked = (thoughts?: string) => ({
    model: 'm',
    messages: [
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: null, tool_calls: [call], reasoning_content: thoughts },
      { role: 'tool', tool_call_id: 'call_1', content: 'paid' },
    ],
  });
  server.play(() => reply);
  expect((await post('openai', 'whole', asked())).status).toBe(200);
  server.demandsThoughts = true;
  const refused = await post('openai', 'whole', asked());
  expect([refused.status, await refused.text()]).toEqual([
    400,
    expect.stringContaining('must be passed back'),
  ]);
  expect((await post('openai', 'whole', asked('Let me see.'))).status).toBe(200);
  server.demandsThoughts = false;
});

test('the body of an error is sent as it is', async () => {
  const html = await ask('openai', 'whole', { status: 502, body: '<html>Bad gateway</html>' });
  expect(html).toEqual({ status: 502, type: 'text/html', text: '<html>Bad gateway</html>' });
  const json = await ask('openai', 'whole', { status: 400, body: '{"detail":"no"}' });
  expect(json).toEqual({ status: 400, type: 'application/json', text: '{"detail":"no"}' });
});
