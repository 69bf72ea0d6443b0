import type { Queryable } from '@parley/db';
import type { Logger } from '@parley/service';

/** A start must not fill the log of a deployment with many organizations. */
const maxLines = 100;

/**
 * Logs a line for each agent that lists roles and answers a connected number, itself or through a router. On channels it
 * acts by these roles, so the log explains why a call is denied there.
 */
export async function logRolesOnChannels(db: Queryable, log: Logger): Promise<void> {
  const { rows } = await db.query<{ organizationId: string; environment: string; agent: string; roles: string[] }>(
    `with answering as (
       select organization_id, environment, agent_slug as slug from channel_connections
       where status = 'connected' and agent_slug is not null
       union
       select r.organization_id, r.environment, json_array_elements_text(r.definition->'agents')
       from channel_connections c
       join routers r on r.organization_id = c.organization_id and r.environment = c.environment and r.slug = c.router_slug
       where c.status = 'connected' and json_typeof(r.definition->'agents') = 'array')
     select a.organization_id as "organizationId", g.environment, a.slug as agent, c.definition->'roles' as roles
     from answering g
     join agents a on a.organization_id = g.organization_id and a.slug = g.slug
     join agent_configs c on c.agent_id = a.id and c.environment = g.environment
     where case json_typeof(c.definition->'roles') when 'array' then json_array_length(c.definition->'roles') > 0 end
     order by 1, 2, 3 limit ${maxLines + 1}`,
  );
  for (const row of rows.slice(0, maxLines)) log.info(row, 'this agent lists roles and acts by them on channels');
  if (rows.length > maxLines)
    log.info(`more than ${maxLines} agents act by their roles on channels; the rest is not listed`);
}
