import {
  type ExecutionRequest,
  beginExecution,
  cancelExecution,
  hasEnded,
  readExecution,
} from '@parley/agents';
import type { Scope } from '@parley/contracts';
import { type ProviderServer, seedOrganization, startProviderServer, until } from '@parley/testing';
import { type WebhookServices, startWebhookServices } from '../testing/start-webhook-services';

jest.setTimeout(120_000);

let services: WebhookServices;
let scope: Scope;
let model: ProviderServer;
let asked: { messages: { role: string; content: string }[] }[] = [];
let answer: (message: string) => Promise<object> | object;
const text = (content: string) => ({ role: 'assistant', content });
const call = (name: string, args: object) => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id: 'x', type: 'function', function: { name, arguments: JSON.stringify(args) } }],
});

beforeAll(async () => {
  services = await startWebhookServices({
    definitions: {
      agents: [
        { slug: 'slow', name: 'Slow', model: 'openai/slow', tools: ['entity.create'] },
        { slug: 'scripted', name: 'Scripted', model: 'offline/scripted', tools: ['entity.query'] },
      ],
      routers: [
        {
          slug: 'front',
          name: 'Front',
          mode: 'classify',
          agents: ['slow', 'scripted'],
          fallback: 'scripted',
          classifyModel: 'openai/slow',
        },
      ],
      entityTypes: [{ slug: 'note', name: 'Note', schema: {} }],
    },
  });
  ({ scope } = services.organization);
  model = await startProviderServer(async ({ body }) => {
    const request = body as unknown as (typeof asked)[number];
    asked.push(request);
    const message = await answer(request.messages.at(-1)!.content);
    const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 };
    return {
      status: 200,
      body: { id: 'c', object: 'chat.completion', choices: [{ index: 0, message }], usage },
    };
  });
  await services.db.pool.query(
    `insert into integrations (id, tenant, environment, provider, config, updated_at)
     values ('slow', $1, 'development', 'openai', $2, now())`,
    [scope.tenant, { baseUrl: `${model.url}/v1` }],
  );
});
beforeEach(() => {
  asked = [];
  answer = () => text('Fine');
});
afterAll(async () => {
  await model.stop();
  await services.close();
});

const begin = async (request: Partial<ExecutionRequest> = {}, of = scope) => {
  const begun = await services.db.transaction((tx) =>
    beginExecution(tx, of, {
      agent: { slug: 'slow' },
      message: 'Hello',
      channel: 'api',
      callerId: 'key_1',
      ...request,
    }),
  );
  if (!begun.ok) throw new Error(begun.reason);
  return begun;
};
const ended = async (id: string, of = scope) => {
  await until(async () => hasEnded(services.db, of, id));
  return (await readExecution(services.db, of, id))!;
};
const notes = async () =>
  (await services.db.pool.query('select from entities where tenant = $1', [scope.tenant])).rowCount;

test('a stored execution is answered without a job, in the order of its thread', async () => {
  const first = await begin({ externalThreadId: 'web:1', message: 'One' });
  const second = await begin({
    externalThreadId: 'web:1',
    message: 'Two',
    model: 'offline/scripted',
  });
  expect(await ended(second.executionId)).toMatchObject({
    status: 'succeeded',
    model: 'offline/scripted',
  });
  expect(await ended(first.executionId)).toMatchObject({
    status: 'succeeded',
    output: 'Fine',
    model: 'openai/slow',
    inputTokens: 5,
    outputTokens: 2,
    startedBy: 'key_1',
  });
  const { rows } = await services.db.pool.query(
    `select a.finished_at <= b.started_at as ordered from executions a, executions b where a.id = $1 and b.id = $2`,
    [first.executionId, second.executionId],
  );
  expect(rows).toEqual([{ ordered: true }]);
});

test("a router's model chooses the agent in the worker", async () => {
  answer = (message) => text(message === 'Hello' ? 'Fine' : 'slow');
  const { executionId } = await begin({ agent: { routerSlug: 'front' } });
  expect(await ended(executionId)).toMatchObject({
    agentSlug: 'slow',
    routerSlug: 'front',
    output: 'Fine',
    status: 'succeeded',
  });
});

