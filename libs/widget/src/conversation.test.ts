import { Conversation } from './conversation';
import * as gateway from './testing/gateway';

interface Stored {
  id: string;
  executionId: string;
  from: 'visitor' | 'agent' | 'person';
  text: string;
  createdAt: number;
}

/** The thread of a visitor at the server. Tests change how it answers. */
interface Thread {
  messages: Stored[];
  /** The answer to the next messages of the visitor; without one they are stored. */
  refusals: (gateway.Answer | Promise<gateway.Answer> | 'lost after storing')[];
  /** The streams, one for each time that one is asked for; without one nothing is being written. */
  streams: (() => gateway.Answer | Promise<gateway.Answer>)[];
  status: 'queued' | 'stored';
  threadKey: string;
  /** The status of the lists. */
  listStatus: number;
  isStale: boolean;
}

let thread: Thread;
let sent: gateway.Sent[];
let conversation: Conversation;

beforeEach(() => {
  gateway.openStorage();
  gateway.holdClock();
  jest.spyOn(console, 'warn').mockImplementation(() => undefined);
  Object.assign(document, { visibilityState: 'visible' });
  thread = {
    messages: [],
    refusals: [],
    streams: [],
    status: 'queued',
    threadKey: 'thread_1',
    listStatus: 200,
    isStale: false,
  };
  sent = gateway.openGateway(answer);
  conversation = new Conversation(gateway.settings, () => undefined);
  conversation.isVisible = true;
});
afterEach(() => {
  conversation.close();
  jest.useRealTimers();
  jest.restoreAllMocks();
});

function answer({
  path,
  method,
  query,
  body,
  key,
  token,
}: gateway.Sent): gateway.Answer | Promise<gateway.Answer> {
  if (path.endsWith('/sessions')) {
    thread.isStale = false;
    return gateway.session(`token of ${thread.threadKey}`, 'visitor_1', thread.threadKey);
  }
  if (thread.isStale) return gateway.json({ error: 'Expired' }, 401);
  if (token !== `Bearer token of ${thread.threadKey}`)
    return gateway.json({ error: 'Unknown' }, 401);
  if (path.endsWith('/stream')) return thread.streams.shift()?.() ?? gateway.noStream();
  if (method === 'POST') return receive(String(body!.message), key!);
  return thread.listStatus === 200
    ? list(query.cursor)
    : gateway.json({ error: 'Refused' }, thread.listStatus);
}

function receive(text: string, key: string): gateway.Answer | Promise<gateway.Answer> {
  const refusal = thread.refusals.shift();
  if (refusal !== undefined && refusal !== 'lost after storing') return refusal;
  const known = thread.messages.find(({ id }) => id === key);
  if (!known) add('visitor', text, { id: key, executionId: `turn of ${text}` });
  if (refusal !== undefined) return gateway.json({ error: 'Bad gateway' }, 502);
  return gateway.json({ status: thread.status, executionId: `turn of ${known?.text ?? text}` });
}

const add = (from: Stored['from'], text: string, changes: Partial<Stored> = {}) =>
  void thread.messages.push({
    id: `m${thread.messages.length}`,
    executionId: '',
    from,
    text,
    createdAt: Date.now(),
    ...changes,
  });

/**
 * Newest first, 50 at once, from the cursor on, which is the place of the oldest message before.
 */
function list(cursor: string | undefined): Response {
  const end = cursor === undefined ? thread.messages.length : Number(cursor);
  const begin = Math.max(0, end - 50);
  const data = thread.messages.slice(begin, end).toReversed();
  return gateway.json({ data, cursor: String(begin), hasMore: begin > 0 });
}

const shown = () =>
  conversation.entries.map(({ from, text, state }) =>
    [from, text, state].filter(Boolean).join(' '),
  );
const posts = () =>
  sent.filter(({ method, path }) => method === 'POST' && path.endsWith('/messages'));
const lists = () =>
  sent.filter(({ method, path }) => method === 'GET' && path.endsWith('/messages')).length;
const start = async () => {
  void conversation.start();
  await gateway.settle();
};
const say = async (text: string) => {
  conversation.send(text);
  await gateway.settle();
};
const agent = (...texts: string[]) =>
  texts.map((delta) => ({ type: 'text-delta', id: '1', delta }));
