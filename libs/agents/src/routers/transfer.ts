import type { Scope } from '@parley/contracts';
import { type Db, column, statement } from '@parley/db';
import { recordEvent } from '@parley/events';
import type { ToolResult, TransferRequest } from '@parley/tools';

/**
 * Maximum transfers in a thread. The count is reset after four hours without a message (function
 * enter_thread).
 */
const maxTransfers = 5;

const refuse = (message: string): ToolResult => ({
  ok: false,
  errorType: 'execution_error',
  message,
});

const findTarget = statement(
  'transfer-target',
  `select a.id, c.name, e.router_slug is not null as routed, r.definition::jsonb->'agents' ? a.slug as in_router
   from agents a
   join agent_configs c on c.tenant = $tenant and c.agent_id = a.id and c.environment = $environment::"Environment"
   left join executions e on e.tenant = $tenant and e.id = $executionId::bigint
   left join routers r on r.tenant = $tenant and r.environment = $environment::"Environment"
     and r.slug = e.router_slug
   where a.tenant = $tenant and a.slug = $toAgentSlug`,
  { id: column.text, name: column.text, routed: column.bool, in_router: column.bool.nullable },
);

const transferThread = statement(
  'transfer-thread',
  `update threads set agent_slug = $toAgentSlug, transfer_count = transfer_count + 1, updated_at = now()
   where tenant = $tenant and id = $threadId and environment = $environment::"Environment"
     and transfer_count < $maxTransfers`,
);

/**
 * Implements the tool `router.transfer`: another agent answers the next messages of the thread
 * (docs/reference/tools.md#agent-and-router-tools). Behind a router it must be one of the
 * router's agents.
 */
export function createTransfer(
  db: Db,
): (scope: Scope, request: TransferRequest) => Promise<ToolResult> {
  return async (scope, { threadId, executionId, fromAgentSlug, toAgentSlug, reason }) => {
    if (fromAgentSlug === toAgentSlug)
      return refuse(`Agent "${toAgentSlug}" already has this conversation`);
    const { environment } = scope;
    const { rows } = await db.query(scope, findTarget, {
      environment,
      toAgentSlug,
      executionId: executionId ?? null,
    });
    const target = rows[0];
    if (target === undefined)
      return { ok: false, errorType: 'not_found', message: `There is no agent "${toAgentSlug}"` };
    if (target.routed && target.in_router !== true)
      return refuse(`Agent "${toAgentSlug}" is not among the router's agents`);
    return db.transaction(async (client) => {
      const values = { environment, threadId, toAgentSlug, maxTransfers };
      const { rowCount } = await client.query(scope, transferThread, values);
      if (rowCount !== 1)
        return refuse(`This conversation was already transferred ${maxTransfers} times`);
      await recordEvent(client, scope, {
        type: 'router.transferred',
        payload: { threadId, from: fromAgentSlug, to: toAgentSlug, reason: reason ?? null },
        actor: { type: 'agent', slug: fromAgentSlug },
      });
      return {
        ok: true,
        result: {
          transferred: true,
          agentSlug: toAgentSlug,
          agentId: target.id,
          agentName: target.name,
        },
      };
    });
  };
}
