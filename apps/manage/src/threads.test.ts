import { type TestApi, type World, createTestApi } from './testing/create-test-api';
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

const get = async (path: string, status = 200) => (await world.call('get', path).expect(status)).body;
const post = async (path: string, status = 200) => (await world.call('post', path).expect(status)).body;

test('a thread is found by its id and its external id, and taken over and resumed', async () => {
  const id = await thread(world);
  await api.db.pool.query(`update threads set external_id = 'order/7 ñ' where id = $1`, [id]);
  const external = encodeURIComponent('order/7 ñ');
  expect(await get(`/v1/threads/${external}`)).toMatchObject({
    id,
    externalId: 'order/7 ñ',
    state: 'agent',
    turnCount: 1,
  });
  expect(await post(`/v1/threads/${external}/takeover`)).toEqual({ id, state: 'human', changed: true });
  expect(await post(`/v1/threads/${id}/takeover`)).toEqual({ id, state: 'human', changed: false });
  expect((await get('/v1/threads?state=human')).data).toMatchObject([{ id, lastInput: 'Where is it?' }]);
  expect((await get('/v1/threads?state=agent')).data).toEqual([]);
  expect(await post(`/v1/threads/${id}/resume`)).toEqual({ id, state: 'agent', changed: true });
  await get('/v1/threads/unknown', 404);
  await get('/v1/threads?state=waiting', 400);
});

test('the messages of a thread are paged, newest first, without results of tools', async () => {
  const id = await thread(world);
  await api.db.pool.query(
    `insert into thread_messages (id, tenant, thread_id, execution_id, position, role, content, tool_calls)
     select $1 || i, tenant, thread_id, execution_id, i, (array['assistant', 'tool', 'assistant'])[i]::"MessageRole", 'm' || i,
       case when i = 1 then '[{"id":"call_1","name":"a","args":{}}]'::jsonb end
     from thread_messages, generate_series(1, 3) i where thread_id = $1`,
    [id],
  );
  const seen: string[] = [];
  for (let cursor = '', more = true; more;) {
    const page = await get(`/v1/threads/${id}/messages?limit=2&cursor=${cursor}`);
    seen.push(...page.data.map(({ content }: { content: string }) => content));
    ({ cursor, hasMore: more } = page);
  }
  expect(seen).toEqual(['m3', 'm1', 'Where is it?']);
  expect((await get(`/v1/threads/${id}/messages`)).data[1].toolCallIds).toEqual(['call_1']);
  const other = await thread(world);
  const { cursor } = await get(`/v1/threads/${id}/messages?limit=1`);
  await get(`/v1/threads/${other}/messages?cursor=${cursor}`, 400);
});
