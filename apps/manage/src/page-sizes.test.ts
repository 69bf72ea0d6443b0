import { type TestApi, type World, createTestApi } from './testing/create-test-api';
import { insertAgent, insertExecution } from './testing/samples/executions';
import { message } from './testing/samples/messages';
import { thread } from './testing/samples/threads';

let api: TestApi;
let world: World;
beforeAll(async () => {
  api = await createTestApi();
});
beforeEach(async () => {
  world = await api.world();
});
afterAll(() => api.close());

const mebibyte = 1_048_576;
/** The rows of a page, and the rest of the answer. */
const largestAnswerBytes = mebibyte + 4_096;

const get = async (path: string) => (await world.call('get', path).expect(200)).body;
/** `$1` is the number of the organization. */
const sql = (text: string, values: unknown[] = []) =>
  api.db.pool.query(text.replaceAll('$1', '$1::int'), [world.scope.tenant, ...values]);

/** Reads all pages of a list, each of which must be small. */
async function readAll(path: string): Promise<{ items: Record<string, unknown>[]; pages: number }> {
  const items: Record<string, unknown>[] = [];
  let pages = 0;
  for (let cursor = '', more = true; more; pages += 1) {
    const { text, body } = await world
      .call('get', `${path}limit=100&cursor=${encodeURIComponent(cursor)}`)
      .expect(200);
    expect(Buffer.byteLength(text)).toBeLessThan(largestAnswerBytes);
    expect(body.data.length).toBeGreaterThan(0);
    items.push(...body.data);
    ({ cursor, hasMore: more } = body);
  }
  return { items, pages };
}

const idsOf = (items: Record<string, unknown>[]) =>
  new Set(
    items.map(
      ({ id, slug, name, definition }) =>
        id ?? slug ?? name ?? (definition as { slug: string }).slug,
    ),
  ).size;

test('messages of megabytes are cut in the list, their pages end at 1 MiB, and each can be read whole', async () => {
  const id = await thread(world);
  await sql(
    `insert into thread_messages (id, tenant, thread_id, execution_id, position, role, content)
     select 'long' || n, tenant, thread_id, execution_id, n, 'user', n || repeat('ñ', 3500000)
     from thread_messages, generate_series(10, 39) n where tenant = $1`,
  );
  const { items, pages } = await readAll(`/v1/threads/${id}/messages?`);
  expect(items).toHaveLength(31);
  expect(idsOf(items)).toBe(31);
  expect(pages).toBeGreaterThan(1);
  expect(items[0]).toMatchObject({
    id: 'long39',
    isTruncated: true,
    content: '39' + 'ñ'.repeat(65_534),
  });
  expect(items[30]).toMatchObject({ content: 'Where is it?' });
  expect(items[30]).not.toHaveProperty('isTruncated');
  const whole = await get(`/v1/threads/${id}/messages/long39`);
  expect(whole).toMatchObject({ id: 'long39', role: 'user' });
  expect(whole.content).toBe('39' + 'ñ'.repeat(3_500_000));
  expect(whole).not.toHaveProperty('isTruncated');
});

test('a message is found only in its thread, and not a result of a tool', async () => {
  const [id, other] = [await thread(world), await thread(world)];
  await sql(`update thread_messages set id = 'mine' where tenant = $1 and thread_id = $2`, [id]);
  await sql(
    `insert into thread_messages (id, tenant, thread_id, execution_id, position, role, content)
     select 'result', tenant, thread_id, execution_id, 7, 'tool', '{}' from thread_messages where tenant = $1 and id = 'mine'`,
  );
  expect(await get(`/v1/threads/${id}/messages/mine`)).toMatchObject({ content: 'Where is it?' });
  for (const path of [`${other}/messages/mine`, `${id}/messages/result`, `${id}/messages/none`]) {
    const { body } = await world.call('get', `/v1/threads/${path}`).expect(404);
    expect(body.code).toBe('message_not_found');
  }
  const outsider = await api.world();
  await outsider.call('get', `/v1/threads/${id}/messages/mine`).expect(404);
});

