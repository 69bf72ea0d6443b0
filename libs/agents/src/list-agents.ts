import type { AgentDefinition, RouterDefinition, Scope } from '@parley/contracts';
import { type Page, type Paged, type Queryable, type RowOf, column, pageValues, statement, toPaged } from '@parley/db';

const agentRow = {
  id: column.text,
  slug: column.text,
  revision: column.int4,
  definition: column.jsonb<Omit<AgentDefinition, 'slug'>>(),
  createdAt: column.timestamptz,
  updatedAt: column.timestamptz,
};
export type StoredAgent = RowOf<typeof agentRow>;

const agentColumns = `a.id, a.slug, c.revision, c.definition, c.created_at as "createdAt", c.updated_at as "updatedAt"
  from agent_configs c join agents a on a.tenant = $1 and a.id = c.agent_id
  where c.tenant = $1 and c.environment = $2::"Environment"`;

const agentsOfEnvironment = statement(
  'list-agents',
  `select ${agentColumns} and ($3::timestamptz is null or (c.created_at, a.id) < ($3, $4::text))
   order by c.created_at desc, a.id desc limit $5`,
  agentRow,
);

/** The agents that have a definition in the environment, newest first. */
export async function listAgents(db: Queryable, scope: Scope, page: Page): Promise<Paged<StoredAgent>> {
  const { rows } = await db.query(scope, agentsOfEnvironment, [scope.tenant, scope.environment, ...pageValues(page)]);
  return toPaged(rows, page, ({ createdAt, id }) => ({ at: createdAt, id }));
}

const agentOfEnvironment = statement('read-agent', `select ${agentColumns} and a.slug = $3`, agentRow);

/** An agent with its definition in the environment; null when the environment has none. */
export async function readAgent(db: Queryable, scope: Scope, slug: string): Promise<StoredAgent | null> {
  return (await db.query(scope, agentOfEnvironment, [scope.tenant, scope.environment, slug])).rows[0] ?? null;
}

const routersOfEnvironment = statement(
  'list-routers',
  `select id, slug, name, revision, definition, created_at as "createdAt", updated_at as "updatedAt" from routers
   where tenant = $1 and environment = $2::"Environment" and ($3::timestamptz is null or (created_at, id) < ($3, $4::text))
   order by created_at desc, id desc limit $5`,
  { ...agentRow, name: column.text, definition: column.jsonb<RouterDefinition>() },
);

/** The routers of an environment, newest first. */
export async function listRouters(db: Queryable, scope: Scope, page: Page) {
  const { rows } = await db.query(scope, routersOfEnvironment, [scope.tenant, scope.environment, ...pageValues(page)]);
  return toPaged(rows, page, ({ createdAt, id }) => ({ at: createdAt, id }));
}
