import { check, findUnstorable } from '@parley/contracts';
import { completionBodySchema, toConversation } from './completion-body';

const user = (content: unknown) => ({ role: 'user', content });
const assistant = (rest: object) => ({ role: 'assistant', ...rest });
const text = (written: unknown) => ({ type: 'text', text: written });
const hello = user('Hello');
const read = (messages: unknown, rest: object = {}) =>
  check(completionBodySchema, { model: 'agent:a', messages, ...rest });

function conversationOf(messages: unknown[], rest: object = {}) {
  const checked = read([...messages, hello], rest);
  if (!checked.ok) throw new Error(JSON.stringify(checked.problems));
  return toConversation(checked.value);
}

/** The instructions, and the history as lines. */
function historyOf(messages: unknown[], rest: object = {}) {
  const { message, sent } = conversationOf(messages, rest);
  expect(message).toBe('Hello');
  return [
    sent.instructions,
    ...sent.history.map(({ role, content }) => `${role}: ${content}`),
  ].filter(Boolean);
}

const call = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } };
const histories: [string, unknown[], string[]][] = [
  ['content that is null', [user('a'), assistant({ content: null })], ['user: a']],
  ['content that is absent', [user('a'), assistant({})], ['user: a']],
  ['content without parts', [user('a'), assistant({ content: [] })], ['user: a']],
  ['a blank answer', [user('a'), assistant({ content: ' \n' })], ['user: a']],
  ['parts', [assistant({ content: [text('b'), text('c')] })], ['assistant: bc']],
  ['parts of the user', [user([text('a'), text('b')])], ['user: ab']],
  [
    'a part with a refusal',
    [assistant({ content: [{ type: 'refusal', refusal: 'No.' }] })],
    ['assistant: No.'],
  ],
  ['a refusal', [assistant({ content: null, refusal: 'No.' })], ['assistant: No.']],
  ['a refusal without parts', [assistant({ content: [], refusal: 'No.' })], ['assistant: No.']],
  [
    'a refusal with blank content',
    [assistant({ content: ' ', refusal: 'No.' })],
    ['assistant: No.'],
  ],
  ['a refusal with content', [assistant({ content: 'b', refusal: 'No.' })], ['assistant: b']],
  [
    'a refusal after a text',
    [assistant({ content: [text('b. '), { type: 'refusal', refusal: 'No.' }] })],
    ['assistant: b. No.'],
  ],
  ['no refusal', [assistant({ content: 'b', refusal: null })], ['assistant: b']],
  [
    'audio of an answer',
    [assistant({ content: [{ type: 'audio', data: 'x' }], audio: { id: 'a' } })],
    [],
  ],
  [
    'parts that are not text',
    [
      assistant({
        content: [
          { type: 'reasoning', text: 'Hm' },
          text('b'),
          { type: 'audio', text: 7, refusal: 8 },
        ],
      }),
    ],
    ['assistant: b'],
  ],
  [
    'parts of type text and refusal that are null',
    [assistant({ content: [text(null), { type: 'refusal' }] })],
    [],
  ],
  [
    'a text with a call of a tool',
    [assistant({ content: 'I look.', tool_calls: [call] })],
    ['assistant: I look.'],
  ],
  [
    'calls of tools and their results',
    [
      user('a'),
      assistant({ content: null, tool_calls: [call] }),
      { role: 'tool', tool_call_id: 'call_1', content: 'r' },
      assistant({ content: 'b', tool_calls: [] }),
    ],
    ['user: a', 'assistant: b'],
  ],
  [
    'a call of a function',
    [assistant({ content: null, function_call: {} }), { role: 'function', name: 'f' }],
    [],
  ],
  [
    'instructions without content',
    ['system', 'developer'].flatMap((role) => [
      { role },
      { role, content: null },
      { role, content: [] },
    ]),
    [],
  ],
  [
    'instructions in parts',
    [
      { role: 'system', content: [text('Be brief.')] },
      { role: 'developer', content: 'Be kind.' },
    ],
    ['Be brief.\n\nBe kind.'],
  ],
  ['messages of the user without content', [user(null), { role: 'user' }, user([])], []],
  [
    'other fields',
    [
      assistant({ content: 'b', name: 'n', audio: null, function_call: null, tool_calls: null }),
      assistant({ content: 'c', annotations: [], reasoning_content: 'Hm' }),
      { ...user('d'), name: 'n' },
    ],
    ['assistant: b', 'assistant: c', 'user: d'],
  ],
  [
    'keys of a prototype',
    [
      JSON.parse('{"role":"assistant","content":null,"__proto__":{"content":"x","refusal":"x"}}'),
      JSON.parse(
        '{"role":"assistant","content":[{"type":"text","text":"b","__proto__":{"text":"x"}}]}',
      ),
      JSON.parse(
        '{"role":"assistant","content":[{"type":"__proto__","text":"x"},{"type":"constructor"}]}',
      ),
    ],
    ['assistant: b'],
  ],
  ['nothing', [], []],
  ['an answer at the beginning', [assistant({ content: 'b' })], ['assistant: b']],
  ['messages of one role in a row', [user('a'), user('b')], ['user: a', 'user: b']],
  [
    'answers in a row',
    [user('a'), assistant({ content: 'b' }), assistant({ content: 'c' })],
    ['user: a', 'assistant: b', 'assistant: c'],
  ],
  [
    'only messages that are skipped',
    [{ role: 'system' }, assistant({}), { role: 'tool' }, user(null)],
    [],
  ],
  [
    '999 messages without content',
    Array.from({ length: 999 }, () => assistant({ content: null })),
    [],
  ],
];
test.each(histories)('%s is accepted', (_name, messages, expected) => {
  expect(historyOf(messages)).toEqual(expected);
});

