import { execFile, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import {
  type ModelServer,
  type ReceivedEvent,
  type Stack,
  openEventStream,
  rounds,
  startModelServer,
  startStack,
  until,
} from '@parley/testing';
import Redis from 'ioredis';
import { type Client, createClient, push } from './client';
import { type OwnServers, startOwnServers } from './own-servers';
import { shared } from './stack';
import { type Tenant, createTenant } from './tenant';

const cuts = rounds(12, 1_000);
const faults = rounds(1, 20);

jest.setTimeout(300_000 + faults * 30_000);

/** This file has its own servers, as it stops and empties them. */
let servers: OwnServers;
let model: ModelServer;
let reader: ReturnType<typeof startReader>;
let stack: Stack;
let tenant: Tenant;
let owner: Client & { key: string };
let chatOnly: Client & { key: string };

const words = (count: number) =>
  Array.from({ length: count }, (_, n) => `word${n}${n % 7 === 0 ? ' 🦜' : ''}`).join(' ');
const slow = { name: 'Slow', tools: [], systemPrompt: 'Answer.' };

beforeAll(async () => {
  reader = startReader();
  [servers, model] = await Promise.all([startOwnServers('streams'), startModelServer()]);
  stack = await startStack({
    databaseUrl: servers.postgres.url,
    redisUrl: servers.redis.url,
    bundles: shared.bundles,
    services: ['data', 'worker', 'manage', 'gateway'],
    environment: {
      OPENAI_BASE_URL: model.urls.openai,
      OPENAI_API_KEY: 'sk-test',
      ...Object.fromEntries(
        ['RATE_LIMIT', 'CHAT_RATE_LIMIT', 'MANAGE_RATE_LIMIT'].flatMap((limit) => [
          [`${limit}_PER_KEY`, '1000000'],
          [`${limit}_PER_ORGANIZATION`, '1000000'],
        ]),
      ),
    },
  });
  tenant = await createTenant({ url: stack.url, databaseUrl: servers.postgres.url });
  owner = await tenant.client({ permissions: ['*', 'manage'] });
  chatOnly = await tenant.client({ permissions: ['chat'] });
  await push(owner, {
    entityTypes: [{ slug: 'note', name: 'Note', schema: {} }],
    agents: [
      { ...slow, slug: 'slow', model: 'openai/gpt-5-mini' },
      {
        ...slow,
        slug: 'careful',
        model: { model: 'openai/gpt-5-mini', fallbacks: ['openai/gpt-5-nano'] },
      },
      { ...slow, slug: 'clerk', model: 'openai/gpt-5-mini', tools: ['entity.create'] },
    ],
  });
}, 90_000);
beforeEach(() => model.play(() => ({ text: words(60), pieceEveryMs: 5 })));
afterEach(() => expect(model.problems).toEqual([]));
afterAll(async () => {
  await tenant?.close();
  await stack?.stop();
  await Promise.all([servers?.stop(), model?.stop()]);
  reader?.stop();
});

interface Following {
  events: ReceivedEvent[];
  cuts: number;
}

/** Reads a stream until [DONE], connecting again after each cut, refusal and lost connection. */
async function follow(
  id: string,
  { key = owner.key, cutWithinMs = 0, cuts = Infinity } = {},
): Promise<Following> {
  const events: ReceivedEvent[] = [];
  let cut = 0;
  let lastId = '';
  for (const endsAtMs = performance.now() + 60_000; performance.now() < endsAtMs;) {
    const stream = await openEventStream(`${stack.url}/v1/executions/${id}/stream`, {
      Authorization: `Bearer ${key}`,
      ...(lastId !== '' && { 'Last-Event-ID': lastId }),
    }).catch(() => null);
    if (stream?.response.status !== 200) {
      // wall clock: the pause of a client before it connects again.
      await sleep(50);
      continue;
    }
    if (cutWithinMs > 0 && cut < cuts) {
      // wall clock: a cut at a random moment.
      await Promise.race([sleep(Math.random() * cutWithinMs), until(() => stream.isOver)]);
      if (!stream.isOver) cut += 1;
      stream.close();
    }
    await until(() => stream.isOver, { limitMs: 60_000, everyMs: 5 });
    const isDone = stream.events.at(-1)?.data === '[DONE]';
    events.push(...(isDone ? stream.events.slice(0, -1) : stream.events));
    ({ lastId } = stream);
    if (isDone) return { events, cuts: cut };
  }
  throw new Error(`The stream of ${id} has not ended after ${events.length} events`);
}

const start = async (agentSlug: string, rest: object = {}, { key } = owner): Promise<string> => {
  const { status, body } = await createClient(stack.url, key).post('/v1/executions', {
    agentSlug,
    message: 'Hello',
    ...rest,
  });
  expect(status).toBe(202);
  return body.executionId as string;
};
const read = async (id: string) => (await owner.get(`/v1/executions/${id}?wait=30`)).body;
const idsOf = ({ events }: Following) => events.map(({ id }) => Number(id));
const chunksOf = ({ events }: Following): { type: string; [field: string]: unknown }[] =>
  events.map(({ data }) => data);
const typesOf = (following: Following) => chunksOf(following).map(({ type }) => type);
function isInOrder(following: Following): boolean {
  const ids = idsOf(following);
  return ids.every((id, at) => at === 0 || id > ids[at - 1]!);
}

/** The published AI SDK, in a process of its own. */
function startReader() {
  const program = join(__dirname, '../read-chunks.mjs');
  const child = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    /** The text that it makes of a stream. */
    async read(following: Following): Promise<string> {
      child.stdin.write(`${JSON.stringify(chunksOf(following))}\n`);
      const line = await lines.next();
      if (line.done) throw new Error('The AI SDK refused a chunk');
      return JSON.parse(line.value) as string;
    },
    stop: () => child.stdin.end(),
  };
}

