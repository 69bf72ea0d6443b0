import type { AgentDefinition, Scope } from '@parley/contracts';
import { type Queryable, column, statement } from '@parley/db';

export interface LoadedAgent {
  id: string;
  definition: AgentDefinition;
  /** Revision of the definition; null for one from before revisions were stored. */
  revision: number | null;
}

export type AgentFailure =
  | { ok: false; reason: 'agent_not_found' }
  | { ok: false; reason: 'no_active_config'; agentSlug: string };

export type LoadResult = { ok: true; agent: LoadedAgent } | AgentFailure;

const agentBySlug = statement(
  'agent-by-slug',
  `select a.id, c.definition, c.revision
   from agents a left join agent_configs c on c.tenant = $tenant and c.agent_id = a.id
     and c.environment = $environment::"Environment"
   where a.tenant = $tenant and a.slug = $slug`,
  {
    id: column.text,
    definition: column.jsonb<Omit<AgentDefinition, 'slug'>>().nullable,
    revision: column.int4.nullable,
  },
);

/** Reads an agent with its definition in the environment. */
export async function loadAgent(db: Queryable, scope: Scope, slug: string): Promise<LoadResult> {
  const { rows } = await db.query(scope, agentBySlug, { environment: scope.environment, slug });
  const row = rows[0];
  if (row === undefined) return { ok: false, reason: 'agent_not_found' };
  if (row.definition === null) return { ok: false, reason: 'no_active_config', agentSlug: slug };
  return {
    ok: true,
    agent: { id: row.id, definition: { ...row.definition, slug }, revision: row.revision },
  };
}
