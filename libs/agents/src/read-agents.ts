import type { Scope } from '@parley/contracts';
import { type Queryable, column, statement } from '@parley/db';

const findAnswerer = statement(
  'find-answerer',
  `select 1 as found from agents where tenant = $1 and slug = $3
   union all
   select 1 from routers where tenant = $1 and environment = $2::"Environment" and slug = $4`,
  { found: column.int4 },
);

/** Whether the organization has the agent, or the environment has the router. */
export async function hasAnswerer(
  db: Queryable,
  scope: Scope,
  { agentSlug, routerSlug }: { agentSlug?: string; routerSlug?: string },
): Promise<boolean> {
  const values = [scope.tenant, scope.environment, agentSlug ?? null, routerSlug ?? null];
  const { rowCount } = await db.query(scope, findAnswerer, values);
  return rowCount !== 0;
}

const oldestConfigured = statement(
  'oldest-agent',
  `select a.slug from agents a
   join agent_configs c on c.tenant = $1 and c.agent_id = a.id and c.environment = $2::"Environment"
   where a.tenant = $1 order by a.created_at limit 1`,
  { slug: column.text },
);

/** The slug of the oldest agent that has a definition in the environment; null when there is none. */
export async function oldestAgent(db: Queryable, scope: Scope): Promise<string | null> {
  const { rows } = await db.query(scope, oldestConfigured, [scope.tenant, scope.environment]);
  return rows[0]?.slug ?? null;
}
