import type { AgentDefinition, Scope } from '@parley/contracts';
import type { Queryable } from '@parley/db';

export interface LoadedAgent {
  id: string;
  definition: AgentDefinition;
}

export type AgentFailure =
  { ok: false; reason: 'agent_not_found' } | { ok: false; reason: 'no_active_config'; agentSlug: string };

export type LoadResult = { ok: true; agent: LoadedAgent } | AgentFailure;

/** The agent with its configuration in the environment. */
export async function loadAgent(db: Queryable, scope: Scope, slug: string): Promise<LoadResult> {
  const { rows } = await db.raw<{ id: string; definition: Omit<AgentDefinition, 'slug'> | null }>({
    name: 'agent-by-slug',
    text: `select a.id, c.definition
           from agents a left join agent_configs c on c.agent_id = a.id and c.environment = $2::"Environment"
           where a.organization_id = $1 and a.slug = $3`,
    values: [scope.organizationId, scope.environment, slug],
  });
  const row = rows[0];
  if (row === undefined) return { ok: false, reason: 'agent_not_found' };
  if (row.definition === null) return { ok: false, reason: 'no_active_config', agentSlug: slug };
  return { ok: true, agent: { id: row.id, definition: { ...row.definition, slug } } };
}
