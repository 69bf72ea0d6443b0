import { completionBodySchema, toConversation } from './completion-body';

const user = (content: unknown) => ({ role: 'user', content });
const assistant = (rest: object) => ({ role: 'assistant', ...rest });
const hello = user('Hello');
const read = (messages: unknown, rest: object = {}) =>
  completionBodySchema.safeParse({ model: 'agent:a', messages, ...rest });

function historyOf(messages: unknown[]) {
  const parsed = read([...messages, hello]);
  if (!parsed.success) throw new Error(JSON.stringify(parsed.error.issues));
  const { message, sent } = toConversation(parsed.data);
  expect(message).toBe('Hello');
  return [sent.instructions, ...sent.history.map(({ role, content }) => `${role}: ${content}`)].filter(Boolean);
}

const call = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } };
const histories: [string, unknown[], string[]][] = [
  ['content that is null', [user('a'), assistant({ content: null })], ['user: a']],
  ['content that is absent', [user('a'), assistant({})], ['user: a']],
  ['content without parts', [user('a'), assistant({ content: [] })], ['user: a']],
  ['a blank answer', [user('a'), assistant({ content: ' \n' })], ['user: a']],
  [
    'parts',
    [
      assistant({
        content: [
          { type: 'text', text: 'b' },
          { type: 'text', text: 'c' },
        ],
      }),
    ],
    ['assistant: bc'],
  ],
  ['a part with a refusal', [assistant({ content: [{ type: 'refusal', refusal: 'No.' }] })], ['assistant: No.']],
  ['a refusal', [assistant({ content: null, refusal: 'No.' })], ['assistant: No.']],
  ['no refusal', [assistant({ content: 'b', refusal: null })], ['assistant: b']],
  ['audio of an answer', [assistant({ content: [{ type: 'audio', data: 'x' }], audio: { id: 'a' } })], []],
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
  ['a call of a function', [assistant({ content: null, function_call: {} }), { role: 'function', name: 'f' }], []],
  ['instructions that are null', [{ role: 'system', content: null }, { role: 'developer' }], []],
  [
    'instructions in parts',
    [
      { role: 'system', content: [{ type: 'text', text: 'Be brief.' }] },
      { role: 'developer', content: 'Be kind.' },
    ],
    ['Be brief.\n\nBe kind.'],
  ],
  ['a message of the user that is null', [user(null), { role: 'user' }, user([])], []],
  [
    'other fields',
    [assistant({ content: 'b', name: 'n', annotations: [], reasoning_content: 'Hm' })],
    ['assistant: b'],
  ],
  ['a key of a prototype', [JSON.parse('{"role":"assistant","content":"b","__proto__":{"x":1}}')], ['assistant: b']],
  ['two messages of one role', [user('a'), user('b')], ['user: a', 'user: b']],
];
test.each(histories)('%s is accepted', (_name, messages, expected) => {
  expect(historyOf(messages)).toEqual(expected);
});

test('an answer of many parts is read', () => {
  const parts = Array.from({ length: 100_000 }, () => ({ type: 'text', text: 'x' }));
  expect(historyOf([assistant({ content: parts })])).toEqual([`assistant: ${'x'.repeat(100_000)}`]);
});

const image = { type: 'image_url', image_url: { url: 'https://example.com/a.png' } };
const refused: [string, unknown[], RegExp][] = [
  ['an image', [user([image])], /parts of type "text"/],
  ['a number', [user(7)], /must be a string or an array/],
  ['an answer that is a number', [assistant({ content: 7 }), hello], /must be a string or an array/],
  ['a part without a type', [assistant({ content: [{ text: 'a' }] }), hello], /must be a string or an array/],
  ['an unknown role', [{ role: 'critic', content: 'x' }, hello], /must be "system", "developer"/],
  ['a result of a tool at the end', [hello, { role: 'tool', content: 'r' }], /must end with a message of the user/],
  ['a blank message at the end', [user('  ')], /not blank/],
  ['a message without text at the end', [user(null)], /not blank/],
  ['a message that is no object', ['a'], /expected object|must be/],
];
test.each(refused)('%s is refused', (_name, messages, expected) => {
  const parsed = read(messages);
  expect(parsed.error?.issues.map(({ message }) => message).join()).toMatch(expected);
});
