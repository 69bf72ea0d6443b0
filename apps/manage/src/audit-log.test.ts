import { recordAudit } from '@parley/audit';
import { type TestApi, type World, createTestApi } from './testing/create-test-api';

let api: TestApi;
let world: World;
const actor = { type: 'person', id: 'user_1', name: 'ana@example.com' } as const;
const record = (action: string, environment: 'development' | 'production' | null = 'development') =>
  recordAudit(
    api.db,
    { ...world.scope, environment },
    { actor, address: '203.0.113.7', requestId: 'r1' },
    { action },
  );

beforeAll(async () => {
  api = await createTestApi();
  world = await api.world();
  for (let i = 0; i < 5; i++) await record(`test.number_${i}`);
  await record('test.whole', null);
  await record('test.production', 'production');
});
afterAll(() => api.close());

const list = async (query = '') =>
  (await world.call('get', `/v1/audit-log?${query}`).expect(200)).body;
const actions = (page: { data: { action: string }[] }) => page.data.map(({ action }) => action);

test('entries are listed newest first, with those of the whole organization, page by page', async () => {
  const all = await list();
  const expected = ['test.whole', ...[4, 3, 2, 1, 0].map((i) => `test.number_${i}`)];
  expect(actions(all)).toEqual(expected);
  expect(all.hasMore).toBe(false);
  expect(all.data[0]).toMatchObject({
    actor,
    address: '203.0.113.7',
    environment: null,
    requestId: 'r1',
    before: null,
  });
  const paged: string[] = [];
  for (let cursor = '', more = true; more;) {
    const page = await list(`limit=2&cursor=${cursor}`);
    paged.push(...actions(page));
    ({ cursor, hasMore: more } = page);
    if (paged.length === 2) await record('test.later', 'production');
  }
  expect(paged).toEqual(expected);
});

test('filters', async () => {
  expect(actions(await list('action=test.number_3'))).toEqual(['test.number_3']);
  expect(actions(await list('actorId=user_2'))).toEqual([]);
  expect(actions(await list(`since=${Date.now() + 60_000}`))).toEqual([]);
});

test('a cursor of another list, environment or filter, and a forged one, are refused', async () => {
  const { cursor } = await list('limit=1');
  const production = await api.sibling(world, 'production');
  const refused = [
    world.call('get', `/v1/audit-log?action=x&cursor=${cursor}`),
    production.call('get', `/v1/audit-log?cursor=${cursor}`),
    world.call('get', '/v1/audit-log?cursor=c1.W10'),
    world.call('get', '/v1/audit-log?limit=0'),
    world.call('get', '/v1/audit-log?since=tomorrow'),
  ];
  for (const request of refused) await request.expect(400);
});

test('a document that is too large is replaced by its size', async () => {
  await recordAudit(
    api.db,
    world.scope,
    { actor },
    { action: 'test.large', after: { text: 'x'.repeat(40_000) } },
  );
  expect((await list('action=test.large')).data[0].after).toEqual({ omitted: '40011 characters' });
});
