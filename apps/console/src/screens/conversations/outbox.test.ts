import { createManageClient } from '@parley/client/manage';
import { setLanguage } from '../../language';
import { type Answer, clientOf } from '../../testing/answers';
import { browserStorage } from '../../testing/browser-storage';
import { Outbox } from './outbox';

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'queueMicrotask', 'nextTick'] });
  Object.defineProperty(globalThis, 'localStorage', {
    value: browserStorage(),
    configurable: true,
  });
});
afterEach(() => jest.useRealTimers());

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
/** Until everything that needs no timer has happened. */
async function settle(): Promise<void> {
  for (let turns = 0; turns < 30; turns += 1) await turn();
}
const stored = (id: string): Answer => ({ body: { id } });

/** An outbox whose requests get these answers; after them, each is stored. */
function open(...answers: (Answer | Promise<Answer>)[]) {
  const { client, sent } = clientOf((_, index) => answers[index] ?? stored(`message_${index}`));
  const refresh = jest.fn(async () => undefined);
  const api = createManageClient(client);
  const outbox = new Outbox({ api, threadId: 'thread_1', storedAs: 'outbox.test', refresh });
  return { outbox, sent, refresh, bodies: () => sent.map(({ body }) => body) };
}
const reply = (text: string, lastMessageId?: string) =>
  ({ kind: 'reply', body: { text, lastMessageId }, shown: text }) as const;
const kept = () =>
  JSON.parse(localStorage.getItem('parley.outbox.test') ?? '[]') as { body: { text: string } }[];

test('replies and notes are sent in the order of writing, each with a key of its own', async () => {
  const { outbox, sent, refresh } = open();
  outbox.send(reply('one\n"two" 👋'));
  outbox.send({ kind: 'note', body: { text: 'for us' }, shown: 'for us' });
  await settle();
  expect(sent.map(({ url }) => new URL(url).pathname)).toEqual([
    '/v1/threads/thread_1/messages',
    '/v1/threads/thread_1/notes',
  ]);
  expect(sent.map(({ body }) => body)).toEqual([{ text: 'one\n"two" 👋' }, { text: 'for us' }]);
  expect(new Set(sent.map(({ key }) => key)).size).toBe(2);
  expect(refresh).toHaveBeenCalledTimes(2);
  expect(outbox.items()).toEqual([]);
  expect(localStorage.getItem('parley.outbox.test')).toBeNull();
});

test('what waits is kept by the browser, except for files', async () => {
  const { outbox } = open(new Promise(() => undefined));
  outbox.send(reply('text'));
  outbox.send({
    kind: 'reply',
    body: { file: { filename: 'a.png', data: 'AAAA' } },
    shown: 'a.png',
  });
  await settle();
  expect(outbox.items()).toHaveLength(2);
  expect(kept().map(({ body }) => body.text)).toEqual(['text']);
});

test('the next page sends what an earlier one has left, with the same key', async () => {
  const first = open(new Promise(() => undefined));
  first.outbox.send(reply('text'));
  await settle();
  const second = open();
  await second.outbox.run();
  expect(second.sent.map(({ key }) => key)).toEqual(first.sent.map(({ key }) => key));
  expect(kept()).toEqual([]);
});

test.each(['none', '{}', '[null, 4, {}, {"key": "a"}]', '[', ''])(
  'what another version has stored is left alone: %j',
  async (text) => {
    localStorage.setItem('parley.outbox.test', text);
    const { outbox, sent } = open();
    await outbox.run();
    expect(outbox.items()).toEqual([]);
    expect(sent).toEqual([]);
  },
);

