import { type ChannelMessage, type Message, lastIdOf, timelineOf } from './timeline';

const minuteMs = 60_000;

const message = (id: string, at: number, changes: Partial<Message> = {}): Message => ({
  id,
  executionId: `execution of ${id}`,
  role: 'user',
  author: null,
  content: id,
  toolCallIds: [],
  channelMessageId: null,
  delivery: null,
  createdAt: at,
  ...changes,
});
const reply = (id: string, at: number, changes: Partial<Message> = {}): Message =>
  message(id, at, { role: 'assistant', executionId: 'turn', ...changes });
const delivered = (id: string) => ({ id, status: 'delivered', error: null });

const sent = (id: string, at: number, changes: Partial<ChannelMessage> = {}): ChannelMessage =>
  ({
    id,
    messageId: null,
    direction: 'outbound',
    threadId: 'thread',
    type: 'text',
    text: id,
    media: null,
    status: 'delivered',
    createdAt: at,
    ...changes,
  }) as ChannelMessage;
const media = { contentType: 'image/png' } as unknown as ChannelMessage['media'];

const all = { fromMs: 0, toMs: Infinity };
const shown = (messages: Message[], others: ChannelMessage[], range = all): string[] =>
  timelineOf(messages, others, range).map(
    (entry) => `${entry.kind} ${entry.id.replace('steps ', '')}`,
  );

test('an empty conversation has no entries', () => {
  expect(shown([], [])).toEqual([]);
});

test('messages of the thread and of the channel are in the order of their times', () => {
  expect(
    shown([message('a', 10), message('b', 30)], [sent('x', 5), sent('y', 20), sent('z', 40)]),
  ).toEqual(['sent x', 'message a', 'sent y', 'message b', 'sent z']);
});

test('of two at the same time the message of the thread comes first', () => {
  expect(shown([message('a', 10)], [sent('x', 10)])).toEqual(['message a', 'sent x']);
});

test('a message is shown with that of the channel which it came with, and only there', () => {
  const entries = timelineOf(
    [message('a', 10, { channelMessageId: 'x' }), reply('b', 20, { delivery: delivered('y') })],
    [sent('x', 9, { direction: 'inbound' }), sent('y', 21)],
    all,
  );
  expect(entries).toMatchObject([
    { kind: 'message', id: 'a', sent: { id: 'x' } },
    { kind: 'steps', toolCalls: 0 },
    { kind: 'message', id: 'b', sent: { id: 'y' } },
  ]);
});

test('a picture without a text is shown, and a message without both is not', () => {
  const picture = message('a', 10, { content: '', channelMessageId: 'x' });
  expect(shown([picture], [sent('x', 10, { direction: 'inbound', media })])).toEqual(['message a']);
  expect(shown([picture], [sent('x', 10, { direction: 'inbound', text: '' })])).toEqual([]);
  expect(shown([message('a', 10, { content: '' })], [])).toEqual([]);
});

test('a message of the contact that the agent was asked to answer again is an entry of its own', () => {
  const messages = [
    message('a', 10, { channelMessageId: 'x' }),
    message('b', 20, { channelMessageId: 'x' }),
  ];
  expect(shown(messages, [])).toEqual(['message a', 'again b']);
});

test('the tool calls of an execution are counted at its first message, those of people are not', () => {
  const person = { type: 'person' as const, id: 'p', name: 'Ana' };
  const messages = [
    reply('a', 10, { content: '', toolCallIds: ['1', '2'] }),
    reply('b', 20, { toolCallIds: ['3'] }),
    reply('c', 30, { author: person, executionId: 'other', toolCallIds: ['4'] }),
  ];
  expect(timelineOf(messages, [], all)).toMatchObject([
    { kind: 'steps', at: 10, executionId: 'turn', toolCalls: 3 },
    { kind: 'message', id: 'b' },
    { kind: 'message', id: 'c' },
  ]);
});

describe('a message of the channel that the thread has in another form', () => {
  const long = reply('r', 100_000, { content: 'Part one. Part two.', delivery: delivered('last') });
  test.each([
    ['a part of a long reply', sent('x', 100_000, { text: ' Part one. ' })],
    [
      'a part that was sent just within ten minutes',
      sent('x', 100_000 + 10 * minuteMs - 1, { text: 'Part two.' }),
    ],
  ])('is left out: %s', (_name, one) => {
    expect(shown([long], [one])).toEqual(['steps r', 'message r']);
  });
  test.each([
    ['another text', sent('x', 100_001, { text: 'Part three.' })],
    ['the same words an hour later', sent('x', 100_000 + 10 * minuteMs, { text: 'Part one.' })],
    ['a file without a caption', sent('x', 100_001, { text: null, type: 'image', media })],
    ['a file with an empty caption', sent('x', 100_001, { text: '', type: 'image', media })],
    ['a file with a blank caption', sent('x', 100_001, { text: ' \n', type: 'image', media })],
  ])('is shown: %s', (_name, one) => {
    expect(shown([long], [one])).toEqual(['steps r', 'message r', 'sent x']);
  });

  test('a reply that is loaded before it is in the outbox is known by its whole text', () => {
    const early = reply('r', 100, { content: 'Hello ' });
    expect(shown([early], [sent('x', 200, { text: 'Hello' })])).toEqual(['steps r', 'message r']);
    expect(shown([early], [sent('x', 200, { text: 'Hell' })])).toEqual([
      'steps r',
      'message r',
      'sent x',
    ]);
  });

  test('a file that failed is replaced by the one that was sent again', () => {
    const again = reply('r', 100, { content: '[image]', delivery: delivered('new') });
    const failed = sent('x', 90, { text: null, type: 'image', media });
    expect(shown([again], [{ ...failed, status: 'failed' }])).toEqual(['steps r', 'message r']);
    expect(shown([again], [{ ...failed, status: 'unknown' }])).toEqual(['steps r', 'message r']);
    expect(shown([again], [{ ...failed, status: 'sent' }])).toEqual([
      'sent x',
      'steps r',
      'message r',
    ]);
  });

  test('texts of the contact that were answered together are in one message of the thread', () => {
    const text = sent('x', 10, { direction: 'inbound', status: 'answered' });
    expect(shown([], [text])).toEqual([]);
    expect(shown([], [{ ...text, status: 'received' }])).toEqual(['sent x']);
    expect(shown([], [{ ...text, media }])).toEqual(['sent x']);
    expect(shown([], [{ ...text, threadId: null }])).toEqual(['sent x']);
    expect(shown([], [{ ...text, text: null }])).toEqual(['sent x']);
  });
});

test('what only the channel has is left out where the thread is not loaded', () => {
  const others = [sent('a', 9), sent('b', 10), sent('c', 20), sent('d', 21)];
  expect(shown([], others, { fromMs: 10, toMs: 20 })).toEqual(['sent b', 'sent c']);
});

test('two messages of the thread keep their order when their clocks disagree', () => {
  expect(shown([message('a', 20), message('b', 10)], [sent('x', 15)])).toEqual([
    'sent x',
    'message a',
    'message b',
  ]);
});

test('the last message is the last one that the contact wrote or got', () => {
  const note = message('n', 4, { role: 'note' });
  const order = message('s', 5, { role: 'system' });
  expect(lastIdOf([message('a', 1), reply('b', 2), note, order])).toBe('b');
  expect(lastIdOf([message('a', 1), reply('b', 2, { content: '' })])).toBe('a');
  expect(lastIdOf([note])).toBeUndefined();
});