async function textsOf(followings: Following[]): Promise<string[]> {
  const texts: string[] = [];
  for (const following of followings) texts.push(await reader.read(following));
  return texts;
}

test('after cuts at random moments, a stream put together is the stored reply, and two readers get the same chunks', async () => {
  let done = 0;
  const followings: Following[] = [];
  const replies: string[] = [];
  while (done < cuts) {
    const ids = await Promise.all(Array.from({ length: 4 }, () => start('slow')));
    for (const id of ids) {
      const [cut, whole] = await Promise.all([follow(id, { cutWithinMs: 40 }), follow(id)]);
      expect(idsOf(cut)).toEqual(idsOf(whole));
      expect(chunksOf(cut)).toEqual(chunksOf(whole));
      expect(idsOf(whole)).toEqual(whole.events.map((_, at) => at + 1));
      done += cut.cuts;
      followings.push(cut);
      replies.push((await read(id)).reply as string);
    }
  }
  expect(await textsOf(followings)).toEqual(replies);
  expect(new Set(replies)).toEqual(new Set([words(60)]));
});

test('the words arrive while the model writes, on the request that starts the execution', async () => {
  model.play(() => ({ text: words(30), pieceEveryMs: 50 }));
  const response = await fetch(`${stack.url}/v1/executions`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${owner.key}`,
      'Content-Type': 'application/json',
      Accept: 'text/event-stream',
    },
    body: JSON.stringify({ agentSlug: 'slow', message: 'Hello' }),
  });
  expect(response.headers.get('x-vercel-ai-ui-message-stream')).toBe('v1');
  expect(response.headers.get('content-type')).toMatch('text/event-stream');
  const arrivals: number[] = [];
  let text = '';
  for await (const piece of response.body!.pipeThrough(
    new TextDecoderStream(),
  ) as unknown as AsyncIterable<string>) {
    text += piece;
    if (piece.includes('text-delta')) arrivals.push(performance.now());
  }
  expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
  expect(arrivals.length).toBeGreaterThan(5);
  expect(arrivals.at(-1)! - arrivals[0]!).toBeGreaterThan(500);
});

test('a chat key follows only its own executions, without arguments and results of tools', async () => {
  model.play(({ messages }) =>
    messages.at(-1)!.role === 'tool'
      ? { text: 'Saved' }
      : {
          toolCalls: [
            { name: 'entity_create', args: { type: 'note', data: { secret: 'parrot' } } },
          ],
        },
  );
  const own = await start('clerk', {}, chatOnly);
  const [seen, all] = await Promise.all([follow(own, { key: chatOnly.key }), follow(own)]);
  expect(typesOf(seen)).toEqual(typesOf(all));
  expect(JSON.stringify(seen)).not.toContain('parrot');
  expect(chunksOf(all)).toContainEqual(
    expect.objectContaining({
      type: 'tool-input-available',
      toolName: 'entity.create',
      input: { type: 'note', data: { secret: 'parrot' } },
    }),
  );
  expect(typesOf(all)).toEqual(expect.arrayContaining(['tool-output-available', 'finish']));
  expect(await textsOf([seen, all])).toEqual(['Saved', 'Saved']);
  const other = await start('slow');
  expect((await chatOnly.get(`/v1/executions/${other}/stream`)).status).toBe(404);
  expect((await chatOnly.get('/v1/executions/1/stream')).status).toBe(404);
  expect((await owner.get(`/v1/executions/${own}/stream?after=x`)).status).toBe(400);
});

test('the routes of docs/react.md serve the transport of useChat, also after a reload in mid-stream', async () => {
  model.play(() => ({ text: words(60), pieceEveryMs: 20 }));
  const site = mkdtempSync(join(servers.folder, 'site-'));
  const page = readFileSync(join(__dirname, '../../../docs/react.md'), 'utf8');
  const files = [...page.matchAll(/^```js (\S+)\n(.*?)^```$/gms)].map(
    ([, path, code]) => [path!, code!] as const,
  );
  expect(files).toHaveLength(2);
  const session = [
    'lib/session.js',
    "export const userOf = async () => ({ id: 'camila' });",
  ] as const;
  for (const [path, code] of [...files, session, ['package.json', '{"type":"module"}'] as const]) {
    mkdirSync(dirname(join(site, path)), { recursive: true });
    writeFileSync(join(site, path), code.replace('shop-assistant', 'slow'));
  }
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [join(__dirname, '../use-chat.mjs'), site],
    {
      env: { PATH: process.env.PATH, PARLEY_URL: stack.url, PARLEY_API_KEY: chatOnly.key },
    },
  );
  expect(JSON.parse(stdout)).toEqual({ before: null, texts: [words(60), words(60)], after: null });
});

test('the stream of a thread follows what runs in it, and is 204 when nothing does', async () => {
  const id = await start('slow', { externalThreadId: 'lid' });
  const { threadId } = await read(id);
  const path = `/v1/threads/${threadId as string}/stream`;
  expect((await owner.get(path)).status).toBe(204);
  const next = await start('slow', { threadId });
  const stream = await openEventStream(`${stack.url}${path}`, {
    Authorization: `Bearer ${owner.key}`,
  });
  await until(() => stream.isOver, { limitMs: 20_000 });
  expect(stream.events[0]!.data).toEqual({ type: 'start', messageId: next });
  expect(stream.events.at(-1)!.data).toBe('[DONE]');
  // A key with chat that has started nothing in it does not learn that the thread exists.
  expect((await chatOnly.get(path)).status).toBe(404);
  await follow(await start('slow', { threadId }, chatOnly), { key: chatOnly.key });
  expect((await chatOnly.get(path)).status).toBe(204);
  expect((await owner.get('/v1/threads/none/stream')).status).toBe(404);
});

test('a cancelled execution ends its stream with abort, a failed one with error', async () => {
  model.play(() => ({ text: words(400), pieceEveryMs: 20 }));
  const asked = model.requests.length;
  const id = await start('slow');
  const following = follow(id);
  await until(() => model.requests.length > asked);
  expect((await owner.post(`/v1/executions/${id}/cancel`)).status).toBe(200);
  expect(typesOf(await following).at(-1)).toBe('abort');
  model.play(() => ({ status: 400, message: 'no such parrot' }));
  const failed = await start('slow', {}, chatOnly);
  const [seen, all] = await Promise.all([follow(failed, { key: chatOnly.key }), follow(failed)]);
  expect(chunksOf(seen).at(-1)).toEqual({ type: 'error', errorText: 'failed' });
  expect(chunksOf(all).at(-1)).toEqual({
    type: 'error',
    errorText: expect.stringContaining('no such parrot'),
  });
});

test('a second model after half an answer replaces it', async () => {
  model.play(({ model: name }) =>
    name === 'gpt-5-mini'
      ? { text: words(60), broken: 'connection' }
      : { text: 'The second one', pieceEveryMs: 5 },
  );
  const id = await start('careful');
  const following = await follow(id);
  expect(typesOf(following)).toContain('reset-step');
  expect((await read(id)).reply).toBe('The second one');
  expect(await textsOf([following])).toEqual(['The second one']);
});

const flush = async () => {
  const client = new Redis(servers.redis.url);
  await client.flushall();
  client.disconnect();
};
const restart = async (name: 'manage' | 'worker') => {
  await stack.services[name]!.kill();
  await stack.services[name]!.start();
};

test.each([
  ['Redis loses its data', flush],
  ['the worker is killed', () => restart('worker')],
  ['the service of the stream is killed', () => restart('manage')],
  [
    'PostgreSQL restarts',
    async () => {
      await servers.postgres.stop();
      await servers.restartPostgres();
    },
  ],
])('when %s in mid-stream, readers get the end, and no call is repeated', async (_name, fault) => {
  model.play(({ messages }) =>
    messages.at(-1)!.role === 'tool'
      ? { text: words(100), pieceEveryMs: 10 }
      : {
          toolCalls: [
            { name: 'entity_create', args: { type: 'note', data: { of: messages.at(-1)!.text } } },
          ],
        },
  );
  for (let round = 0; round < faults; round += 1) {
    const marks = Array.from({ length: 4 }, (_, n) => `${_name} ${round} ${n}`);
    const ids = await Promise.all(marks.map((message) => start('clerk', { message })));
    const followings = ids.flatMap((id) => [
      follow(id),
      follow(id, { cutWithinMs: 100, cuts: 10 }),
    ]);
    const all = Promise.all(followings);
    // wall clock: a fault at a random moment.
    await sleep(100 + Math.random() * 900);
    await fault();
    const seen = await all;
    expect(seen.every(isInOrder)).toBe(true);
    const ended = await Promise.all(ids.map(read));
    const texts = await textsOf(seen.filter((one) => typesOf(one).at(-1) === 'finish'));
    const succeeded = ended.flatMap((one) =>
      one.status === 'succeeded' ? [one.reply, one.reply] : [],
    );
    expect(texts).toEqual(succeeded);
    for (const [at, { status }] of ended.entries())
      expect([status, typesOf(seen[2 * at]!).at(-1)]).toEqual(
        status === 'succeeded' ? [status, 'finish'] : ['failed', 'error'],
      );
    for (const mark of marks) {
      const [{ count }] = (await tenant.query(
        `select count(*)::int as count from entities where data->>'of' = $1`,
        [mark],
      )) as [{ count: number }];
      expect(count).toBeLessThanOrEqual(1);
    }
  }
});