test('a thread has the instructions, and no history of the request', () => {
  const messages = [
    { role: 'system', content: null },
    { role: 'developer', content: 'Be kind.' },
    user('a'),
  ];
  expect(conversationOf(messages, { metadata: { thread_id: 'thread_1' } })).toEqual({
    message: 'Hello',
    threadId: 'thread_1',
    sent: { instructions: 'Be kind.', history: [], isSingle: false },
  });
});

test('parts of the last message are its text', () => {
  const checked = read([user([text('a'), text('b')])]);
  expect(checked.ok && toConversation(checked.value).message).toBe('ab');
});

test('many parts are read', () => {
  const content = Array.from({ length: 100_000 }, () => text('x'));
  const written = 'x'.repeat(100_000);
  expect(historyOf([user(content), assistant({ content })])).toEqual([
    `user: ${written}`,
    `assistant: ${written}`,
  ]);
});

const ownContent =
  'messages.0.content must be a string or an array of parts of type "text"; other content is not supported';
const answerContent =
  'messages.0.content must be a string or an array of parts, each with a type; "text" and "refusal" must be strings';
const roles = 'must be "system", "developer", "user", "assistant" or "tool"';
const notUser = 'messages must end with a message of the user';
const afterTool = `${notUser}, not with a result of a tool: the tools of an agent run on the server`;
const blank = 'messages must end with a message that is not blank';
const image = { type: 'image_url', image_url: { url: 'https://example.com/a.png' } };
const many = (part: unknown) => Array.from({ length: 100_000 }, () => part);

const refused: [string, unknown, string][] = [
  ['an image', [user([image])], ownContent],
  ['an image after a text', [user([text('a'), image]), hello], ownContent],
  ['audio of the user', [user([{ type: 'input_audio', input_audio: {} }]), hello], ownContent],
  ['a file', [user([{ type: 'file', file: {} }]), hello], ownContent],
  ['a refusal of the user', [user([{ type: 'refusal', refusal: 'No.' }]), hello], ownContent],
  ['a number', [user(7)], ownContent],
  ['an object', [user({}), hello], ownContent],
  ['a part of the user that is null', [user([null]), hello], ownContent],
  ['a text of the user that is null', [user([text(null)]), hello], ownContent],
  ['instructions that are a number', [{ role: 'system', content: 7 }, hello], ownContent],
  ['instructions with an image', [{ role: 'developer', content: [image] }, hello], ownContent],
  ['many images', [user(many(image))], ownContent],
  ['an answer that is a number', [assistant({ content: 7 }), hello], answerContent],
  ['an answer that is an object', [assistant({ content: {} }), hello], answerContent],
  ['a part without a type', [assistant({ content: [{ text: 'a' }] }), hello], answerContent],
  ['a part that is a string', [assistant({ content: ['a'] }), hello], answerContent],
  ['a part whose type is a number', [assistant({ content: [{ type: 7 }] }), hello], answerContent],
  ['a text that is a number', [assistant({ content: [text(7)] }), hello], answerContent],
  [
    'a part with a refusal that is a number',
    [assistant({ content: [{ type: 'refusal', refusal: 7 }] })],
    answerContent,
  ],
  ['many numbers', [assistant({ content: many(7) }), hello], answerContent],
  [
    'a refusal that is a number',
    [assistant({ refusal: 7 }), hello],
    'messages.0.refusal must be a string',
  ],
  ['an unknown role', [{ role: 'critic', content: 'x' }, hello], `messages.0.role ${roles}`],
  [
    'a role of a prototype',
    [JSON.parse('{"__proto__":{"role":"user"}}'), hello],
    `messages.0.role ${roles}`,
  ],
  ['no role', [{ content: 'x' }, hello], `messages.0.role ${roles}`],
  ['a message that is no object', ['a', hello], 'messages.0 must be an object'],
  ['a message that is null', [null, hello], 'messages.0 must be an object'],
  ['an answer at the end', [hello, assistant({ content: 'b' })], notUser],
  ['an answer without content at the end', [hello, assistant({ content: null })], notUser],
  ['instructions at the end', [hello, { role: 'system', content: 'x' }], notUser],
  [
    'a result of a tool at the end',
    [hello, { role: 'tool', tool_call_id: 'call_1', content: 'r' }],
    afterTool,
  ],
  [
    'a result of a function at the end',
    [hello, { role: 'function', name: 'f', content: 'r' }],
    afterTool,
  ],
  ['a blank message at the end', [user('  ')], blank],
  ['null at the end', [user(null)], blank],
  ['no content at the end', [{ role: 'user' }], blank],
  ['no parts at the end', [user([])], blank],
  ['blank parts at the end', [user([text(' '), text('\n')])], blank],
  ['no messages', [], 'messages must not be empty'],
  ['messages that are no list', 'a', 'messages must be a list'],
  ['too many messages', many(assistant({})), 'messages must have at most 1000 items'],
];
test.each(refused)('%s is refused', (_name, messages, expected) => {
  const checked = read(messages);
  const problems = checked.ok ? [] : checked.problems;
  expect(problems.map(({ path, message }) => `${path} ${message}`)).toEqual([expected]);
});

// The service refuses them before the schema reads the body, in messages that are skipped too.
test.each([
  ['NUL', assistant({ content: [text('a\0')] }), '0.content.0.text'],
  ['half a surrogate pair', assistant({ content: null, refusal: '\ud83c' }), '0.refusal'],
  ['NUL in a result of a tool', { role: 'tool', content: '\0' }, '0.content'],
])('%s cannot be stored', (_name, message, path) => {
  expect(findUnstorable([message, hello])).toMatchObject({ path });
});
