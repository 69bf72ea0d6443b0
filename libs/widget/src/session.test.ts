import type { ParleyClient } from '@parley/client';
import { Session, type Settings } from './session';
import * as gateway from './testing/gateway';

let storage: Map<string, string>;
let warnings: string[];
beforeEach(() => {
  storage = gateway.openStorage();
  warnings = [];
  jest.spyOn(console, 'warn').mockImplementation((text) => void warnings.push(String(text)));
  Object.assign(navigator, { onLine: true });
  gateway.holdClock();
});
afterEach(() => {
  jest.useRealTimers();
  jest.restoreAllMocks();
});

function open(changes: Partial<Settings> = {}) {
  const onOther = jest.fn();
  const pauses: unknown[] = [];
  const session: Session = new Session(
    { ...gateway.settings, ...changes },
    () => pauses.push(session.pause),
    onOther,
  );
  return { session, onOther, pauses, read: () => session.run(readMessages(session)) };
}
const readMessages = (session: Session) => (client: ParleyClient) =>
  client.request<{ data: string }>({ ...session.to('messages'), method: 'GET' });
const isSession = ({ path }: gateway.Sent): boolean => path === '/v1/widget/sessions';
const stale = (): Response =>
  gateway.json({ error: 'The session has expired', code: 'invalid_session' }, 401);

test('the first request begins a session, and the others use its token', async () => {
  const sent = gateway.openGateway((one) =>
    isSession(one) ? gateway.session('t1') : gateway.json({ data: 'a' }),
  );
  const { session, read } = open();
  expect(await Promise.all([read(), read()])).toEqual([{ data: 'a' }, { data: 'a' }]);
  expect(sent.map(({ path, token, query }) => [path, token, query.key])).toEqual([
    ['/v1/widget/sessions', 'Bearer none', 'pk_dev_1'],
    ['/v1/widget/messages', 'Bearer t1', 'pk_dev_1'],
    ['/v1/widget/messages', 'Bearer t1', 'pk_dev_1'],
  ]);
  expect(session.threadKey).toBe('thread_1');
});

test('a visitor is known again on the next page, for each key of its own', async () => {
  const sent = gateway.openGateway((one) =>
    isSession(one) ? gateway.session('t1', 'v7') : gateway.json({}),
  );
  await open().read();
  await open().read();
  await open({ key: 'pk_dev_2' }).read();
  expect(sent.filter(isSession).map(({ body }) => body!.visitorId)).toEqual([
    undefined,
    'v7',
    undefined,
  ]);
  expect([...storage]).toEqual([
    ['parley-chat visitor pk_dev_1', 'v7'],
    ['parley-chat visitor pk_dev_2', 'v7'],
  ]);
});

test('without a storage the visitor is known as long as the page', async () => {
  Object.defineProperty(globalThis, 'localStorage', { value: undefined, configurable: true });
  let isStale = false;
  const sent = gateway.openGateway((one) => {
    if (isSession(one)) return gateway.session('t', 'v7');
    isStale = !isStale;
    return isStale ? gateway.json({}) : stale();
  });
  const { read } = open();
  await read();
  await read();
  expect(sent.filter(isSession).map(({ body }) => body!.visitorId)).toEqual([undefined, 'v7']);
});

test('a session that has expired is begun again, and the request repeated once', async () => {
  const sent = gateway.openGateway((one, index) =>
    isSession(one)
      ? gateway.session(`t${index}`)
      : one.token === 'Bearer t0'
        ? stale()
        : gateway.json({ data: 'b' }),
  );
  const { read, onOther } = open();
  expect(await read()).toEqual({ data: 'b' });
  expect(sent.map(({ token }) => token)).toEqual([
    'Bearer none',
    'Bearer t0',
    'Bearer none',
    'Bearer t2',
  ]);
  expect(onOther).not.toHaveBeenCalled();
});

test('a token that is refused twice is an error, and the next request begins a new session', async () => {
  const sent = gateway.openGateway((one) => (isSession(one) ? gateway.session('t') : stale()));
  const { read } = open();
  await expect(read()).rejects.toMatchObject({ status: 401 });
  expect(sent).toHaveLength(4);
  await expect(read()).rejects.toMatchObject({ status: 401 });
  expect(sent.filter(isSession)).toHaveLength(4);
});

test('a new session of another visitor is reported, a first one is not', async () => {
  const threads = ['thread_1', 'thread_1', 'thread_2', 'thread_2'];
  gateway.openGateway((one) =>
    isSession(one) ? gateway.session('t', 'v', threads.shift()) : stale(),
  );
  const { read, onOther, session } = open();
  await read().catch(() => undefined);
  expect(onOther).not.toHaveBeenCalled();
  await read().catch(() => undefined);
  expect(onOther).toHaveBeenCalledTimes(1);
  expect(session.threadKey).toBe('thread_2');
});

test('a page without a key or an address asks for nothing', async () => {
  const sent = gateway.openGateway(() => 'lost');
  await expect(open({ key: '' }).read()).rejects.toMatchObject({
    status: 401,
    code: 'missing_key',
  });
  await expect(open({ baseUrl: '' }).read()).rejects.toMatchObject({ code: 'missing_key' });
  expect(sent).toEqual([]);
});

