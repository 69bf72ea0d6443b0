import type { JsonObject, Scope } from '@parley/contracts';
import { type Queryable, column, statement } from '@parley/db';
import { findByPhone } from '@parley/entities';
import type { Models } from '../models/model';
import { type Candidate, type Classification, classify } from './classify';
import { matchRules, typesOfRules } from './match-rules';
import { readRouterWithThread, stickyAgent } from './sticky-agent';

export interface RoutingRequest {
  routerSlug: string;
  message: string;
  threadId?: string;
  externalThreadId?: string;
  phoneNumber?: string;
  /** The execution of the message, when it is stored already. */
  executionId?: string;
  signal?: AbortSignal;
}

export type Routing =
  | {
      ok: true;
      agentSlug: string;
      routerSlug: string;
      by: 'transfer' | 'rule' | 'classification' | 'fallback';
      /** The cost of the classification; null when no model was called. */
      classification: Classification | null;
      /** A model has to choose, and this process has none. The agent is the fallback until then. */
      isProvisional?: true;
    }
  | { ok: false; reason: 'router_not_found' };

const defaultContextMessages = 4;

/**
 * Chooses the agent for one message (docs/reference/chat.md#routers): the agent that the thread was
 * transferred to, else the agent that a rule or a model chooses, else the router's fallback. Each
 * message is routed again. `models`: null in a process that calls none.
 */
export async function chooseAgent(
  { db, models }: { db: Queryable; models: Models | null },
  scope: Scope,
  request: RoutingRequest,
): Promise<Routing> {
  const row = await readRouterWithThread(db, scope, request);
  if (row === null) return { ok: false, reason: 'router_not_found' };
  const router = row.definition;
  const chosen = (
    agentSlug: string,
    by: Extract<Routing, { ok: true }>['by'],
    classification: Classification | null = null,
  ): Extract<Routing, { ok: true }> => ({
    ok: true,
    agentSlug,
    routerSlug: request.routerSlug,
    by,
    classification,
  });
  const sticky = stickyAgent(row);
  if (sticky !== null) return chosen(sticky, 'transfer');
  // During a takeover no agent answers, so no model is called to choose one.
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
  if (models === null) return { ...chosen(router.fallback, 'fallback'), isProvisional: true };
  const [candidates, recent] = await Promise.all([
    loadCandidates(db, scope, router.agents),
    row.thread_id === null
      ? []
      : loadRecent(
          db,
          scope,
          row.thread_id,
          router.contextMessages ?? defaultContextMessages,
          request.executionId,
        ),
  ]);
  const { message, signal } = request;
  const { slug, ...cost } = await classify(models, scope, {
    router,
    candidates,
    recent,
    message,
    signal,
  });
  return slug === null
    ? chosen(router.fallback, 'fallback', cost)
    : chosen(slug, 'classification', cost);
}

const candidatesBySlug = statement(
  'router-candidates',
  `select a.slug, c.name, c.definition->>'description' as description
   from agents a join agent_configs c on c.tenant = $tenant and c.agent_id = a.id
     and c.environment = $environment::"Environment"
   where a.tenant = $tenant and a.slug = any($slugs) order by array_position($slugs, a.slug)`,
  { slug: column.text, name: column.text, description: column.text.nullable },
);

async function loadCandidates(
  db: Queryable,
  scope: Scope,
  slugs: readonly string[],
): Promise<Candidate[]> {
  return (await db.query(scope, candidatesBySlug, { environment: scope.environment, slugs })).rows;
}

/** Characters of each message that the model chooses by. */
const maxMessageChars = 8_000;

const recentMessages = statement(
  'router-recent-messages',
  `select role::text as role, left(content, ${maxMessageChars}) as content from thread_messages
   where tenant = $tenant and thread_id = $threadId and role in ('user', 'assistant') and content <> ''
     and ($before::bigint is null or execution_id < $before)
   order by execution_id desc, position desc limit $count`,
  { role: column.oneOf<'user' | 'assistant'>(), content: column.text },
);

async function loadRecent(
  db: Queryable,
  scope: Scope,
  threadId: string,
  count: number,
  before?: string,
) {
  const { rows } = await db.query(scope, recentMessages, {
    threadId,
    count,
    before: before ?? null,
  });
  return rows.reverse();
}