/** A stream that answers with a text, and stores it at the end. */
const answering = (text: string) => () => {
  add('agent', text);
  return gateway.streamOf(
    { type: 'start', messageId: 'x' },
    { type: 'start-step' },
    ...agent(text),
    {
      type: 'finish',
    },
  );
};

test('a new thread is empty', async () => {
  await start();
  expect(shown()).toEqual([]);
  expect(conversation).toMatchObject({
    isAnswering: false,
    hasEarlier: false,
    hasFailed: false,
    isRefused: false,
  });
});

test('a thread is read, oldest first, and its earlier messages by pages', async () => {
  for (let at = 0; at < 120; at += 1) add(at % 2 === 0 ? 'visitor' : 'agent', `text ${at}`);
  await start();
  expect(shown()).toHaveLength(50);
  expect(shown()[49]).toBe('agent text 119');
  expect(conversation.hasEarlier).toBe(true);
  await conversation.readEarlier();
  await conversation.readEarlier();
  expect(shown()).toHaveLength(120);
  expect(shown()[0]).toBe('visitor text 0');
  expect(conversation.hasEarlier).toBe(false);
});

test('a message is sent without the blanks around it, and its answer follows', async () => {
  await start();
  thread.streams = [answering('Hello!')];
  conversation.send('  Hi "you"\n👋 ');
  expect(shown()).toEqual(['visitor Hi "you"\n👋 sending']);
  await gateway.settle();
  expect(posts()[0]!.body).toEqual({ message: 'Hi "you"\n👋' });
  expect(shown()).toEqual(['visitor Hi "you"\n👋', 'agent Hello!']);
  expect(conversation).toMatchObject({ isAnswering: false, hasFailed: false });
});

test('an answer is shown while it is written, in its steps, and a step that begins again is empty', async () => {
  await start();
  const written: string[][] = [];
  const chunks = [
    { type: 'start', messageId: 'x' },
    { type: 'start-step' },
    ...agent('One'),
    { type: 'start-step' },
    ...agent('Tw', 'o'),
    { type: 'reset-step' },
    ...agent('Three'),
  ];
  thread.streams = [() => gateway.streamOf(...chunks)];
  conversation.close();
  conversation = new Conversation(gateway.settings, () => written.push(shown()));
  await say('Hi');
  expect(written).toContainEqual(['visitor Hi', 'agent One']);
  expect(written).toContainEqual(['visitor Hi', 'agent One', 'agent Two']);
  expect(written).toContainEqual(['visitor Hi', 'agent One', 'agent Three']);
  // Nothing of it was stored, so nothing of it stays.
  expect(shown()).toEqual(['visitor Hi']);
});

test('messages that are written fast are sent one after the other, in order', async () => {
  await start();
  for (const text of ['one', 'two', 'three']) conversation.send(text);
  await gateway.settle();
  expect(posts().map(({ body }) => body!.message)).toEqual(['one', 'two', 'three']);
  expect(new Set(posts().map(({ key }) => key)).size).toBe(3);
  expect(shown()).toEqual(['visitor one', 'visitor two', 'visitor three']);
});

test('a message that is refused stays, and is sent again with its key', async () => {
  await start();
  thread.refusals = [gateway.json({ error: 'Too long' }, 400)];
  await say('Hi');
  expect(shown()).toEqual(['visitor Hi failed']);
  conversation.retry(conversation.entries[0]);
  await gateway.settle();
  expect(shown()).toEqual(['visitor Hi']);
  expect(posts()[0]!.key).toBe(posts()[1]!.key);
  expect(thread.messages).toHaveLength(1);
});

test('a message whose answer was lost is shown once, when the list has it', async () => {
  await start();
  thread.refusals = ['lost after storing'];
  await say('Hi');
  expect(shown()).toEqual(['visitor Hi failed']);
  await start();
  expect(shown()).toEqual(['visitor Hi']);
});

test('a message that the list has before its answer comes is shown once', async () => {
  await start();
  let respond = () => {};
  thread.refusals = [
    new Promise<gateway.Answer>((resolve) => {
      respond = () => resolve(gateway.json({ status: 'queued', executionId: 'turn of Hi' }));
    }),
  ];
  await say('Hi');
  add('visitor', 'Hi', { executionId: 'turn of Hi' });
  await start();
  respond();
  await gateway.settle();
  expect(shown()).toEqual(['visitor Hi']);
});

