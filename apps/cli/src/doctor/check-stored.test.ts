import { createDb, type Db } from '@parley/db';
import { createApiKey } from '@parley/identity';
import { openTestDatabase, seedOrganization } from '@parley/testing';
import { checkStored } from './check-stored';

let db: Db;

beforeEach(async () => {
  db = await openTestDatabase(createDb);
});
afterEach(() => db.close());

const details = async () =>
  (await checkStored(db)).map(({ state, detail }) => `${state}: ${detail}`);
const role = { slug: 'clerk', name: 'Clerk', policies: [] };

test('what is stored and follows the rules is one finding', async () => {
  const { scope } = await seedOrganization(db.pool, {
    slug: 'shop',
    agents: [{ slug: 'helper' }],
    roles: [role],
    entityTypes: [{ slug: 'order', name: 'Order', schema: { total: 'number' } }],
  });
  await createApiKey(db, { ...scope, name: 'widget', permissions: ['chat'], role: 'clerk' });
  expect(await details()).toEqual(['ok: definitions, keys and connections follow the rules']);
});

test('definitions, keys and connections that a rule would refuse are named', async () => {
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
  await db.pool.query(
    `insert into channel_connections (id, tenant, environment, agent_slug, contact_type, updated_at)
     values ('conn_1', $1, 'development', 'absent', 'customer', now())`,
    [scope.tenant],
  );
  await createApiKey(db, { ...scope, name: 'both', permissions: ['data', 'sync'], role: 'clerk' });
  const expired = new Date(0);
  await createApiKey(db, {
    ...scope,
    name: 'old',
    permissions: ['*'],
    role: 'clerk',
    expiresAt: expired,
  });
  expect(await details()).toEqual([
    expect.stringMatching(
      /^warning: entity type "order" in development of shop: schema.total "nmber" is not a type name/,
    ),
    'warning: agent "helper" in development of shop: systemPrompt has an unclosed template in line 1: {{params.name',
    'warning: tool "a" in development of shop: parameters.$async is not supported',
    expect.stringMatching(
      /^warning: key sk_dev_.{6}… \(both\) in development of shop: it has the role "clerk" and/,
    ),
    'warning: connection conn_1 in development of shop: there is no agent "absent" to answer',
    'warning: connection conn_1 in development of shop: there is no entity type "customer" for its contacts',
    expect.stringContaining('agent "x" in production of stall: systemPrompt has an unclosed'),
  ]);
});

test('each problem is named', async () => {
  const agents = Array.from({ length: 60 }, (_, n) => ({ slug: `a${n}`, systemPrompt: '{{' }));
  await seedOrganization(db.pool, { agents });
  expect(await details()).toHaveLength(60);
});
