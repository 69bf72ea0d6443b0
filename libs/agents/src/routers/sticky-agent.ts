import type { RouterDefinition, Scope } from '@parley/contracts';
import { type Queryable, type RowOf, column, statement } from '@parley/db';

const routerRow = {
  definition: column.jsonb<RouterDefinition>(),
  thread_id: column.text.nullable,
  phone: column.text.nullable,
  /** The agent does not answer the thread now. */
  is_paused: column.bool.nullable,
  /** The agent that a transfer gave the thread to. */
  transferred_to: column.text.nullable,
};

/**
 * A transfer ends when the thread has been without a message for four hours, as in the function
 * enter_thread.
 */
const routerSql = (threadKey: 'id' | 'external_id') =>
  `select r.definition, t.id as thread_id, t.params->>'phoneNumber' as phone,
          t.state <> 'agent' and t.resumes_at > now() is not false as is_paused,
          case when t.transfer_count > 0 and t.last_message_at >= now() - interval '4 hours' then t.agent_slug end
            as transferred_to
   from routers r
   left join threads t on t.tenant = $tenant and t.environment = r.environment
     and t.${threadKey} = $threadId
   where r.tenant = $tenant and r.environment = $environment::"Environment" and r.slug = $routerSlug`;

const byThreadId = statement('router-with-thread-by-id', routerSql('id'), routerRow);
const byExternalThreadId = statement(
  'router-with-thread-by-external',
  routerSql('external_id'),
  routerRow,
);

/**
 * Reads a router with the state of the message's thread, if it exists; null when there
 * is no such router.
 */
export async function readRouterWithThread(
  db: Queryable,
  scope: Scope,
  {
    routerSlug,
    threadId,
    externalThreadId,
  }: { routerSlug: string; threadId?: string; externalThreadId?: string },
): Promise<RowOf<typeof routerRow> | null> {
  const values = {
    environment: scope.environment,
    routerSlug,
    threadId: threadId ?? externalThreadId ?? null,
  };
  const { rows } = await db.query(
    scope,
    threadId === undefined ? byExternalThreadId : byThreadId,
    values,
  );
  return rows[0] ?? null;
}

/**
 * The agent that keeps the thread after a transfer, while the router still lists it; null when the
 * router chooses again.
 */
export const stickyAgent = ({
  definition,
  transferred_to: slug,
}: RowOf<typeof routerRow>): string | null =>
  slug !== null && definition.agents.includes(slug) ? slug : null;
