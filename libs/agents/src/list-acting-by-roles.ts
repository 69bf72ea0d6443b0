import type { Environment, Scope } from '@parley/contracts';
import { type Queryable, column, statement } from '@parley/db';

const actingByRoles = statement(
  'agents-acting-by-roles',
  `with given as (
     select * from json_to_recordset($answering::json)
       as g("organizationId" text, tenant int, environment "Environment", "agentSlug" text, "routerSlug" text)),
   answering as (
     select "organizationId", tenant, environment, "agentSlug" as slug from given where "agentSlug" is not null
     union
     select g."organizationId", r.tenant, r.environment, json_array_elements_text(r.definition->'agents')
     from given g
     join routers r on r.tenant = g.tenant and r.environment = g.environment and r.slug = g."routerSlug"
     where json_typeof(r.definition->'agents') = 'array')
   select g."organizationId", g.environment, a.slug as agent, c.definition->'roles' as roles
   from answering g
   join agents a on a.tenant = g.tenant and a.slug = g.slug
   join agent_configs c on c.tenant = a.tenant and c.agent_id = a.id and c.environment = g.environment
   where case json_typeof(c.definition->'roles') when 'array' then json_array_length(c.definition->'roles') > 0 end
   order by 1, 2, 3 limit $limit`,
  {
    organizationId: column.text,
    environment: column.oneOf<Environment>('Environment'),
    agent: column.text,
    roles: column.jsonb<string[]>(),
  },
);

/**
 * Lists the agents with roles among `answering` and the agents of its routers, without duplicates,
 * at most `limit`.
 */
export async function listActingByRoles(
  db: Queryable,
  answering: (Scope & { agentSlug: string | null; routerSlug: string | null })[],
  limit: number,
): Promise<(Omit<Scope, 'tenant'> & { agent: string; roles: string[] })[]> {
  const { rows } = await db.acrossTenants('metrics', actingByRoles, {
    answering: JSON.stringify(answering),
    limit,
  });
  return rows;
}
