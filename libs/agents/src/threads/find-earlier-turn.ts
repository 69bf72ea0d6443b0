import type { FinishReason, Scope } from '@parley/contracts';
import { type Queryable, column, statement } from '@parley/db';

/** The state of an earlier attempt to answer a message. */
export type EarlierTurn =
  | { state: 'none' }
  /** It is running, or its lease has not expired yet. */
  | { state: 'running' }
  | { state: 'answered'; reply: string; finishReason: FinishReason | null; threadId: string }
  /**
   * The message was stored during a takeover, or its turn was ended by one. `hasActed`: it called
   * tools, whose effects may exist.
   */
  | { state: 'stored'; threadId: string; hasActed: boolean }
  /** It failed or was interrupted. */
  | { state: 'broken'; hasActed: boolean };

const lastTurn = statement(
  'earlier-turn',
  `select e.status, e.output, e.finish_reason as "finishReason", e.thread_id as "threadId", coalesce(e.lease_until > now(), false) as "isAlive",
          exists (select from executions x join tool_calls c on c.tenant = $tenant and c.execution_id = x.id
                  where x.tenant = $tenant and x.thread_id = t.id and x.request_id = $requestId) as "hasActed"
   from threads t join executions e on e.tenant = $tenant and e.thread_id = t.id
   where t.tenant = $tenant and t.environment = $environment::"Environment" and t.external_id = $threadKey
     and e.request_id = $requestId
   order by e.id desc limit 1`,
  {
    status: column.oneOf<'queued' | 'running' | 'succeeded' | 'failed'>('ExecutionStatus'),
    output: column.text.nullable,
    finishReason: column.oneOf<FinishReason>().nullable,
    threadId: column.text,
    isAlive: column.bool,
    hasActed: column.bool,
  },
);

/** Finds the last turn of a message, whose id is the `requestId` of its turns. */
export async function findEarlierTurn(
  db: Queryable,
  scope: Scope,
  threadKey: string,
  requestId: string,
): Promise<EarlierTurn> {
  const { rows } = await db.query(scope, lastTurn, {
    environment: scope.environment,
    threadKey,
    requestId,
  });
  const turn = rows[0];
  if (turn === undefined) return { state: 'none' };
  const { status, output, finishReason, threadId, isAlive, hasActed } = turn;
  if (status === 'succeeded' && output === null) return { state: 'stored', threadId, hasActed };
  if (status === 'succeeded') return { state: 'answered', reply: output!, finishReason, threadId };
  if (status !== 'failed' && isAlive) return { state: 'running' };
  return { state: 'broken', hasActed };
}
