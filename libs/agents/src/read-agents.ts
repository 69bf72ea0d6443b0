import type { Scope } from '@parley/contracts';
import { type Queryable, column, statement } from '@parley/db';

const findAnswerer = statement(
  'find-answerer',
  `select 1 as found from agents where tenant = $tenant and slug = $agentSlug
   union all
   select 1 from routers where tenant = $tenant and environment = $environment::"Environment" and slug = $routerSlug`,
  { found: column.int4 },
);

/** Whether the organization has the agent, or the environment has the router. */
export async function hasAnswerer(
  db: Queryable,
  scope: Scope,
  { agentSlug, routerSlug }: { agentSlug?: string; routerSlug?: string },
): Promise<boolean> {
  const values = {
    environment: scope.environment,
    agentSlug: agentSlug ?? null,
    routerSlug: routerSlug ?? null,
  };
  const { rowCount } = await db.query(scope, findAnswerer, values);
  return rowCount !== 0;
}
