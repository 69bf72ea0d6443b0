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
