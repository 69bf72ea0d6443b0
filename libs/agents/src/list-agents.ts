import type { AgentDefinition, RouterDefinition, Scope } from '@parley/contracts';
import {
  type Page,
  type Paged,
  type Queryable,
  type RowOf,
  column,
  listStatement,
  pageValues,
  statement,
  toPaged,
} from '@parley/db';

const agentRow = {
  id: column.text,
  slug: column.text,
  revision: column.int4,
  definition: column.jsonb<Omit<AgentDefinition, 'slug'>>(),
  createdAt: column.timestamptz,
  updatedAt: column.timestamptz,
};
export type StoredAgent = RowOf<typeof agentRow>;
type ListedDefinition = Pick<AgentDefinition, 'name' | 'description' | 'model' | 'tools' | 'roles'>;
type ListedAgent = Omit<StoredAgent, 'definition'> & { definition: ListedDefinition };

const agentColumns = (definition: string) => `a.id, a.slug, c.revision, ${definition} as definition,
  c.created_at as "createdAt", c.updated_at as "updatedAt"
  from agent_configs c join agents a on a.tenant = $tenant and a.id = c.agent_id
  where c.tenant = $tenant and c.environment = $environment::"Environment"`;

/** The fields of a definition that the list has: a prompt has up to 200,000 characters. */
const listedFields = ['name', 'description', 'model', 'tools', 'roles'];
const listedDefinition = `json_strip_nulls(json_build_object(${listedFields.map((field) => `'${field}', c.definition->'${field}'`).join(', ')}))`;

const agentsOfEnvironment = listStatement(
  'list-agents',
  `select ${agentColumns(listedDefinition)}
     and ($beforeAt::timestamptz is null or (c.created_at, a.id) < ($beforeAt, $beforeId::text))
   order by c.created_at desc, a.id desc limit $limit`,
  { ...agentRow, definition: column.jsonb<ListedDefinition>() },
);

/** The agents that have a definition in the environment, newest first, without their prompts. */
export async function listAgents(
  db: Queryable,
  scope: Scope,
  page: Page,
): Promise<Paged<ListedAgent>> {
  const { rows } = await db.query(scope, agentsOfEnvironment, {
    environment: scope.environment,
    ...pageValues(page),
  });
  return toPaged(rows, page, ({ createdAt, id }) => ({ at: createdAt, id }));
}

const agentOfEnvironment = statement(
  'read-agent',
  `select ${agentColumns('c.definition')} and a.slug = $slug`,
  agentRow,
);

/** An agent with its definition in the environment; null when the environment has none. */
export async function readAgent(
  db: Queryable,
  scope: Scope,
  slug: string,
): Promise<StoredAgent | null> {
  return (
    (await db.query(scope, agentOfEnvironment, { environment: scope.environment, slug })).rows[0] ??
    null
  );
}

const routersOfEnvironment = listStatement(
  'list-routers',
  `select id, slug, name, revision, definition, created_at as "createdAt", updated_at as "updatedAt" from routers
   where tenant = $tenant and environment = $environment::"Environment"
     and ($beforeAt::timestamptz is null or (created_at, id) < ($beforeAt, $beforeId::text))
   order by created_at desc, id desc limit $limit`,
  { ...agentRow, name: column.text, definition: column.jsonb<RouterDefinition>() },
);

/** The routers of an environment, newest first. */
export async function listRouters(db: Queryable, scope: Scope, page: Page) {
  const { rows } = await db.query(scope, routersOfEnvironment, {
    environment: scope.environment,
    ...pageValues(page),
  });
  return toPaged(rows, page, ({ createdAt, id }) => ({ at: createdAt, id }));
}

const slugsOfEnvironment = statement(
  'list-slugs-of-agents',
  `(select 'agent' as kind, a.slug, c.created_at as "createdAt" from agent_configs c
     join agents a on a.tenant = $tenant and a.id = c.agent_id
    where c.tenant = $tenant and c.environment = $environment::"Environment" order by c.created_at desc, a.id desc
      limit $limit)
   union all
   (select 'router', slug, created_at from routers
    where tenant = $tenant and environment = $environment::"Environment" order by created_at desc, id desc
      limit $limit)`,
  { kind: column.oneOf<'agent' | 'router'>(), slug: column.text, createdAt: column.timestamptz },
);

/** The slugs of the newest agents, then those of the newest routers, at most `limit` of each. */
export async function listAnswererSlugs(db: Queryable, scope: Scope, limit: number) {
  return (await db.query(scope, slugsOfEnvironment, { environment: scope.environment, limit }))
    .rows;
}
