import { once } from 'node:events';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SignJWT } from 'jose';
import { recordEvent } from '@parley/events';
import { createFindWebsite } from '@parley/identity';
import { type OpenEventStream, countStatements, openEventStream, until } from '@parley/testing';
import { createManageApp } from './app';
import { type TestApi, type World, createTestApi } from './testing/create-test-api';
import { insertAgent } from './testing/samples/executions';

/** Milliseconds that have passed for the checks in addition to the real ones. */
let passedMs = 0;
let api: TestApi;
let server: Server;
let url: string;
let world: World;

/** A service whose streams send no comments, so that only checks of their callers end them. */
async function listen(checkEveryMs: number): Promise<void> {
  const { streamLimits, executionStreamLimits } = api.deps;
  const more = {
    checkEveryMs,
    clock: () => performance.now() + passedMs,
    commentEveryMs: 60_000,
    maxOpenMs: 60_000,
  };
  const limits = { ...more, perCaller: 200, perOrganization: 400 };
  server = createServer(
    createManageApp({
      ...api.deps,
      streamLimits: { ...streamLimits, ...limits },
      executionStreamLimits: { ...executionStreamLimits, ...limits },
    }),
  ).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
beforeAll(async () => {
  api = await createTestApi();
});
beforeEach(async () => {
  passedMs = 0;
  world = await api.world();
  await insertAgent(world);
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});
afterAll(() => api.close());

const change = (sql: string, ...values: unknown[]) => api.db.pool.query(sql, values);

interface Revocable {
  headers: Record<string, string>;
  revoke: () => Promise<unknown>;
}

/** A caller with `manage`, and what takes its right. */
async function keyOf(sql: string): Promise<Revocable> {
  const key = await api.keyOf(world.scope, ['manage']);
  const { rows } = await change(
    'select id from api_keys where tenant = $1 order by id desc limit 1',
    world.scope.tenant,
  );
  return { headers: { Authorization: `Bearer ${key}` }, revoke: () => change(sql, rows[0].id) };
}
async function personOf(sql: string): Promise<Revocable> {
  const { id, headers } = await api.person(world, 'member');
  return { headers, revoke: () => change(sql, id) };
}
const revocations: Record<string, () => Promise<Revocable>> = {
  'its key was revoked': () => keyOf('update api_keys set revoked_at = now() where id = $1'),
  'its key has expired': () =>
    keyOf(`update api_keys set expires_at = now() - interval '1 second' where id = $1`),
  'its organization was deleted': async () => {
    const { headers } = await keyOf('');
    const { organizationId } = world.scope;
    return {
      headers,
      revoke: () =>
        change('update organizations set deleted_at = now() where id = $1', organizationId),
    };
  },
  'its session has ended': () =>
    personOf('update sessions set revoked_at = now() where user_id = $1'),
  'its person was removed': () =>
    personOf('update memberships set deleted_at = now() where user_id = $1'),
};

interface Opened {
  stream: OpenEventStream;
  /** Makes something that the stream sends. */
  emit: () => Promise<unknown>;
}

async function openEvents({ headers }: Revocable): Promise<Opened> {
  const stream = await openEventStream(`${url}/v1/events/stream`, headers);
  const emit = () =>
    recordEvent(api.db, world.scope, { type: 'test.n', payload: {}, actor: { type: 'system' } });
  return { stream, emit };
}
async function startExecution({ headers }: Revocable, body: object = {}) {
  const sent = JSON.stringify({ agentSlug: 'helper', message: 'Hello', ...body });
  const answer = await fetch(`${url}/v1/executions`, {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: sent,
  });
  return (await answer.json()) as { executionId: string; threadId: string };
}
const appendChunk = (id: string, seq: number) =>
  api.deps.executionChunks.append(
    id,
    [{ seq, chunk: { type: 'text-delta', id: 't', delta: `${seq}` } }],
    {
      after: seq === 1 ? null : seq - 1,
      limit: 100,
    },
  );
async function openExecution(caller: Revocable, path: 'executions' | 'threads'): Promise<Opened> {
  const { executionId, threadId } = await startExecution(caller);
  await appendChunk(executionId, 1);
  const id = path === 'executions' ? executionId : threadId;
  const stream = await openEventStream(`${url}/v1/${path}/${id}/stream`, caller.headers);
  return { stream, emit: () => appendChunk(executionId, 2) };
}
const streams: Record<string, (caller: Revocable) => Promise<Opened>> = {
  events: openEvents,
  'an execution': (caller) => openExecution(caller, 'executions'),
  'a thread': (caller) => openExecution(caller, 'threads'),
};

const pairs = Object.keys(revocations).flatMap((why) =>
  Object.keys(streams).map((what) => [what, why] as const),
);

test.each(pairs)('an idle stream of %s ends when %s', async (what, why) => {
  await listen(50);
  const caller = await revocations[why]!();
  const { stream } = await streams[what]!(caller);
  expect(stream.response.status).toBe(200);
  const before = stream.events.length;
  await caller.revoke();
  await until(() => stream.isOver);
  expect(stream.events).toHaveLength(before);
});

test.each(pairs)(
  'nothing is sent in a stream of %s after %s, when the last check is too old',
  async (what, why) => {
    // The timer does not run in the time of the test.
    await listen(600_000);
    const caller = await revocations[why]!();
    const { stream, emit } = await streams[what]!(caller);
    const before = stream.events.length;
    await caller.revoke();
    passedMs = 600_000;
    await emit();
    await until(() => stream.isOver);
    expect(stream.events).toHaveLength(before);
  },
);

test('a stream of a caller who may still ask continues after a check', async () => {
  await listen(600_000);
  const { stream, emit } = await openEvents({
    headers: { Authorization: `Bearer ${world.key}` },
    revoke: async () => {},
  });
  const before = stream.events.length;
  passedMs = 600_000;
  await emit();
  await until(() => stream.events.length > before);
  expect(stream.isOver).toBe(false);
  stream.close();
});

test('a streamed completion ends without the rest of the answer, and its execution is cancelled', async () => {
  await listen(600_000);
  const caller = await revocations['its key was revoked']!();
  const answer = await fetch(`${url}/openai/v1/chat/completions`, {
    method: 'POST',
    headers: { ...caller.headers, 'Content-Type': 'application/json' },
    body: JSON.stringify({
      model: 'agent:helper',
      stream: true,
      messages: [{ role: 'user', content: 'Hello' }],
    }),
  });
  expect(answer.status).toBe(200);
  const { rows } = await change(
    'select id::text from executions where tenant = $1',
    world.scope.tenant,
  );
  const { id } = rows[0];
  await caller.revoke();
  passedMs = 600_000;
  await appendChunk(id, 1);
  expect(await answer.text()).not.toContain('"content":"1"');
  await until(async () => {
    const { rows: now } = await change('select status from executions where id = $1', id);
    return now[0].status === 'failed';
  });
});

test('a visitor stops to receive an answer when the publishable key is revoked, and when the token has expired', async () => {
  await listen(50);
  const site = 'https://shop.example.com';
  const body = { name: 'website', agentSlug: 'helper', origins: [site] };
  const { key, id } = (await world.call('post', '/v1/publishable-keys', { body }).expect(201)).body;
  const website = (await createFindWebsite(api.db, api.deps.box)(key))!;
  const tokenFor = (seconds: number, subject: string) =>
    new SignJWT({ origin: site, params: {} })
      .setProtectedHeader({ alg: 'HS256' })
      .setIssuer(website.id)
      .setAudience('widget')
      .setSubject(subject)
      .setExpirationTime(Math.floor(Date.now() / 1_000) + seconds)
      .sign(website.tokenKey);
  const open = async (seconds: number, subject: string) => {
    const headers = { Authorization: `Bearer ${await tokenFor(seconds, subject)}`, Origin: site };
    const sent = await fetch(`${url}/v1/widget/messages?key=${key}`, {
      method: 'POST',
      headers: { ...headers, 'Content-Type': 'application/json' },
      body: JSON.stringify({ message: 'Hello' }),
    });
    const { executionId } = (await sent.json()) as { executionId: string };
    await appendChunk(executionId, 1);
    return openEventStream(`${url}/v1/widget/stream?key=${key}`, headers);
  };
  const [short, long] = [await open(2, 'anonymous:short'), await open(1_800, 'anonymous:long')];
  await until(() => short.isOver);
  expect(long.isOver).toBe(false);
  await world.call('delete', `/v1/publishable-keys/${id}`).expect(200);
  await until(() => long.isOver);
});

test.each(['its key was revoked', 'its session has ended', 'its person was removed'])(
  'a request that waits for an execution is refused when %s meanwhile',
  async (why) => {
    await listen(600_000);
    const caller = await revocations[why]!();
    const { executionId } = await startExecution(caller);
    const waiting = fetch(`${url}/v1/executions/${executionId}?wait=30`, {
      headers: caller.headers,
    });
    const preferring = fetch(`${url}/v1/executions`, {
      method: 'POST',
      headers: { ...caller.headers, 'Content-Type': 'application/json', Prefer: 'wait=30' },
      body: JSON.stringify({ agentSlug: 'helper', message: 'And?' }),
    });
    const ofTenant = 'from executions where tenant = $1';
    await until(
      async () => (await change(`select ${ofTenant}`, world.scope.tenant)).rowCount === 2,
    );
    await caller.revoke();
    await change(
      `update executions set status = 'succeeded', output = 'A secret', finished_at = now(), lease_until = null where tenant = $1`,
      world.scope.tenant,
    );
    for (const answer of await Promise.all([waiting, preferring])) {
      expect([401, 403]).toContain(answer.status);
      expect(await answer.text()).not.toContain('A secret');
    }
  },
);

test('a completion that waits is refused when its key was revoked meanwhile', async () => {
  await listen(600_000);
  const caller = await revocations['its key was revoked']!();
  const waiting = fetch(`${url}/openai/v1/chat/completions`, {
    method: 'POST',
    headers: { ...caller.headers, 'Content-Type': 'application/json' },
    body: JSON.stringify({ model: 'agent:helper', messages: [{ role: 'user', content: 'Hello' }] }),
  });
  await until(
    async () =>
      (await change('select from executions where tenant = $1', world.scope.tenant)).rowCount === 1,
  );
  await caller.revoke();
  await change(
    `update executions set status = 'succeeded', output = 'A secret', finished_at = now(), lease_until = null where tenant = $1`,
    world.scope.tenant,
  );
  const answer = await waiting;
  expect(answer.status).toBe(401);
  expect(await answer.text()).not.toContain('A secret');
});

test('the checks of a hundred callers share their statements', async () => {
  await listen(600_000);
  const callers = await Promise.all(
    Array.from({ length: 100 }, (_, n) => (n % 2 === 0 ? keyOf('') : personOf(''))),
  );
  const opened = await Promise.all(callers.map(openEvents));
  const before = opened.map(({ stream }) => stream.events.length);
  passedMs = 600_000;
  const statements = await countStatements(api.db.pool, async () => {
    await opened[0]!.emit();
    await until(() => opened.every(({ stream }, n) => stream.events.length > before[n]!));
  });
  // Besides the reads of events, four times a second.
  expect(statements).toBeLessThan(40);
  for (const { stream } of opened) stream.close();
});
