import { until } from '@parley/testing';
import { type TestApi, type World, createTestApi } from './testing/create-test-api';
import { event } from './testing/samples/events';

let api: TestApi;
let world: World;
beforeAll(async () => {
  api = await createTestApi();
});
beforeEach(async () => {
  world = await api.world();
});
afterAll(() => api.close());

const get = async (path: string, status = 200) =>
  (await world.call('get', path).expect(status)).body;
const typesOf = (page: { data: { type: string }[] }) => page.data.map(({ type }) => type);

test('events are listed newest first, page by page, and filtered', async () => {
  for (const type of ['a.one', 'a.two', 'b.three']) await event(world, type);
  await event(await api.sibling(world, 'production'), 'a.production');
  expect(typesOf(await get('/v1/events'))).toEqual(['b.three', 'a.two', 'a.one']);
  expect(typesOf(await get('/v1/events?type=a.*'))).toEqual(['a.two', 'a.one']);
  const first = await get('/v1/events?limit=2');
  const second = await get(`/v1/events?limit=2&cursor=${first.cursor}`);
  expect([typesOf(second), second.hasMore, first.hasMore]).toEqual([['a.one'], false, true]);
  expect((await get(`/v1/events?cursor=${second.cursor}`)).data).toEqual([]);
  await get(`/v1/events?type=a.*&cursor=${first.cursor}`, 400);
});

test('a follower gets each event once, and none of an open transaction is passed', async () => {
  await event(world, 'a.before');
  let { cursor, data } = await get('/v1/events/next');
  expect(data).toEqual([]);
  const client = await api.db.pool.connect();
  await client.query('begin');
  await client.query('select pg_current_xact_id()');
  await event(world, 'a.while');
  expect((await get(`/v1/events/next?after=${cursor}`)).data).toEqual([]);
  await client.query('commit');
  client.release();
  await event(world, 'a.after');
  const seen: string[] = [];
  await until(async () => {
    ({ cursor, data } = await get(`/v1/events/next?limit=1&after=${cursor}`));
    seen.push(...typesOf({ data }));
    return seen.length >= 2;
  });
  expect(seen).toEqual(['a.while', 'a.after']);
  await get('/v1/events/next?after=x', 400);
  expect((await get('/v1/events/next?after=1.1', 409)).code).toBe('resync');
});
