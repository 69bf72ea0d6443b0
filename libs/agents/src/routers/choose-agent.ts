import type { JsonObject, RouterDefinition, Scope } from '@parley/contracts';
import { type Queryable, type RowOf, column, statement } from '@parley/db';
import { findByPhone } from '@parley/entities';
import type { Models } from '../models/model';
import { type Candidate, type Classification, classify } from './classify';
import { matchRules, typesOfRules } from './match-rules';

export interface RoutingRequest {
  routerSlug: string;
  message: string;
  threadId?: string;
  externalThreadId?: string;
  phoneNumber?: string;
  signal?: AbortSignal;
}

export type Routing =
  | {
      ok: true;
      agentSlug: string;
      routerSlug: string;
      by: 'transfer' | 'rule' | 'classification' | 'fallback';
      /** What the choice of a model cost; null when none was asked. */
      classification: Classification | null;
    }
  | { ok: false; reason: 'router_not_found' };

const defaultContextMessages = 4;
/** A conversation that is idle this long starts its transfers anew (decisions.md, Chat). */
const idle = `interval '4 hours'`;

/**
 * Picks the agent for one message: whoever the conversation was transferred to, else the first rule that holds, or the
 * choice of a model, else the router's fallback. Decided anew for every message.
 */
export async function chooseAgent(
  { db, models }: { db: Queryable; models: Models },
  scope: Scope,
  request: RoutingRequest,
): Promise<Routing> {
  const row = await loadRouter(db, scope, request);
  if (row === null) return { ok: false, reason: 'router_not_found' };
  const router = row.definition;
  const chosen = (
    agentSlug: string,
    by: Extract<Routing, { ok: true }>['by'],
    classification: Classification | null = null,
  ): Routing => ({
    ok: true,
    agentSlug,
    routerSlug: request.routerSlug,
    by,
    classification,
  });
  if (row.transferred_to !== null && router.agents.includes(row.transferred_to))
    return chosen(row.transferred_to, 'transfer');
  // A person answers: nobody needs to be chosen, and no model to be asked.
  if (row.is_paused) return chosen(router.fallback, 'fallback');
  if (router.mode === 'rules') {
    const rules = router.rules ?? [];
    const phoneNumber = request.phoneNumber ?? row.phone;
    const entities: ReadonlyMap<string, JsonObject> = phoneNumber
      ? await findByPhone(db, scope, phoneNumber, typesOfRules(rules))
      : new Map();
    const match = matchRules(rules, entities);
    return match === null ? chosen(router.fallback, 'fallback') : chosen(match, 'rule');
  }
  const [candidates, recent] = await Promise.all([
    loadCandidates(db, scope, router.agents),
    row.thread_id === null
      ? []
      : loadRecent(db, scope, row.thread_id, router.contextMessages ?? defaultContextMessages),
  ]);
  const { message, signal } = request;
  const { slug, ...cost } = await classify(models, scope, { router, candidates, recent, message, signal });
  return slug === null ? chosen(router.fallback, 'fallback', cost) : chosen(slug, 'classification', cost);
}

const routerRow = {
  definition: column.jsonb<RouterDefinition>(),
  thread_id: column.text.nullable,
  phone: column.text.nullable,
  is_paused: column.bool.nullable,
  /** The agent that a transfer gave the conversation to, unless it has been idle since. */
  transferred_to: column.text.nullable,
};

const routerSql = (threadKey: 'id' | 'external_id') =>
  `select r.definition, t.id as thread_id, t.params->>'phoneNumber' as phone, t.agent_paused as is_paused,
          case when t.transfer_count > 0 and t.last_message_at >= now() - ${idle} then t.agent_slug end
            as transferred_to
   from routers r
   left join threads t on t.tenant = $1 and t.environment = r.environment
     and t.${threadKey} = $4
   where r.tenant = $1 and r.environment = $2::"Environment" and r.slug = $3`;

const byThreadId = statement('router-with-thread-by-id', routerSql('id'), routerRow);
const byExternalThreadId = statement('router-with-thread-by-external', routerSql('external_id'), routerRow);

async function loadRouter(
  db: Queryable,
  scope: Scope,
  { routerSlug, threadId, externalThreadId }: RoutingRequest,
): Promise<RowOf<typeof routerRow> | null> {
  const values = [scope.tenant, scope.environment, routerSlug, threadId ?? externalThreadId ?? null];
  const { rows } = await db.query(scope, threadId === undefined ? byExternalThreadId : byThreadId, values);
  return rows[0] ?? null;
}

const candidatesBySlug = statement(
  'router-candidates',
  `select a.slug, c.name, c.definition->>'description' as description
   from agents a join agent_configs c on c.tenant = $1 and c.agent_id = a.id and c.environment = $2::"Environment"
   where a.tenant = $1 and a.slug = any($3) order by array_position($3, a.slug)`,
  { slug: column.text, name: column.text, description: column.text.nullable },
);

async function loadCandidates(db: Queryable, scope: Scope, slugs: readonly string[]): Promise<Candidate[]> {
  return (await db.query(scope, candidatesBySlug, [scope.tenant, scope.environment, slugs])).rows;
}

const recentMessages = statement(
  'router-recent-messages',
  `select role::text as role, content from thread_messages
   where tenant = $1 and thread_id = $2 and role <> 'tool' and content <> ''
   order by execution_id desc, position desc limit $3`,
  { role: column.oneOf<'user' | 'assistant'>(), content: column.text },
);

async function loadRecent(db: Queryable, scope: Scope, threadId: string, count: number) {
  const { rows } = await db.query(scope, recentMessages, [scope.tenant, threadId, count]);
  return rows.reverse();
}