test('a cancelled execution ends after its model call, calls no tool and keeps its tokens', async () => {
  const before = await notes();
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  answer = async () => {
    await released;
    return call('entity_create', { type: 'note', data: {} });
  };
  const { executionId } = await begin();
  await until(async () => asked.length === 1);
  await cancelExecution(services.db, scope, executionId);
  expect(await ended(executionId)).toMatchObject({ status: 'cancelled', output: null });
  release();
  await until(
    async () => (await readExecution(services.db, scope, executionId))!.inputTokens === 5,
  );
  expect([asked.length, await notes()]).toEqual([1, before]);
});

test('another process continues the execution of a killed one from its recorded calls, and repeats none', async () => {
  const before = (await notes())!;
  const { agents } = services.runtime;
  let release = () => {};
  const released = new Promise<object>((resolve) => (release = () => resolve(text('Too late'))));
  let calls = 0;
  answer = () => (calls++ === 0 ? call('entity_create', { type: 'note', data: {} }) : released);
  const { executionId, threadId } = await begin();
  const claimed = (await agents.claimExecution(scope.tenant, { id: executionId }))!;
  const running = agents.runExecution(claimed, new AbortController().signal);
  await until(async () => asked.length === 2);
  // As after kill -9 or a long pause: the lease has expired, and what the process writes
  // later has no effect.
  await services.db.pool.query(
    `update executions set lease_owner = 'killed', lease_until = now() - interval '1 second' where tenant = $1 and id = $2`,
    [scope.tenant, executionId],
  );
  answer = () => text('Noted');
  expect(await ended(executionId)).toMatchObject({
    status: 'succeeded',
    output: 'Noted',
    iterations: 2,
    inputTokens: 10,
  });
  release();
  await running;
  expect((await readExecution(services.db, scope, executionId))!.output).toBe('Noted');
  expect(await notes()).toBe(before + 1);
  expect(asked[2]!.messages.map(({ role }) => role)).toEqual([
    'system',
    'user',
    'assistant',
    'tool',
  ]);
  const { rows } = await services.db.pool.query(
    `select role::text as role from thread_messages where tenant = $1 and thread_id = $2 order by position`,
    [scope.tenant, threadId],
  );
  expect(rows.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
});

test('an execution that ends every process fails as interrupted', async () => {
  const { executionId } = await begin({ agent: { slug: 'scripted' } });
  await ended(executionId);
  const other = await services.db.pool.query(
    `update executions set status = 'running', output = null, attempts = 5, lease_owner = 'killed', lease_until = now() - interval '1 second'
     where tenant = $1 and id = $2`,
    [scope.tenant, executionId],
  );
  expect(other.rowCount).toBe(1);
  expect(await ended(executionId)).toMatchObject({ status: 'failed', error: 'interrupted' });
});

test('a process that is stopped gives its execution back after the current step', async () => {
  const { agents } = services.runtime;
  const stopping = new AbortController();
  answer = () => {
    stopping.abort();
    return text('Too late');
  };
  const { executionId } = await begin();
  const claimed = (await agents.claimExecution(scope.tenant, { id: executionId }))!;
  await agents.runExecution(claimed, stopping.signal);
  expect(await readExecution(services.db, scope, executionId)).toMatchObject({
    status: 'running',
    output: null,
  });
  answer = () => text('Later');
  expect(await ended(executionId)).toMatchObject({ status: 'succeeded', output: 'Later' });
});

test('an organization with many slow executions leaves room for those of another', async () => {
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  answer = async () => {
    await released;
    return text('At last');
  };
  const slow = await Promise.all(Array.from({ length: 45 }, () => begin()));
  await until(async () => asked.length === 24);
  const { scope: other } = await seedOrganization(services.db.pool, {
    agents: [{ slug: 'quick', model: 'offline/scripted' }],
  });
  const { executionId } = await begin({ agent: { slug: 'quick' } }, other);
  expect(await ended(executionId, other)).toMatchObject({ status: 'succeeded' });
  expect(asked.length).toBe(24);
  release();
  for (const { executionId: id } of slow)
    expect(await ended(id)).toMatchObject({ status: 'succeeded', output: 'At last' });
  expect(asked.length).toBe(45);
});