test.each<[string, boolean, gateway.Answer, string]>([
  ['a limit', true, gateway.json({}, 429, { 'Retry-After': '7' }), 'limit'],
  ['a server that is away', true, gateway.json({}, 503, { 'Retry-After': '7' }), 'unavailable'],
])(
  '%s is a pause with its end, after which the request is repeated',
  async (_name, isOnLine, answer, reason) => {
    Object.assign(navigator, { onLine: isOnLine });
    const answers = [gateway.session('t'), answer, gateway.json({ data: 'a' })];
    gateway.openGateway(() => answers.shift()!);
    const { session, read, pauses } = open();
    const reading = read();
    await gateway.settle();
    expect(session.pause).toEqual({ reason, untilMs: Date.now() + 7_000 });
    await gateway.passTime(6_999);
    expect(session.pause).not.toBeNull();
    await gateway.passTime(1);
    expect(await reading).toEqual({ data: 'a' });
    expect(pauses).toEqual([expect.objectContaining({ reason }), null]);
  },
);

test.each([
  ['a device without a connection', false, 'offline', 0],
  ['a page whose origin is refused, which browsers hide', true, 'unavailable', 1],
])('%s gets no answer', async (_name, isOnLine, reason, warned) => {
  Object.assign(navigator, { onLine: isOnLine });
  gateway.openGateway((_, index) => (index < 3 ? 'lost' : gateway.session('t')));
  const { session, read } = open();
  void read().catch(() => undefined);
  await gateway.settle();
  expect(session.pause).toMatchObject({ reason });
  for (let times = 0; times < 3; times += 1) await gateway.passTime(60_000);
  expect(session.threadKey).toBe('thread_1');
  expect(warnings.filter((text) => text.includes('https://shop.example'))).toHaveLength(warned);
});

test('a pause ends with the last request, and not with the answer to another one', async () => {
  const answers = [
    gateway.session('t'),
    gateway.json({}, 503, { 'Retry-After': '60' }),
    gateway.json({ data: 'b' }),
  ];
  gateway.openGateway(() => answers.shift()!);
  const { session, read } = open();
  const waiting = read();
  await gateway.settle();
  expect(await read()).toEqual({ data: 'b' });
  expect(session.pause).toMatchObject({ reason: 'unavailable' });
  session.close();
  await expect(waiting).rejects.toBeDefined();
  expect(session.pause).toBeNull();
});

test('a closed session ends its requests and their pauses', async () => {
  gateway.openGateway(() => 'lost');
  const { session, read } = open();
  const reading = read();
  await gateway.settle();
  expect(session.isClosed).toBe(false);
  session.close();
  await expect(reading).rejects.toBeDefined();
  expect(session.isClosed).toBe(true);
});

describe('a visitor who is signed in on the site', () => {
  const identityUrl = 'https://shop.example/chat-identity';
  const ofSite = (one: gateway.Sent): boolean => one.path === '/chat-identity';

  test('is known by the token of the site, not by what the browser keeps', async () => {
    storage.set('parley-chat visitor pk_dev_1', 'v7');
    const sent = gateway.openGateway((one) => {
      if (ofSite(one)) return new Response(' jwt.of.site\n');
      return isSession(one) ? gateway.session('t', null) : gateway.json({});
    });
    await open({ identityUrl }).read();
    expect(sent.find(isSession)!.body).toEqual({ identity: 'jwt.of.site' });
    expect(storage.get('parley-chat visitor pk_dev_1')).toBe('v7');
  });

  test.each([204, 200])(
    'and no one is, when the site answers %i without a token',
    async (status) => {
      const sent = gateway.openGateway((one) => {
        if (ofSite(one)) return new Response(status === 204 ? null : '  ', { status });
        return isSession(one) ? gateway.session('t') : gateway.json({});
      });
      await open({ identityUrl }).read();
      expect(sent.find(isSession)!.body).toEqual({});
    },
  );

  test.each<[string, () => gateway.Answer]>([
    ['an error', () => new Response('x', { status: 500 })],
    ['nothing', () => 'lost'],
    ['its page of sign-in', () => new Response(null, { status: 401 })],
  ])('is not taken for another one while the site answers %s', async (_name, refusal) => {
    let asked = 0;
    const sent = gateway.openGateway((one) => {
      if (ofSite(one)) return (asked += 1) < 3 ? refusal() : new Response('jwt');
      return isSession(one) ? gateway.session('t', null) : gateway.json({});
    });
    const { session, read } = open({ identityUrl });
    const reading = read();
    await gateway.settle();
    expect(session.pause).toMatchObject({ reason: 'unavailable', untilMs: Date.now() + 5_000 });
    expect(sent.some(isSession)).toBe(false);
    await gateway.passTime(5_000);
    await gateway.passTime(5_000);
    await reading;
    expect(sent.find(isSession)!.body).toEqual({ identity: 'jwt' });
    expect(warnings).toHaveLength(2);
  });

  test('asks no more when the chat is closed', async () => {
    const sent = gateway.openGateway(() => 'lost');
    const { session, read } = open({ identityUrl });
    const reading = read();
    await gateway.settle();
    session.close();
    await expect(reading).rejects.toThrow('closed');
    await gateway.passTime(60_000);
    expect(sent).toHaveLength(1);
  });
});
