import { builtInToolNames } from '@parley/tools';
import { type TestApi, type World, createTestApi } from './testing/create-test-api';
import { insertDefinitions } from './testing/samples/definitions';

let api: TestApi;
let world: World;
beforeAll(async () => {
  api = await createTestApi();
});
afterAll(() => api.close());
beforeEach(async () => {
  world = await api.world();
});

const get = async (path: string) => (await world.call('get', path).expect(200)).body;

test('an agent is shown with what its roles allow, and which policy decides', async () => {
  const slug = await insertDefinitions(world);
  const { revision, definition, rights } = await get(`/v1/agents/${slug}`);
  expect([revision, definition.systemPrompt]).toEqual([1, 'You sell.']);
  const { entityType, actions } = rights.entityTypes[0];
  expect([
    entityType,
    actions.map((right: { action: string; allowed: boolean }) => [right.action, right.allowed]),
  ]).toEqual([
    'order',
    [
      ['create', false],
      ['read', true],
      ['update', false],
      ['delete', false],
      ['list', true],
    ],
  ]);
  expect(actions[1]).toMatchObject({
    reason: `policies.0 of the role "r${slug}" allows it`,
    policies: [{ policy: 0 }],
  });
  expect(actions[0]).toMatchObject({
    reason: `no policy of the role "r${slug}" allows it`,
    policies: [],
  });
  const tool = (name: string) =>
    rights.tools.find((listed: { name: string }) => listed.name === name);
  expect(rights.tools).toHaveLength(3);
  expect(tool('entity.query')).toMatchObject({ action: 'list', permission: null });
  expect(tool('web.fetch').permission).toMatchObject({ allowed: false, policies: [{ policy: 1 }] });
  expect(tool(`orders.${slug}`).permission).toMatchObject({ allowed: false, policies: [] });
});

test('lists have the definitions of the environment, and no code of tools', async () => {
  const slugs = [await insertDefinitions(world), await insertDefinitions(world)].reverse();
  const agents = await get('/v1/agents');
  expect(agents.data.map(({ slug }: { slug: string }) => slug)).toEqual(slugs);
  expect(JSON.stringify(agents)).not.toContain('You sell.');
  const slugsOf = async (path: string) =>
    (await get(path)).data.map(
      ({ definition }: { definition: { slug: string } }) => definition.slug,
    );
  expect(await slugsOf('/v1/routers')).toEqual(slugs.map((slug) => `o${slug}`));
  expect(await slugsOf('/v1/roles')).toEqual(slugs.map((slug) => `r${slug}`));
  const tools = await get('/v1/tools');
  expect(JSON.stringify(tools)).not.toContain('handlerCode');
  expect(tools.data[0]).toMatchObject({
    name: `orders.${slugs[0]}`,
    custom: { revision: 1, secrets: ['TOKEN'] },
  });
  const production = await api.sibling(world, 'production');
  expect((await production.call('get', '/v1/agents').expect(200)).body.data).toEqual([]);
});

test('pages of tools have every custom tool, then every built-in tool, once', async () => {
  const slugs = [await insertDefinitions(world), await insertDefinitions(world)].reverse();
  const expected = [...slugs.map((slug) => `orders.${slug}`), ...builtInToolNames];
  for (const limit of [1, 2, 3, 7, 100]) {
    const names: string[] = [];
    for (let cursor = '', more = true; more;) {
      const page = await get(`/v1/tools?limit=${limit}&cursor=${cursor}`);
      names.push(...page.data.map(({ name }: { name: string }) => name));
      ({ cursor, hasMore: more } = page);
    }
    expect(names).toEqual(expected);
  }
});

test('an agent without a definition in the environment is not found', async () => {
  const slug = await insertDefinitions(await api.sibling(world, 'production'));
  await world.call('get', `/v1/agents/${slug}`).expect(404);
  await world.call('get', '/v1/agents/%F0%9F%A6%A4').expect(404);
});
