import { type Db, createDb } from '@parley/db';
import type { Logger } from '@parley/service';
import { openTestDatabase, seedOrganization } from '@parley/testing';
import { logRolesOnChannels } from './log-roles-on-channels';

let db: Db;
beforeAll(async () => {
  db = await openTestDatabase(createDb);
});
afterAll(() => db.close());

async function logged(): Promise<unknown[]> {
  const lines: unknown[] = [];
  const log = { info: (fields: unknown) => lines.push(fields) } as unknown as Logger;
  await logRolesOnChannels(db, log);
  return lines;
}
async function connect(
  tenant: number,
  given: { agent?: string; router?: string; environment?: string },
) {
  await db.pool.query(
    `insert into channel_connections (id, tenant, environment, phone_number_id, status, agent_slug, router_slug, updated_at)
     values (gen_random_uuid()::text, $1, $2::"Environment", gen_random_uuid()::text, 'connected', $3, $4, now())`,
    [tenant, given.environment ?? 'development', given.agent ?? null, given.router ?? null],
  );
}

test('each agent with roles that answers on a channel is logged once, and no other agent', async () => {
  const { organizationId, tenant } = (
    await seedOrganization(db.pool, {
      agents: [
        { slug: 'bound', roles: ['clerk', 'helper'] },
        { slug: 'routed', roles: ['clerk'] },
        { slug: 'free' },
        { slug: 'empty', roles: [] },
        { slug: 'elsewhere', roles: ['clerk'] },
      ],
      routers: [
        {
          slug: 'desk',
          name: 'Desk',
          mode: 'classify',
          agents: ['routed', 'bound', 'free'],
          fallback: 'free',
        },
      ],
    })
  ).scope;
  expect(await logged()).toEqual([]);
  await connect(tenant, { agent: 'bound' });
  await connect(tenant, { agent: 'bound' });
  await connect(tenant, { agent: 'free' });
  await connect(tenant, { agent: 'empty' });
  await connect(tenant, { router: 'desk' });
  // It is configured in development only.
  await connect(tenant, { agent: 'elsewhere', environment: 'production' });
  expect(await logged()).toEqual([
    { organizationId, environment: 'development', agent: 'bound', roles: ['clerk', 'helper'] },
    { organizationId, environment: 'development', agent: 'routed', roles: ['clerk'] },
  ]);
});

test('at most 100 agents are listed', async () => {
  const slugs = Array.from({ length: 120 }, (_, n) => `agent-${n}`);
  const agents = slugs.map((slug) => ({ slug, roles: ['clerk'] }));
  const { scope } = await seedOrganization(db.pool, { agents });
  for (const agent of slugs) await connect(scope.tenant, { agent });
  const lines = await logged();
  expect(lines).toHaveLength(101);
  expect(lines.at(-1)).toBe(
    'more than 100 agents act with their roles on channels; the others are not listed',
  );
});
