import { newId } from '@parley/db';
import type { World } from '../create-test-api';
import type { Prepare } from './sample';

const policies = [
  { resource: 'order', actions: ['list', 'read'], effect: 'allow' },
  { resource: 'web.*', actions: ['*'], effect: 'deny' },
];
const parameters = { type: 'object', properties: { number: { type: 'number' } } };

/**
 * One agent with a role, a router, a custom tool and an entity type. Returns the slug of the agent.
 */
export async function insertDefinitions({
  db,
  scope,
}: Pick<World, 'db' | 'scope'>): Promise<string> {
  const { tenant, environment } = scope;
  const run = (text: string, values: unknown[]) =>
    db.pool.query(text, [
      tenant,
      environment,
      ...values.map((x) => (typeof x === 'object' ? JSON.stringify(x) : x)),
    ]);
  const slug = newId('agent').replace('_', '-');
  const agentId = newId('agent');
  const agent = {
    name: 'Shop',
    systemPrompt: 'You sell.',
    tools: ['entity.query', 'orders.*', 'web.fetch'],
    roles: [`r${slug}`],
  };
  await db.pool.query('insert into agents (tenant, id, slug) values ($1, $2, $3)', [
    tenant,
    agentId,
    slug,
  ]);
  await run(
    `insert into agent_configs (tenant, environment, id, agent_id, name, definition, updated_at) values ($1, $2, $3, $4, 'Shop', $5, now())`,
    [newId('config'), agentId, agent],
  );
  const named = (table: string, name: string, value: string, definition: object) =>
    run(
      `insert into ${table} (tenant, environment, id, ${name}, ${name === 'slug' ? 'name, ' : ''}definition, updated_at)
       values ($1, $2, $3, $4, ${name === 'slug' ? '$4, ' : ''}$5, now())`,
      [newId('x'), value, definition],
    );
  await named('roles', 'slug', `r${slug}`, { name: 'Sales', policies });
  const router = { name: 'Front', mode: 'rules', agents: [slug], fallback: slug };
  await named('routers', 'slug', `o${slug}`, router);
  const tool = {
    description: 'Refunds an order',
    parameters,
    handlerCode: 'return 1',
    secrets: ['TOKEN'],
  };
  await named('tools', 'name', `orders.${slug}`, tool);
  await run(
    `insert into entity_types (tenant, environment, id, slug, name, schema, updated_at) values ($1, $2, $3, 'order', 'Order', '{}', now())
     on conflict do nothing`,
    [newId('type')],
  );
  return slug;
}

const list: Prepare = async (world) => {
  await insertDefinitions(world);
  return { query: { limit: '10' } };
};

export const definitionSamples = {
  listAgents: list,
  listRouters: list,
  listTools: list,
  listRoles: list,
  async listSearchIndexes(world) {
    await insertDefinitions(world);
    return {};
  },
  async getAgent(world) {
    return { params: { slug: await insertDefinitions(world) } };
  },
} satisfies Record<string, Prepare>;
