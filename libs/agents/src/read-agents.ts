import type { Scope } from '@parley/contracts';
import { type Queryable, column, statement } from '@parley/db';

const findAnswerer = statement(
  'find-answerer',
  `select 1 as found from agents where tenant = $1 and slug = $3
   union all
   select 1 from routers where tenant = $1 and environment = $2::"Environment" and slug = $4`,
  { found: column.int4 },
);

/** Whether there is such an agent in the organization, or such a router in the environment: one that can answer people. */
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

/** Slug of the oldest agent that has a configuration in the environment; null when none has. */
export async function oldestAgent(db: Queryable, scope: Scope): Promise<string | null> {
  const { rows } = await db.query(scope, oldestConfigured, [scope.tenant, scope.environment]);
  return rows[0]?.slug ?? null;
}
