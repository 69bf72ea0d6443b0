import { pushResources } from '@parley/resources';
import { type Method, type TestApi, type World, createTestApi } from './testing/create-test-api';

let api: TestApi;
let world: World;
let key: string;

const tool = {
  name: 'a.ship',
  description: 'Ships.',
  parameters: {},
  handlerCode: 'return 1',
  secrets: ['CARRIER_KEY'],
};

beforeAll(async () => {
  api = await createTestApi();
  world = await api.world();
  key = await api.keyOf(world.scope, ['sync']);
  await pushResources(api.db, world.scope, {
    resources: { tools: [tool] },
    knownTools: [],
    source: { actor: { type: 'system', id: null, name: null } },
    mayGrantRights: true,
  });
});
afterAll(() => api.close());

async function call(method: Method, path = '', body?: unknown, as = key) {
  const response = await api.call(method, `/v1/tool-secrets${path}`, { key: as, body });
  return { status: response.status, body: response.body as Record<string, unknown> };
}
const value = 'ck_live_9f2c';
const set = (body: unknown, as?: string) => call('post', '', body, as);

it('sets, lists and deletes a secret, and never returns its value', async () => {
  const unset = { name: 'CARRIER_KEY', setAt: null, tools: ['a.ship'] };
  expect(await call('get')).toEqual({ status: 200, body: { data: [unset] } });
  const setAt = expect.any(Number);
  for (const given of [value, `${value}-2`])
    expect(await set({ name: 'CARRIER_KEY', value: given })).toEqual({
      status: 200,
      body: { name: 'CARRIER_KEY', setAt },
    });
  expect((await call('get')).body).toEqual({ data: [{ ...unset, setAt }] });
  expect(await call('delete', '/CARRIER_KEY')).toEqual({ status: 200, body: { success: true } });
  expect(await call('delete', '/CARRIER_KEY')).toMatchObject({
    status: 404,
    body: { error: 'No secret CARRIER_KEY is set in development', code: 'secret_not_found' },
  });
  expect((await call('get')).body).toEqual({ data: [unset] });
});

it.each([
  [
    { name: 'carrier', value },
    'name: must be 1 to 64 capital letters, digits and _, beginning with a letter',
  ],
  [{ name: `A${'B'.repeat(64)}`, value }, 'name: must be'],
  [{ name: '_A', value }, 'name: must be'],
  [{ name: 'A\n', value }, 'name: must be'],
  [{ name: 'A', value: 'abc' }, 'value: must have at least 4 characters'],
  [{ name: 'A', value: 'ä'.repeat(4_097) }, 'value: must have at most 8192 bytes'],
  [{ name: 'A', value: 5 }, 'value'],
  [{ name: 'A' }, 'value'],
  [{ name: 'A', value, environment: 'production' }, 'environment'],
])('refuses %j, without repeating the value', async (body, error) => {
  const answer = await set(body);
  expect(answer).toMatchObject({
    status: 400,
    body: { error: expect.stringContaining(error), code: 'invalid_body' },
  });
  expect(JSON.stringify(answer.body)).not.toMatch(/ck_live|ää|"abc"/);
});

it('accepts a value of 8 KiB, and refuses the 101st secret with the command that makes room', async () => {
  for (let index = 0; index < 100; index++)
    expect((await set({ name: `S${index}`, value: 'x'.repeat(8_192) })).status).toBe(200);
  expect(await set({ name: 'S100', value })).toMatchObject({
    status: 400,
    body: {
      code: 'too_many_secrets',
      error: expect.stringContaining('parley tool-secrets delete NAME'),
    },
  });
  expect((await set({ name: 'S0', value })).status).toBe(200);
  await api.db.pool.query('delete from tool_secrets');
});

it('requires a key that may push: the permission sync, and no role', async () => {
  for (const [key, code] of [
    [await api.keyOf(world.scope, ['chat', 'data', 'manage']), 'missing_permission'],
    [await api.keyOf(world.scope, ['*'], { role: 'all' }), 'key_has_role'],
  ] as const)
    for (const answer of [
      await set({ name: 'A', value }, key),
      await call('get', '', undefined, key),
      await call('delete', '/A', undefined, key),
    ])
      expect(answer).toMatchObject({ status: 403, body: { code } });
  expect((await set({ name: 'A', value }, 'nope')).status).toBe(401);
});

it('reaches the environment of the key only', async () => {
  await set({ name: 'CARRIER_KEY', value });
  const others = [
    await api.keyOf({ ...world.scope, environment: 'production' }, ['*']),
    await api.keyOf((await api.world()).scope, ['*']),
  ];
  for (const key of others) {
    expect((await call('get', '', undefined, key)).body).toEqual({ data: [] });
    expect((await call('delete', '/CARRIER_KEY', undefined, key)).status).toBe(404);
  }
  expect((await call('get')).body).toMatchObject({
    data: [{ name: 'CARRIER_KEY', setAt: expect.any(Number) }],
  });
});