test('names of contacts that were stored with megabytes are cut in lists, in a thread and in a search', async () => {
  await thread(world);
  await sql(
    `insert into threads (id, tenant, environment, params, last_message_at, updated_at)
     select 'named' || n, $1, 'development', jsonb_build_object('contactName', 'Ana' || n || repeat('x', 7000000)), now(), now()
     from generate_series(1, 5) n`,
  );
  const { items, pages } = await readAll('/v1/threads?');
  expect(items).toHaveLength(6);
  expect(pages).toBe(1);
  expect(
    items.map(({ contactName }) => (contactName as string | null)?.length ?? 0).sort(),
  ).toEqual([0, 200, 200, 200, 200, 200]);
  expect((await get('/v1/threads?q=Ana3')).data).toMatchObject([{ id: 'named3' }]);
  expect((await get('/v1/threads/named3')).contactName).toHaveLength(200);
});

test('an execution shows the beginnings of large messages, arguments and results, which the process never holds', async () => {
  const id = await insertExecution(world);
  await sql(`update executions set input = repeat('x', 3000000) where tenant = $1`);
  await sql(
    `insert into thread_messages (id, tenant, thread_id, execution_id, position, role, content)
     select 'm' || n, tenant, thread_id, execution_id, n, (case when n < 20 then 'assistant' else 'tool' end)::"MessageRole", repeat('y', 500000)
     from thread_messages, generate_series(10, 29) n where tenant = $1`,
  );
  await sql(
    `insert into tool_calls (tenant, execution_id, call_id, name, args, status, result, finished_at)
     select $1, $2, 'c' || n, 'a.b', jsonb_build_object('text', repeat('a', case n when 1 then 300000 else 200000 end)), 'succeeded',
       jsonb_build_object('ok', true, 'result', repeat('r', 200000)), now() from generate_series(1, 30) n`,
    [id],
  );
  const { text, body } = await world.call('get', `/v1/executions/${id}`).expect(200);
  expect(Buffer.byteLength(text)).toBeLessThan(8 * mebibyte);
  expect(body).toMatchObject({ isInputTruncated: true, input: 'x'.repeat(mebibyte) });
  expect(body.messages).toHaveLength(11);
  expect(body.messages[1]).toMatchObject({ isTruncated: true, content: 'y'.repeat(65_536) });
  const calls = body.steps.filter((step: { name: string }) => step.name === 'a.b');
  expect(calls).toHaveLength(30);
  const first = calls.find((step: { callId: string }) => step.callId === 'c1');
  expect(first).toMatchObject({
    arguments: null,
    argumentsStart: expect.stringMatching(/^\{"text": "aaa/),
  });
  expect(first.argumentsStart).toHaveLength(2_000);
  const last = calls.at(-1);
  expect(last).toMatchObject({
    arguments: null,
    result: null,
    resultStart: expect.stringMatching(/^\{"ok": true/),
  });
});

const large = `repeat('x', 150000)`;
const lists: [path: string, insert: string][] = [
  [
    '/v1/agents?',
    `with a as (insert into agents (id, tenant, slug) select 'a' || n || '-' || $1, $1, 'agent' || n from generate_series(1, 40) n returning id, slug)
     insert into agent_configs (id, tenant, agent_id, environment, name, definition, updated_at)
     select 'c' || id, $1, id, 'development', slug, json_build_object('name', slug, 'systemPrompt', ${large}, 'tools', (select json_agg(i || repeat('t', 190)) from generate_series(1, 200) i)), now() from a`,
  ],
  [
    '/v1/routers?',
    `insert into routers (id, tenant, environment, slug, name, definition, updated_at)
     select 'r' || n || '-' || $1, $1, 'development', 'router' || n, 'R', json_build_object('name', ${large}, 'mode', 'rules',
       'agents', json_build_array('a'), 'rules', json_build_array(), 'fallback', 'a'), now() from generate_series(1, 12) n`,
  ],
  [
    '/v1/roles?',
    `insert into roles (id, tenant, environment, slug, name, definition, updated_at)
     select 'r' || n || '-' || $1, $1, 'development', 'role' || n, 'R', json_build_object('name', 'R', 'description', ${large}, 'policies',
       json_build_array()), now() from generate_series(1, 12) n`,
  ],
  [
    '/v1/triggers?',
    `insert into triggers (id, tenant, environment, slug, name, definition, updated_at)
     select 't' || n || '-' || $1, $1, 'development', 'trigger' || n, 'T', json_build_object('name', 'T', 'on', json_build_object('entityType',
       'a', 'action', 'created'), 'actions', json_build_array(${large})), now() from generate_series(1, 12) n`,
  ],
  [
    '/v1/trigger-runs?',
    `insert into trigger_runs (id, tenant, environment, trigger_slug, cause, status, context, error, run_at)
     select 'run' || n || '-' || $1, $1, 'development', 't', 'manual-' || n || '-' || $1, 'dead', '{}', ${large}, now() from generate_series(1, 12) n`,
  ],
  [
    '/v1/audit-log?',
    `insert into audit_log (tenant, environment, action, actor_type, after)
     select $1, 'development', 'a.b', 'command', jsonb_build_object('text', ${large}) from generate_series(1, 12) n`,
  ],
  [
    '/v1/webhook-deliveries?',
    `insert into webhook_deliveries (id, provider, delivery_id, path, headers, body, tenant, environment, reason)
     select 'd' || n || '-' || $1, 'kapso', 'x' || n || '-' || $1, '/webhook/kapso/messages', '{}', '', $1, 'development', ${large} from generate_series(1, 12) n`,
  ],
  [
    '/v1/emails?',
    `insert into emails (id, tenant, environment, idempotency_key, "from", "to", subject, status, error, updated_at)
     select 'e' || n || '-' || $1, $1, 'development', 'k' || n || '-' || $1, 'a', '{b}', 's', 'failed', ${large}, now() from generate_series(1, 12) n`,
  ],
  [
    '/v1/credits/entries?',
    `insert into credit_entries (id, tenant, amount_cents, reason, cause)
     select 'c' || n || '-' || $1, $1, 5, ${large}, 'cause' || n || '-' || $1 from generate_series(1, 12) n`,
  ],
  [
    '/v1/executions?',
    `insert into executions (thread_id, tenant, environment, status, input, error)
     select (select id from threads where tenant = $1 limit 1), $1, 'development', 'failed', 'x', ${large} from generate_series(1, 12) n`,
  ],
  [
    '/v1/events?',
    `insert into events (id, tenant, environment, type, payload, actor)
     select time_id() + n, $1, 'development', 'a.b', jsonb_build_object('text', ${large}), '{"type":"system"}' from generate_series(1, 12) n`,
  ],
  [
    '/v1/members?',
    `with u as (insert into users (id, email, first_name, updated_at) select 'u' || n || '-' || $1, 'a', ${large}, now() from generate_series(1, 12) n returning id)
     insert into memberships (id, tenant, user_id, role, verified, updated_at) select 'm' || id, $1, id, 'member', true, now() from u`,
  ],
];

test.each(lists)('pages of %s end at 1 MiB, and together have every row', async (path, insert) => {
  await insertAgent(world);
  await thread(world);
  const before = (await get(`${path}limit=100`)).data.length;
  const { rowCount } = await sql(insert);
  const { items, pages } = await readAll(path);
  expect(items).toHaveLength(before + rowCount!);
  expect(idsOf(items)).toBe(items.length);
  expect(pages).toBe(2);
});

test('the built-in tools follow the custom ones, also when the page of these ends at its size', async () => {
  await sql(
    `insert into tools (id, tenant, environment, name, definition, updated_at)
     select 't' || n || '-' || $1, $1, 'development', 'own.tool' || n, json_build_object('name', 'own.tool' || n, 'description', ${large},
       'parameters', json_build_object('type', 'object'), 'handlerCode', repeat('h', 250000)), now() from generate_series(1, 12) n`,
  );
  const { items } = await readAll('/v1/tools?');
  expect(items.filter(({ isBuiltin }) => !isBuiltin)).toHaveLength(12);
  expect(items.findIndex(({ isBuiltin }) => isBuiltin)).toBe(12);
  expect(idsOf(items)).toBe(items.length);
  expect(items.at(-1)).toMatchObject({ isBuiltin: true });
});

test('a text of a channel that is long is cut in the list and whole in its message', async () => {
  const { id } = await message(world);
  await sql(`update messages set text = repeat('z', 1000000) where tenant = $1`);
  const [listed] = (await get('/v1/messages')).data;
  expect(listed).toMatchObject({ isTruncated: true, text: 'z'.repeat(65_536) });
  expect((await get(`/v1/messages/${id}`)).text).toHaveLength(1_000_000);
});
