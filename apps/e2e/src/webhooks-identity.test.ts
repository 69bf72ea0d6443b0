import { until } from '@parley/testing';
import { createClient, push } from './client';
import { catalog } from './catalog';
import {
  clerk,
  deliver,
  deliverAndWait,
  polar,
  sample,
  sign,
  unique,
  waitForDelivery,
} from './deliveries';
import { shared } from './stack';
import { type Tenant, createTenant } from './tenant';
import { openCommandLine, providerSettings } from './command-line';

jest.setTimeout(120_000);

let tenant: Tenant;
const commandLine = openCommandLine(providerSettings());
beforeAll(async () => {
  tenant = await createTenant();
});
afterAll(async () => {
  commandLine.close();
  await tenant.close();
});

/** Events about an organization, its users and memberships with ids that no other test uses. */
function identityOf(name: string) {
  const event = (file: string) =>
    JSON.parse(
      JSON.stringify(sample(`clerk/${file}`))
        .replaceAll('2zFixt', name)
        .replaceAll('acme-', `acme-${name}-`),
    ) as { type: string; data: Record<string, unknown> };
  return { event, organization: `org_${name}OrgAcme00000000000001`, slug: `acme-${name}-renamed` };
}

const stateOf = async (organization: string) => ({
  organization: await tenant.query('select slug, name from organizations where external_id = $1', [
    organization,
  ]),
  members: await tenant.query(
    `select u.email, u.first_name, m.role from memberships m join users u on u.id = m.user_id
     join organizations o on o.no = m.tenant where o.external_id = $1`,
    [organization],
  ),
});

it.each([
  ['the latest first', ['organizationMembership.updated', 'organization.updated', 'user.updated']],
  ['the user between', ['organization.updated', 'user.updated', 'organizationMembership.updated']],
])('users, organizations and memberships end in the latest state: %s', async (_, latest) => {
  const { event, organization, slug } = identityOf(unique());
  const earlier = ['organizationMembership.created', 'user.created', 'organization.created'];
  for (const file of [...latest, ...earlier, ...latest])
    await deliverAndWait(tenant, clerk, event(file));
  expect(await stateOf(organization)).toEqual({
    organization: [{ slug, name: 'Acme Fixture Renamed' }],
    members: [{ email: 'alpha.renamed@example.com', first_name: 'Alpha', role: 'member' }],
  });
  // An owner is stored as an admin, and an earlier state that arrives late is ignored.
  const promoted = event('organizationMembership.updated');
  Object.assign(promoted.data, { role: 'org:owner', updated_at: 1_788_264_900_000 });
  await deliverAndWait(tenant, clerk, promoted);
  const late = await deliverAndWait(tenant, clerk, event('organizationMembership.updated'));
  expect(late).toMatchObject({ status: 'ignored', reason: expect.stringContaining('newer') });
  expect((await stateOf(organization)).members).toMatchObject([{ role: 'admin' }]);
  await deliverAndWait(tenant, clerk, event('organizationMembership.deleted'));
  await deliverAndWait(tenant, clerk, event('organizationMembership.created'));
  expect((await stateOf(organization)).members).toEqual([]);
});

it('concurrent events, in any order, lead to one state', async () => {
  const { event, organization, slug } = identityOf(unique());
  const files = ['user', 'organization', 'organizationMembership'].flatMap((kind) => [
    `${kind}.created`,
    `${kind}.updated`,
  ]);
  const ids = await Promise.all(
    [...files, ...files].map(async (file) => {
      const id = `msg_${unique()}`;
      expect((await deliver(clerk, event(file), { id })).body).toEqual({ received: true });
      return id;
    }),
  );
  for (const id of ids)
    expect(['processed', 'ignored']).toContain((await waitForDelivery(tenant, id)).status);
  expect(await stateOf(organization)).toEqual({
    organization: [{ slug, name: 'Acme Fixture Renamed' }],
    members: [{ email: 'alpha.renamed@example.com', first_name: 'Alpha', role: 'member' }],
  });
});

