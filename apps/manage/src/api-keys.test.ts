import { until } from '@parley/testing';
import { type TestApi, type World, createTestApi } from './testing/create-test-api';

let api: TestApi;
let world: World;
beforeAll(async () => {
  api = await createTestApi();
});
beforeEach(async () => {
  world = await api.world();
});
afterAll(() => api.close());

const create = async (body: object, status = 201) =>
  (await world.call('post', '/v1/api-keys', { body: { name: 'k', ...body } }).expect(status)).body;
const statusWith = async (key: string) => (await api.call('get', '/v1/api-keys', { key })).status;

test('a created key works, is shown once, and is never in a list or in the audit log', async () => {
  const { key, id, prefix } = await create({ permissions: ['manage'] });
  expect(await statusWith(key)).toBe(200);
  const { text, body } = await world.call('get', '/v1/api-keys');
  expect(body.data[0]).toMatchObject({
    id,
    prefix,
    permissions: ['manage'],
    role: null,
    revokedAt: null,
  });
  const log = await world.call('get', '/v1/audit-log');
  expect(log.body.data[0]).toMatchObject({
    action: 'api_key.created',
    target: { type: 'api_key', id },
  });
  for (const shown of [text, log.text]) expect(shown).not.toContain(key.slice(14));
});

test('a rotated key works until the overlap ends, a revoked one no longer', async () => {
  const { key, id } = await create({ permissions: ['manage'] });
  const rotate = (body: object, of = id) =>
    world.call('post', `/v1/api-keys/${of}/rotate`, { body });
  const rotated = (await rotate({ overlapSeconds: 60 }).expect(201)).body;
  expect(rotated).toMatchObject({ name: 'k', permissions: ['manage'] });
  expect([await statusWith(key), await statusWith(rotated.key)]).toEqual([200, 200]);
  const again = (await rotate({ overlapSeconds: 0 }).expect(201)).body;
  await world.call('delete', `/v1/api-keys/${rotated.id}`).expect(200);
  await until(async () => [await statusWith(key), await statusWith(rotated.key)], {
    isThere: (statuses) => statuses.every((status) => status === 401),
    limitMs: 10_000,
  });
  expect(await statusWith(again.key)).toBe(200);
  await rotate({}).expect(409);
  await rotate({ overlapSeconds: -1 }, again.id).expect(400);
  await world.call('delete', `/v1/api-keys/${rotated.id}`).expect(200);
});

test('keys without a meaning are refused', async () => {
  expect((await create({ permissions: ['manage'], role: 'clerk' }, 400)).code).toBe(
    'manage_with_role',
  );
  expect((await create({ permissions: ['chat'], role: 'clerk' }, 400)).code).toBe('unknown_role');
  expect((await create({ permissions: ['chat'], expiresAt: 1 }, 400)).code).toBe('invalid_expiry');
  for (const body of [
    { permissions: [] },
    { permissions: ['all'] },
    { permissions: ['chat'], name: ' ' },
    {},
  ])
    await create(body, 400);
  await world.call('delete', '/v1/api-keys/key_unknown').expect(404);
});
