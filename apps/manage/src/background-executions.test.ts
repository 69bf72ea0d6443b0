import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { until } from '@parley/testing';
import { createManageApp } from './app';
import { type TestApi, type World, createTestApi } from './testing/create-test-api';
import { insertAgent, insertExecution } from './testing/samples/executions';

let api: TestApi;
let world: World;
let chatKey: string;
beforeAll(async () => {
  api = await createTestApi();
  world = await api.world();
  await insertAgent(world);
  chatKey = await api.keyOf(world.scope, ['chat']);
});
afterAll(() => api.close());

const start = (body: object, headers: Record<string, string> = {}, key = chatKey) =>
  world.call('post', '/v1/executions', {
    key,
    body: { agentSlug: 'helper', message: 'Hello', ...body },
    headers,
  });
/** Ends the execution as a worker does. */
const answer = (id: string) =>
  api.db.pool.query(
    `update executions set status = 'succeeded', output = 'Hi', input_tokens = 7, output_tokens = 3, finished_at = now(), lease_until = null
     where tenant = $1 and id = $2`,
    [world.scope.tenant, id],
  );

test('a started execution is queued with its thread and its address, and is in the queue of the worker', async () => {
  const response = await start({ externalThreadId: 'web:1' }).expect(202);
  const { executionId, threadId } = response.body;
  expect(response.body).toEqual({
    executionId,
    threadId,
    status: 'queued',
    reply: null,
    finishReason: null,
    usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
  });
  expect(response.headers.location).toBe(`/v1/executions/${executionId}`);
  const again = await start({ externalThreadId: 'web:1' }).expect(202);
  expect(again.body.threadId).toBe(threadId);
  const { rows } = await api.db.pool.query(
    'select status, lease_owner, lease_until, attempts from executions where tenant = $1 and id = $2',
    [world.scope.tenant, executionId],
  );
  expect(rows).toEqual([{ status: 'queued', lease_owner: null, lease_until: null, attempts: 0 }]);
});

test('the same Idempotency-Key starts one execution', async () => {
  const headers = { 'Idempotency-Key': 'k1' };
  const [a, b] = await Promise.all([start({}, headers), start({}, headers)]);
  expect([a.status, b.status]).toEqual([202, 202]);
  expect(b.body).toEqual(a.body);
  expect((await start({ message: 'Other' }, headers).expect(409)).body.code).toBe(
    'idempotency_key_reused',
  );
});

test('the response waits for the end when the client prefers it, and not longer', async () => {
  const { executionId } = (await start({}).expect(202)).body;
  const waiting = world
    .call('get', `/v1/executions/${executionId}?wait=30`, { key: chatKey })
    .expect(200);
  setTimeout(() => void answer(executionId), 300);
  expect((await waiting).body).toMatchObject({
    status: 'succeeded',
    reply: 'Hi',
    usage: { totalTokens: 10 },
  });

  const startedAt = performance.now();
  const response = await start({}, { Prefer: 'respond-async, wait=1' }).expect(202);
  expect(performance.now() - startedAt).toBeGreaterThan(900);
  expect(response.headers['preference-applied']).toBe('wait=1');
  expect(response.body.status).toBe('queued');
  await world.call('get', `/v1/executions/${executionId}?wait=31`, { key: chatKey }).expect(400);
});

test('waits count as streams, by caller and by organization, and one that is refused begins no turn', async () => {
  const limits = { ...api.deps.executionStreamLimits, perCaller: 2, perOrganization: 3 };
  let waitCount = 0;
  const executionBells: typeof api.deps.executionBells = {
    ...api.deps.executionBells,
    listen(...args) {
      waitCount += 1;
      return api.deps.executionBells.listen(...args);
    },
  };
  const app = createManageApp({ ...api.deps, executionBells, executionStreamLimits: limits });
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const call = (path: string, key: string, init: RequestInit & { headers?: object } = {}) =>
    fetch(`http://127.0.0.1:${port}${path}`, {
      ...init,
      headers: {
        Authorization: `Bearer ${key}`,
        'Content-Type': 'application/json',
        ...init.headers,
      },
    });
  const message = JSON.stringify({ agentSlug: 'helper', message: 'Hello' });
  const completion = JSON.stringify({
    model: 'agent:helper',
    messages: [{ role: 'user', content: 'Hello' }],
  });
  const all = [
    (key: string) => call(`/v1/executions/${id}?wait=30`, key),
    (key: string) => call(`/v1/executions/${id}/stream`, key),
    (key: string) =>
      call('/v1/executions', key, {
        method: 'POST',
        body: message,
        headers: { Prefer: 'wait=30' },
      }),
    (key: string) =>
      call('/v1/executions', key, {
        method: 'POST',
        body: message,
        headers: { Accept: 'text/event-stream' },
      }),
    (key: string) => call('/openai/v1/chat/completions', key, { method: 'POST', body: completion }),
  ];
  const [first, second, third] = [
    await api.keyOf(world.scope, ['manage']),
    chatKey,
    await api.keyOf(world.scope, ['manage']),
  ];
  const id = (await start({}, {}, second).expect(202)).body.executionId as string;
  const countRows = async () =>
    (
      await api.db.pool.query('select count(*)::int as n from executions where tenant = $1', [
        world.scope.tenant,
      ])
    ).rows[0].n;
  const before = await countRows();
  const expectRefused = async (key: string) => {
    for (const one of all) {
      const response = await one(key);
      expect([response.status, await response.text()]).toEqual([
        429,
        expect.stringContaining('too_many_streams'),
      ]);
    }
  };

  const waiting = [all[0]!(first), all[0]!(first)];
  await until(async () => waitCount, { isThere: (count) => count === 2 });
  await expectRefused(first);
  waiting.push(all[0]!(second));
  await until(async () => waitCount, { isThere: (count) => count === 3 });
  await expectRefused(third);
  expect(await countRows()).toBe(before);

  await answer(id);
  api.deps.executionChunks.ring(id);
  for (const one of await Promise.all(waiting))
    expect([one.status, await one.json()]).toEqual([
      200,
      expect.objectContaining({ status: 'succeeded' }),
    ]);
  expect((await all[0]!(first)).status).toBe(200);
  server.closeAllConnections();
  server.close();
});

