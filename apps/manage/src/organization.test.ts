import { type TestApi, createTestApi } from './testing/create-test-api';

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi();
});
afterAll(() => api.close());

test('the name and the time zone change for the whole organization, and the audit log has both states', async () => {
  const world = await api.world();
  const change = (body: object, status = 200) =>
    world.call('patch', '/v1/organization', { body }).expect(status);
  const { body } = await change({ timezone: 'America/Santiago' });
  expect(body).toMatchObject({ id: world.scope.organizationId, timezone: 'America/Santiago' });
  await change({ name: 'Ñandú' });
  const production = await api.sibling(world, 'production');
  expect((await production.call('get', '/v1/organization')).body).toMatchObject({
    name: 'Ñandú',
    timezone: 'America/Santiago',
  });
  const log = await production.call('get', '/v1/audit-log?action=organization.changed');
  expect(log.body.data[1]).toMatchObject({ environment: null, before: { timezone: 'UTC' } });
  expect((await change({ timezone: 'Santiago' }, 400)).body.code).toBe('invalid_timezone');
  for (const wrong of [{}, { timezone: '+03:00' }, { name: ' ' }, { slug: 'x' }])
    await change(wrong, 400);
});
