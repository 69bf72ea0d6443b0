import { until } from '@parley/testing';
import { assistant, catalog } from './catalog';
import { type Client, push } from './client';
import { type Tenant, createTenant } from './tenant';

let tenant: Tenant;
let client: Client;
let manage: Client & { key: string };

beforeAll(async () => {
  tenant = await createTenant();
  client = await tenant.client();
  manage = await tenant.client({ permissions: ['manage'] });
  await push(client, {
    ...catalog,
    agents: [assistant],
    triggers: [
      {
        slug: 'note-products',
        name: 'Note products',
        on: { entityType: 'product', action: 'created' },
        actions: [{ tool: 'event.emit', args: { type: 'noted', payload: {} } }],
      },
    ],
  });
});
afterAll(() => tenant.close());

test('paths of the management API and of chat share a prefix, and each reaches its service', async () => {
  const agents = await manage.get('/v1/agents');
  expect([agents.status, agents.body.data.map(({ slug }: { slug: string }) => slug)]).toEqual([
    200,
    [assistant.slug],
  ]);
  expect((await manage.get(`/v1/agents/${assistant.slug}`)).status).toBe(200);
  const answer = await client.post(`/v1/agents/${assistant.slug}/chat`, { message: 'hello' });
  expect([answer.status, answer.body.threadId]).toEqual([200, expect.any(String)]);
  const executions = await manage.get(`/v1/executions?thread=${answer.body.threadId}`);
  expect(executions.body.data).toMatchObject([{ status: 'succeeded', input: 'hello' }]);
  expect((await client.get('/v1/agents')).body.code).toBe('missing_permission');
  expect((await manage.post(`/v1/agents/${assistant.slug}/chat`, { message: 'x' })).status).toBe(
    403,
  );
});

test('a disabled trigger starts no run until it is enabled', async () => {
  const create = (name: string) => client.post('/v1/data/product', { data: { name, price: 1 } });
  const runs = async () =>
    (await manage.get('/v1/trigger-runs?trigger=note-products')).body.data.length;
  expect((await manage.post('/v1/triggers/note-products/disable', {})).status).toBe(200);
  expect((await create('Lamp')).status).toBe(201);
  // Runs are planned after the change, with the triggers of that time.
  const unplanned = 'select from events where tenant = $1 and relayed_at is null';
  const untilPlanned = () =>
    until(async () => (await tenant.query(unplanned, [tenant.scope.tenant])).length === 0);
  await untilPlanned();
  expect((await manage.post('/v1/triggers/note-products/enable', {})).status).toBe(200);
  expect((await create('Chair')).status).toBe(201);
  await untilPlanned();
  expect(await runs()).toBe(1);
});

test('a key that is made over the API works on every service, and the audit log shows who made it', async () => {
  const made = await manage.post('/v1/api-keys', {
    name: 'website',
    permissions: ['chat', 'data'],
  });
  expect(made.status).toBe(201);
  const { status } = await client.get('/v1/data/product', {
    Authorization: `Bearer ${made.body.key}`,
  });
  expect(status).toBe(200);
  const log = await manage.get('/v1/audit-log?action=api_key.created');
  expect(log.body.data[0]).toMatchObject({
    actor: { type: 'api_key', name: 'e2e' },
    target: { id: made.body.id },
  });
  expect(log.body.data[0].address).toBeTruthy();
});