it("a deleted organization's keys are answered with 401, its data is deleted, and a report counts the deleted rows", async () => {
  const { event, organization, slug } = identityOf(unique());
  await deliverAndWait(tenant, clerk, event('organization.updated'));
  await deliverAndWait(tenant, clerk, event('organizationMembership.created'));
  const [{ id, no }] = (await tenant.query(
    'select id, no from organizations where external_id = $1',
    [organization],
  )) as [{ id: string; no: number }];
  const key = await commandLine.parley([
    ...[
      'keys',
      'create',
      '--org',
      slug,
      '--env',
      'development',
      '--name',
      'e2e',
      '--permissions',
      '*,manage',
    ],
  ]);
  const client = createClient(shared.url, key);
  await push(client, catalog);
  for (let count = 0; count < 3; count += 1)
    await client.post('/v1/data/product', { data: { name: 'Lamp' } });
  expect(
    (await client.post('/v1/agents/assistant/chat', { message: 'Hi', externalThreadId: 'web:1' }))
      .status,
  ).toBe(200);
  await commandLine.parley(
    ['integrations', 'set', 'kapso', '--org', slug, '--api-key', 'key-of-kapso'],
    {
      env: { PARLEY_URL: shared.url, PARLEY_API_KEY: key },
    },
  );
  const order = sample('polar/order.paid');
  Object.assign(order.data, { id: unique(), metadata: { organizationId: organization } });
  expect(await deliverAndWait(tenant, polar, order)).toMatchObject({
    status: 'processed',
    tenant: no,
  });

  const deleted = `msg_${unique()}`;
  expect((await deliver(clerk, event('organization.deleted'), { id: deleted })).status).toBe(200);
  await until(async () => (await client.get('/v1/entity-types')).status === 401);
  await until(
    async () => (await client.post('/v1/agents/assistant/chat', { message: 'Hi' })).status === 401,
  );
  const purge = await until(async () => {
    const { purges } = JSON.parse(
      await commandLine.parley(['org', 'purges', '--json', '--limit', '1000']),
    ) as {
      purges: { organizationId: string; state: string; deleted: Record<string, number> }[];
    };
    return purges.find(
      ({ organizationId, state }) => organizationId === id && state === 'finished',
    );
  });
  expect(purge).toMatchObject({
    slug,
    externalId: organization,
    deleted: {
      organizations: 1,
      api_keys: 1,
      agents: 1,
      entities: 3,
      threads: 1,
      executions: 1,
      thread_messages: 2,
      integrations: 1,
      credit_entries: 1,
      memberships: 1,
    },
  });
  // The deliveries of the organization are deleted, too, as they contain its data.
  expect(purge.deleted.webhook_deliveries).toBeGreaterThanOrEqual(4);
  const tables = await tenant.query(
    `select table_name from information_schema.columns
     where column_name = 'tenant' and table_schema = 'public' and table_name <> 'organization_purges'`,
  );
  for (const { table_name: table } of tables)
    expect({
      table,
      left: await tenant.query(`select 1 from ${String(table)} where tenant = $1`, [no]),
    }).toEqual({ table, left: [] });
  expect(await commandLine.parley(['org', 'purges', '--org', slug])).toMatch(/finished/);
  // A late event does not create it again.
  await deliverAndWait(tenant, clerk, event('organization.updated'));
  expect((await stateOf(organization)).organization).toEqual([]);
});

it('a wrong signature is refused', async () => {
  const body = Buffer.from(JSON.stringify(sample('clerk/organization.deleted')));
  const forged = createClient(shared.url).send('POST', clerk, new Uint8Array(body), {
    ...sign(clerk, body),
    'svix-signature': `v1,${Buffer.alloc(32).toString('base64')}`,
  });
  expect(await forged).toMatchObject({
    status: 401,
    body: { error: 'Invalid signature', code: 'invalid_signature' },
  });
});
