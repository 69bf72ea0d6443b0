import { createDb, type Db } from '@parley/db';
import { createApiKey } from '@parley/identity';
import { openTestDatabase, seedOrganization } from '@parley/testing';
import { checkStored } from './check-stored';

let db: Db;

beforeEach(async () => {
  db = await openTestDatabase(createDb);
});
afterEach(() => db.close());

const details = async () => (await checkStored(db)).map(({ state, detail }) => `${state}: ${detail}`);
const role = { slug: 'clerk', name: 'Clerk', policies: [] };

test('what is stored and follows the rules is one finding', async () => {
  const { scope } = await seedOrganization(db.pool, {
    slug: 'shop',
    agents: [{ slug: 'helper' }],
    roles: [role],
    entityTypes: [{ slug: 'order', name: 'Order', schema: { total: 'number' } }],
  });
  await createApiKey(db, { ...scope, name: 'widget', permissions: ['chat'], role: 'clerk' });
  expect(await details()).toEqual(['ok: definitions, keys, connections and integrations follow the rules']);
});

test('definitions, keys, connections and integrations that a rule would refuse are named', async () => {
  const { scope } = await seedOrganization(db.pool, {
    slug: 'shop',
    agents: [{ slug: 'helper', systemPrompt: 'Hello {{params.name' }],
    roles: [role],
    entityTypes: [{ slug: 'order', name: 'Order', schema: { total: 'nmber' } }],
    tools: [{ name: 'a', description: 'd', parameters: { $async: true }, handlerCode: 'return 1' }],
  });
  await seedOrganization(db.pool, {
    slug: 'stall',
    environment: 'production',
    agents: [{ slug: 'x', systemPrompt: '{{' }],
  });
  const values = [scope.tenant];
  await db.pool.query(
    `insert into channel_connections (id, tenant, environment, agent_slug, contact_type, updated_at)
     values ('conn_1', $1, 'development', 'absent', 'customer', now())`,
    values,
  );
  await db.pool.query(
    `insert into integrations (id, tenant, environment, provider, config, updated_at)
     values ('crm', $1, 'development', 'mcp.crm', '{"url":"ftp://crm.example.com"}', now())`,
    values,
  );
  await createApiKey(db, { ...scope, name: 'both', permissions: ['data', 'sync'], role: 'clerk' });
  const expired = new Date(0);
  await createApiKey(db, { ...scope, name: 'old', permissions: ['*'], role: 'clerk', expiresAt: expired });
  expect(await details()).toEqual([
    expect.stringMatching(
      /^warning: entity type "order" in development of shop: schema.total "nmber" is not a type name/,
    ),
    'warning: agent "helper" in development of shop: systemPrompt has an unclosed template in line 1: {{params.name',
    'warning: tool "a" in development of shop: parameters.$async is not supported',
    expect.stringMatching(/^warning: key sk_dev_.{6}… \(both\) in development of shop: it has the role "clerk" and/),
    'warning: connection conn_1 in development of shop: there is no agent "absent" to answer',
    'warning: connection conn_1 in development of shop: there is no entity type "customer" for its contacts',
    'warning: integration mcp.crm in development of shop: url must be an http or https address',
    expect.stringContaining('agent "x" in production of stall: systemPrompt has an unclosed'),
  ]);
});

test('at most 50 problems are shown, and the rest is counted', async () => {
  const agents = Array.from({ length: 53 }, (_, n) => ({ slug: `a${n}`, systemPrompt: '{{' }));
  await seedOrganization(db.pool, { agents });
  const found = await details();
  expect(found).toHaveLength(51);
  expect(found.at(-1)).toBe('warning: 3 more problems of what is stored are not shown');
});