test.each<[string, Answer]>([
  ['no answer', 'lost'],
  ['a server that is away', { status: 503 }],
  ['a bug of the server', { status: 500 }],
  ['a limit', { status: 429 }],
  ['the server is still busy with it', { status: 409, body: { code: 'idempotency_in_progress' } }],
])('after %s it is sent again until the server says, with the same key', async (_name, answer) => {
  const { outbox, sent } = open(answer, answer);
  outbox.send(reply('text'));
  await settle();
  expect(outbox.items()).toMatchObject([{ isDelayed: true, error: null }]);
  for (let tries = 0; tries < 2; tries += 1) {
    jest.advanceTimersByTime(3_000);
    await settle();
  }
  expect(sent).toHaveLength(3);
  expect(new Set(sent.map(({ key }) => key)).size).toBe(1);
  expect(outbox.items()).toEqual([]);
});

test('a refused item stays with its reason, and does not hold up the next one', async () => {
  setLanguage('es');
  const { outbox, bodies } = open({
    status: 409,
    body: { error: 'Changed', code: 'thread_changed' },
  });
  outbox.send(reply('one', 'm1'));
  outbox.send(reply('two', 'm1'));
  await settle();
  const error = 'Hay un mensaje más reciente en la conversación.';
  expect(outbox.items()).toMatchObject([{ shown: 'one', error, isChanged: true }]);
  expect(bodies()).toHaveLength(2);
  setLanguage('en');
});

test('a refused item is sent again as a new one, after the message that the person has seen now', async () => {
  const { outbox, sent } = open({ status: 400, body: { error: 'Refused' } });
  outbox.send(reply('one', 'm1'));
  await settle();
  outbox.again(outbox.items()[0]!.key, 'm2');
  await settle();
  expect(sent.map(({ body }) => body)).toEqual([
    { text: 'one', lastMessageId: 'm1' },
    { text: 'one', lastMessageId: 'm2' },
  ]);
  expect(sent[0]!.key).not.toBe(sent[1]!.key);
  expect(outbox.items()).toEqual([]);
});

test('a refused item that is given up is not sent again', async () => {
  const { outbox, sent } = open({ status: 400, body: { error: 'Refused' } });
  outbox.send(reply('one'));
  await settle();
  outbox.discard(outbox.items()[0]!.key);
  await outbox.run();
  expect(sent).toHaveLength(1);
  expect(kept()).toEqual([]);
});

test('the own replies that were stored in between are messages that the writer has seen', async () => {
  const { outbox, bodies } = open(stored('m2'), stored('m3'));
  outbox.send(reply('one', 'm1'));
  outbox.send(reply('two', 'm1'));
  outbox.send(reply('three', 'm1'));
  await settle();
  expect(bodies()).toEqual([
    { text: 'one', lastMessageId: 'm1' },
    { text: 'two', lastMessageId: 'm2' },
    { text: 'three', lastMessageId: 'm3' },
  ]);
});

test('an item that was tried keeps its body, because its key has one effect', async () => {
  const { outbox, bodies } = open('lost', { status: 400, body: { error: 'Refused' } });
  outbox.send(reply('one', 'm1'));
  await settle();
  jest.advanceTimersByTime(3_000);
  await settle();
  expect(bodies()).toEqual([
    { text: 'one', lastMessageId: 'm1' },
    { text: 'one', lastMessageId: 'm1' },
  ]);
});

test('without a session nothing is lost and nothing is repeated until the next sign-in', async () => {
  const { outbox, sent } = open({ status: 401 });
  outbox.send(reply('one'));
  await settle();
  jest.advanceTimersByTime(60_000);
  await settle();
  expect(sent).toHaveLength(1);
  expect(kept()).toHaveLength(1);
  await outbox.run();
  expect(sent).toHaveLength(2);
  expect(outbox.items()).toEqual([]);
});

test('an item that is stored is shown until the thread has it', async () => {
  let show = () => {};
  const { outbox, refresh } = open(stored('m2'));
  refresh.mockImplementation(() => new Promise((resolve) => (show = () => resolve(undefined))));
  outbox.send(reply('one'));
  await settle();
  expect(outbox.items()).toMatchObject([{ storedId: 'm2' }]);
  show();
  await settle();
  expect(outbox.items()).toEqual([]);
});
