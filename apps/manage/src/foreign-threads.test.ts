import { newId } from '@parley/db';
import { type TestApi, type World, createTestApi } from './testing/create-test-api';
import { insertAgent } from './testing/samples/executions';

let api: TestApi;
let world: World;
let key: string;
const unknown = 'thread_00000000000000000000000000';

/** A thread with a turn that runs, with the id and the external id of it. */
async function insertThread({ scope }: World, channel: string, externalId: string) {
  const id = newId('thread');
  await api.db.pool.query(
    `insert into threads (id, tenant, environment, external_id, channel, agent_slug, last_message_at, updated_at)
     values ($1, $2, $3::"Environment", $4, $5, 'helper', now(), now())`,
    [id, scope.tenant, scope.environment, externalId, channel],
  );
  await api.db.pool.query(
    `insert into executions (thread_id, tenant, environment, agent_slug, status, input, background)
     values ($1, $2, $3::"Environment", 'helper', 'queued', 'Hello', '{"callerId":"key_other"}')`,
    [id, scope.tenant, scope.environment],
  );
  return { id, externalId };
}

type Foreign = Record<
  'whatsapp' | 'widget' | 'dashboard' | 'otherKey' | 'environment' | 'tenant',
  { id: string; externalId: string }
>;
let foreign: Foreign;

beforeAll(async () => {
  api = await createTestApi();
  world = await api.world();
  const [sibling, foreignWorld] = [await api.sibling(world, 'production'), await api.world()];
  for (const one of [world, sibling, foreignWorld]) await insertAgent(one);
  key = await api.keyOf(world.scope, ['chat']);
  foreign = {
    whatsapp: await insertThread(world, 'whatsapp', 'whatsapp:56911112222'),
    widget: await insertThread(world, 'widget', 'widget:pk_1:identified:camila'),
    dashboard: await insertThread(world, 'dashboard', 'web:playground'),
    otherKey: await insertThread(world, 'api', 'web:other'),
    environment: await insertThread(sibling, 'api', 'web:production'),
    tenant: await insertThread(foreignWorld, 'api', 'web:tenant'),
  };
});
afterAll(() => api.close());

/** Status and body of an answer, without the id of its request. */
async function answerOf(request: ReturnType<World['call']>) {
  const { status, body } = await request;
  return { status, body: { ...body, requestId: undefined } };
}
const stream = (id: string, as = key) =>
  answerOf(world.call('get', `/v1/threads/${encodeURIComponent(id)}/stream`, { key: as }));
const start = (body: object, as = key) =>
  answerOf(
    world.call('post', '/v1/executions', {
      key: as,
      body: { agentSlug: 'helper', message: 'Hello', ...body },
    }),
  );
const complete = (threadId: string) =>
  answerOf(
    world.call('post', '/openai/v1/chat/completions', {
      key,
      body: {
        model: 'agent:helper',
        messages: [{ role: 'user', content: 'Hello' }],
        metadata: { thread_id: threadId },
      },
    }),
  );

const all: (keyof Foreign)[] = [
  'whatsapp',
  'widget',
  'dashboard',
  'otherKey',
  'environment',
  'tenant',
];

test.each(all)(
  'the stream of a thread is 404 for a key with chat that started nothing there: %s',
  async (whose) => {
    const expected = await stream(unknown);
    expect(expected).toMatchObject({ status: 404, body: { code: 'thread_not_found' } });
    const { id, externalId } = foreign[whose];
    expect(await stream(id)).toEqual(expected);
    expect(await stream(externalId)).toEqual(expected);
  },
);

test.each(all.filter((whose) => whose !== 'otherKey'))(
  'a key with chat does not continue a thread that is not of the API: %s',
  async (whose) => {
    const { id } = foreign[whose];
    const expected = await start({ threadId: unknown });
    expect(expected).toMatchObject({ status: 404, body: { code: 'thread_not_found' } });
    expect(await start({ threadId: id })).toEqual(expected);
    expect(await complete(id)).toEqual(await complete(unknown));
    const { rows } = await api.db.pool.query(
      'select count(*)::int as turns from executions where thread_id = $1',
      [id],
    );
    expect(rows).toEqual([{ turns: 1 }]);
  },
);

test('threads of the API are shared by the keys of an environment, and each key streams what it has started', async () => {
  const { id } = foreign.otherKey;
  expect(await start({ threadId: id })).toMatchObject({ status: 202, body: { threadId: id } });
  const { rows } = await api.db.pool.query<{ id: string }>(
    `update executions set status = 'succeeded', output = 'Hi', finished_at = now() where thread_id = $1 returning id::text`,
    [id],
  );
  expect(rows).toHaveLength(2);
  expect((await stream(id)).status).toBe(204);
  expect((await stream('web:other')).status).toBe(204);
});

test('a key with manage, and a person, see and continue the threads of channels', async () => {
  const { id } = foreign.whatsapp;
  expect(await start({ threadId: id }, world.key)).toMatchObject({
    status: 202,
    body: { threadId: id },
  });
  const { headers } = await api.person(world, 'member');
  const body = { agentSlug: 'helper', message: 'Hello', threadId: id };
  await api.call('post', '/v1/executions', { headers, body }).expect(202);
  await api.db.pool.query(
    `update executions set status = 'succeeded', finished_at = now() where thread_id = $1`,
    [id],
  );
  expect((await stream(id, world.key)).status).toBe(204);
});