test('a key with chat sees and cancels what it has started, without prompts and steps; manage sees all', async () => {
  const { executionId } = (await start({}).expect(202)).body;
  const other = await api.keyOf(world.scope, ['chat']);
  const path = `/v1/executions/${executionId}`;
  await world.call('get', path, { key: other }).expect(404);
  await world.call('post', `${path}/cancel`, { key: other }).expect(404);
  await world
    .call('get', `/v1/executions/${await insertExecution(world)}`, { key: other })
    .expect(404);
  await world.call('get', '/v1/executions', { key: other }).expect(403);

  const started = await insertExecution(world);
  const caller = (
    await api.db.pool.query(`select background->>'callerId' as id from executions where id = $1`, [
      executionId,
    ])
  ).rows[0].id;
  await api.db.pool.query(
    `update executions set background = $2, error = 'openai/x: key sk-1 is invalid' where id = $1`,
    [started, { callerId: caller }],
  );
  const seen = (await world.call('get', `/v1/executions/${started}`, { key: chatKey }).expect(200))
    .body;
  expect(seen).toMatchObject({
    reply: 'Here',
    prompt: null,
    steps: [],
    messages: [],
    error: 'failed',
  });
  const whole = (await world.call('get', `/v1/executions/${started}`).expect(200)).body;
  expect(whole).toMatchObject({
    prompt: { text: 'You sell.' },
    error: 'openai/x: key sk-1 is invalid',
  });
  expect(whole.steps).toHaveLength(2);
});

test('a queued execution is cancelled at once; one that has ended, or that no request has started, is not', async () => {
  const { executionId } = (await start({}).expect(202)).body;
  const cancel = (id: string) =>
    world.call('post', `/v1/executions/${id}/cancel`, { key: chatKey });
  expect((await cancel(executionId).expect(200)).body.status).toBe('cancelled');
  expect((await cancel(executionId).expect(200)).body.status).toBe('cancelled');
  const listed = await world.call('get', '/v1/executions?status=cancelled').expect(200);
  expect(listed.body.data.map(({ id }: { id: string }) => id)).toContain(executionId);
  const failed = await world.call('get', '/v1/executions?status=failed').expect(200);
  expect(failed.body.data.map(({ id }: { id: string }) => id)).not.toContain(executionId);

  const { executionId: ended } = (await start({}).expect(202)).body;
  await answer(ended);
  expect((await cancel(ended).expect(200)).body).toMatchObject({
    status: 'succeeded',
    reply: 'Hi',
  });
  const id = await insertExecution(world);
  expect((await world.call('post', `/v1/executions/${id}/cancel`).expect(409)).body.code).toBe(
    'not_in_background',
  );
});

test('only people and keys with manage choose the model and the channel dashboard', async () => {
  const body = { channel: 'dashboard', model: 'offline/scripted' };
  expect((await start(body).expect(403)).body.code).toBe('missing_permission');
  await start(body, {}, world.key).expect(202);
  await start({ channel: 'whatsapp' }, {}, world.key).expect(400);
});

test('refused requests store nothing', async () => {
  const count = async () =>
    (
      await api.db.pool.query('select count(*)::int as n from executions where tenant = $1', [
        world.scope.tenant,
      ])
    ).rows[0].n;
  const before = await count();
  await insertAgent(world, 'strict', {
    threadContextParams: [{ name: 'plan', type: 'string', required: true }],
  });
  expect((await start({ agentSlug: 'strict' }).expect(400)).body.code).toBe('invalid_params');
  expect((await start({ agentSlug: 'none' }).expect(404)).body.code).toBe('agent_not_found');
  expect((await start({ agentSlug: undefined, routerSlug: 'none' }).expect(404)).body.code).toBe(
    'router_not_found',
  );
  expect((await start({ threadId: 'thread_none' }).expect(404)).body.code).toBe('thread_not_found');
  await start({ routerSlug: 'both' }).expect(400);
  await start({ agentSlug: undefined }).expect(400);
  await start({ externalThreadId: 'whatsapp:1' }).expect(400);
  expect(await count()).toBe(before);
});

test('a message to a thread that a person has taken over is stored and has ended', async () => {
  const { threadId } = (await start({}).expect(202)).body;
  await world.call('post', `/v1/threads/${threadId}/takeover`, { body: {} }).expect(200);
  expect((await start({ threadId }).expect(202)).body).toMatchObject({
    threadId,
    status: 'stored',
    reply: null,
  });
});
