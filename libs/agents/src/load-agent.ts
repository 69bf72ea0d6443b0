import type { AgentDefinition, JsonObject, Scope } from '@parley/contracts';
import type { Queryable } from '@parley/db';

export interface LoadedAgent {
  id: string;
  definition: AgentDefinition;
}

export interface LoadedThread {
  id: string;
  params: JsonObject;
}

export type AgentFailure =
  { ok: false; reason: 'agent_not_found' } | { ok: false; reason: 'no_active_config'; agentSlug: string };

export type LoadResult =
  | { ok: true; agent: LoadedAgent; thread: LoadedThread | null }
  | AgentFailure
  | { ok: false; reason: 'thread_not_found' };

export interface LoadRequest {
  agent: { id: string } | { slug: string };
  threadId?: string;
  externalThreadId?: string;
}

interface Row {
  agent_id: string | null;
  agent_slug: string | null;
  definition: Omit<AgentDefinition, 'slug'> | null;
  thread_id: string | null;
  params: JsonObject | null;
}

const threadBy = { id: 't.id = $4', external: 't.external_id = $4', none: 'false and $4::text is null' };
const agentBy = { id: 'a.id = $3', slug: 'a.slug = $3' };

/**
 * The agent with its configuration in the environment, and the conversation that is to go on, in one statement. A
 * `threadId` goes before an `externalThreadId`; one of another organization or environment is not found.
 */
export async function loadAgent(db: Queryable, scope: Scope, request: LoadRequest): Promise<LoadResult> {
  const agentKey = 'id' in request.agent ? 'id' : 'slug';
  const threadKey =
    request.threadId !== undefined ? 'id' : request.externalThreadId !== undefined ? 'external' : 'none';
  const { rows } = await db.query<Row>({
    name: `agent-by-${agentKey}-thread-by-${threadKey}`,
    text: `select a.id as agent_id, a.slug as agent_slug, c.definition, t.id as thread_id, t.params
           from (select 1) as always
           left join agents a on a.organization_id = $1 and ${agentBy[agentKey]}
           left join agent_configs c on c.agent_id = a.id and c.environment = $2::"Environment"
           left join threads t on t.organization_id = $1 and t.environment = $2::"Environment" and ${threadBy[threadKey]}`,
    values: [
      scope.organizationId,
      scope.environment,
      'id' in request.agent ? request.agent.id : request.agent.slug,
      request.threadId ?? request.externalThreadId ?? null,
    ],
  });
  const row = rows[0]!;
  if (row.agent_id === null || row.agent_slug === null) return { ok: false, reason: 'agent_not_found' };
  if (row.definition === null) return { ok: false, reason: 'no_active_config', agentSlug: row.agent_slug };
  if (request.threadId !== undefined && row.thread_id === null) return { ok: false, reason: 'thread_not_found' };
  return {
    ok: true,
    agent: { id: row.agent_id, definition: { ...row.definition, slug: row.agent_slug } },
    thread: row.thread_id === null ? null : { id: row.thread_id, params: row.params ?? {} },
  };
}