test('the same text from long before is another message', async () => {
  await start();
  thread.refusals = [gateway.json({ error: 'Refused' }, 400)];
  await say('Hi');
  add('visitor', 'Hi', { createdAt: Date.now() - 61_000 });
  await start();
  expect(shown().toSorted()).toEqual(['visitor Hi', 'visitor Hi failed']);
});

test('the clock of a visitor may differ from that of the server by a minute', async () => {
  await start();
  thread.refusals = [gateway.json({ error: 'Refused' }, 400)];
  await say('Hi');
  add('visitor', 'Hi', { createdAt: Date.now() - 59_000 });
  await start();
  expect(shown()).toEqual(['visitor Hi']);
});

test('a turn that ends without an answer has failed, and its message can be sent again', async () => {
  await start();
  thread.streams = [
    () => gateway.streamOf({ type: 'start', messageId: 'x' }, { type: 'error', errorText: 'x' }),
  ];
  await say('Hi');
  expect(conversation.hasFailed).toBe(true);
  thread.streams = [answering('Hello!')];
  conversation.retry();
  expect(conversation.hasFailed).toBe(false);
  await gateway.settle();
  expect(shown()).toEqual(['visitor Hi', 'visitor Hi', 'agent Hello!']);
  expect(posts()[0]!.key).not.toBe(posts()[1]!.key);
});

test('a message that a person answers waits for no agent', async () => {
  await start();
  thread.status = 'stored';
  await say('Hi');
  expect(conversation).toMatchObject({ isWithPerson: true, isAnswering: false, hasFailed: false });
  expect(shown()).toEqual(['visitor Hi']);
  add('person', 'Ana here');
  await gateway.passTime(10_000);
  expect(shown()).toEqual(['visitor Hi', 'person Ana here']);
});

test('an agent that hands over says so at its end', async () => {
  await start();
  thread.streams = [
    () =>
      gateway.streamOf(
        { type: 'start', messageId: 'x' },
        { type: 'finish', finishReason: 'other' },
      ),
  ];
  await say('Hi');
  expect(conversation).toMatchObject({ isWithPerson: true, hasFailed: false });
});

test('a page that is opened while an agent writes follows the rest', async () => {
  add('visitor', 'Hi');
  thread.streams = [answering('Hello!')];
  await start();
  expect(shown()).toEqual(['visitor Hi', 'agent Hello!']);
});

test('the log is read every 10 s while it is seen, and every minute while it is not', async () => {
  await start();
  const atStart = lists();
  await gateway.passTime(10_000);
  expect(lists()).toBe(atStart + 1);
  Object.assign(document, { visibilityState: 'hidden' });
  // The wait that has begun ends first.
  await gateway.passTime(10_000);
  const whenHidden = lists();
  await gateway.passTime(59_999);
  expect(lists()).toBe(whenHidden);
  await gateway.passTime(1);
  expect(lists()).toBe(whenHidden + 1);
});

test('a chat without a message for half an hour is read no more until it is opened again', async () => {
  await start();
  for (let minute = 0; minute < 31; minute += 1)
    for (let times = 0; times < 6; times += 1) await gateway.passTime(10_000);
  const idle = lists();
  await gateway.passTime(3_600_000);
  expect(lists()).toBe(idle);
  await start();
  await gateway.passTime(10_000);
  expect(lists()).toBe(idle + 2);
}, 60_000);

test.each([401, 403])(
  'a key that the gateway refuses with %i is reported, until it is accepted',
  async (status) => {
    thread.listStatus = status;
    await start();
    expect(conversation.isRefused).toBe(true);
    thread.listStatus = 200;
    await gateway.passTime(10_000);
    expect(conversation.isRefused).toBe(false);
  },
);

test('a visitor who signs in on the site gets the thread of that account, without what was written before', async () => {
  await start();
  await say('before');
  thread.messages = [];
  add('agent', 'Welcome back');
  thread.threadKey = 'thread_2';
  thread.isStale = true;
  await start();
  expect(shown()).toEqual(['agent Welcome back']);
});

test('a message that was written to another thread is not sent to this one', async () => {
  await start();
  thread.threadKey = 'thread_2';
  thread.isStale = true;
  await say('for thread 1');
  expect(thread.messages).toEqual([]);
  expect(shown()).toEqual([]);
});

test('a chat that was closed asks for nothing', async () => {
  await start();
  conversation.close();
  const before = sent.length;
  await gateway.passTime(3_600_000);
  expect(sent).toHaveLength(before);
});
