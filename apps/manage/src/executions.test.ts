import { type TestApi, type World, createTestApi } from './testing/create-test-api';
import { insertExecution } from './testing/samples/executions';

let api: TestApi;
let world: World;
beforeAll(async () => {
  api = await createTestApi();
  world = await api.world();
});
afterAll(() => api.close());

const get = async (path: string) => (await world.call('get', path).expect(200)).body;
const update = (id: string, assignments: string) =>
  api.db.pool.query(`update executions set ${assignments} where tenant = $1 and id = $2`, [
    world.scope.tenant,
    id,
  ]);

test('an execution is shown with its prompt, steps, rights and messages', async () => {
  const id = await insertExecution(world);
  expect(await get(`/v1/executions/${id}`)).toMatchObject({
    id,
    agentSlug: 'helper',
    agentRevision: 3,
    status: 'succeeded',
    durationMs: 20,
    prompt: { text: 'You sell.', bytes: 9, isTruncated: false, tools: ['order.find'] },
    steps: [
      {
        type: 'model',
        model: 'openai/test',
        purpose: 'reply',
        status: 'success',
        inputTokens: 7,
        outputTokens: 3,
      },
      {
        type: 'tool',
        name: 'order.find',
        arguments: { n: 1 },
        status: 'success',
        result: { n: 1 },
        permission: { allowed: true, reason: 'the agent has no roles', policies: [] },
        logs: [{ level: 'log', message: 'found' }],
        durationMs: 2,
      },
    ],
    messages: [{ role: 'user', content: 'Where is it?' }],
    deliveries: [],
  });
});

test('a call that its process did not end is unknown, a denied one has its error, and a large result is shortened', async () => {
  const id = await insertExecution(world);
  const large = JSON.stringify({ ok: true, result: 'ñ'.repeat(300_000) });
  const denied = JSON.stringify({ ok: false, errorType: 'permission_denied', message: 'No' });
  await api.db.pool.query(
    `insert into tool_calls (tenant, execution_id, call_id, name, args, status, result, started_at)
     values ($1, $2, 'x', 'a.b', '{}', 'started', null, now() + interval '1 s'), ($1, $2, 'y', 'a.c', '{}', 'failed', $3, now() + interval '2 s'),
       ($1, $2, 'z', 'a.d', '{}', 'succeeded', $4, now() + interval '3 s')`,
    [world.scope.tenant, id, denied, large],
  );
  const { steps } = await get(`/v1/executions/${id}`);
  expect(steps.slice(2)).toMatchObject([
    { name: 'a.b', status: 'unknown', result: null, permission: null, durationMs: null },
    { name: 'a.c', status: 'error', errorType: 'permission_denied', errorMessage: 'No' },
    {
      name: 'a.d',
      status: 'success',
      result: null,
      resultStart: expect.stringMatching(/^\{"ok": true, "result": "ñ/),
    },
  ]);
});

test('the messages that delivered the answer on a channel are shown with their state', async () => {
  const id = await insertExecution(world);
  await update(id, `request_id = 'msg_in'`);
  await api.db.pool.query(
    `insert into messages (id, tenant, environment, direction, contact, type, status, error, payload, idempotency_key, updated_at)
     values ('out_1', $1, 'development', 'outbound', '569', 'text', 'failed', 'window closed', '{}', 'reply-msg_in-0', now())`,
    [world.scope.tenant],
  );
  const { deliveries } = await get(`/v1/executions/${id}`);
  expect(deliveries).toMatchObject([
    { messageId: 'out_1', status: 'failed', error: 'window closed' },
  ]);
});

test('an execution whose prompt was erased, or is older than prompts, has none', async () => {
  const [erased, old] = [await insertExecution(world), await insertExecution(world)];
  await update(erased, `prompt_hash = sha256('erased')`);
  await update(old, 'prompt_hash = null');
  for (const id of [erased, old])
    expect(await get(`/v1/executions/${id}`)).toMatchObject({ prompt: null });
});

test('pages are stable while executions are added, and filters combine', async () => {
  world = await api.world();
  const ids: string[] = [];
  for (let i = 0; i < 5; i++) ids.unshift(await insertExecution(world));
  await update(ids[2]!, `tool_error_count = 1, agent_slug = 'other'`);
  const paged: string[] = [];
  for (let cursor = '', more = true; more;) {
    const page = await get(`/v1/executions?limit=2&cursor=${cursor}`);
    paged.push(...page.data.map(({ id }: { id: string }) => id));
    ({ cursor, hasMore: more } = page);
    if (paged.length === 2) await insertExecution(world);
  }
  expect(paged).toEqual(ids);
  const found = async (query: string) =>
    (await get(`/v1/executions?${query}`)).data.map(({ id }: { id: string }) => id);
  expect(await found('toolErrors=true&agent=other')).toEqual([ids[2]]);
  expect(await found('toolErrors=true&agent=helper')).toEqual([]);
  expect(await found('status=failed')).toEqual([]);
  expect(await found(`since=${Date.now() + 60_000}`)).toEqual([]);
});

test.each([
  'status=done',
  'toolErrors=1',
  'since=yesterday',
  'limit=0',
  'cursor=c1.W10',
  `agent=${'a'.repeat(300)}`,
])('refuses %s', async (query) => {
  await world.call('get', `/v1/executions?${query}`).expect(400);
});

test.each(['0', 'x', '99999999999999999999', '9223372036854775808', '%F0%9F%A6%A4'])(
  'finds no execution %s',
  async (id) => {
    await world.call('get', `/v1/executions/${id}`).expect(404);
  },
);
