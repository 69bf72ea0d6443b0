import type { Scope } from '@parley/contracts';
import { type Queryable, column, statement } from '@parley/db';

/** What an earlier try at answering a message has left behind. */
export type EarlierTurn =
  | { state: 'none' }
  /** It is at work on it, or is taken for that until its lease is over. */
  | { state: 'running' }
  | { state: 'answered'; reply: string; threadId: string }
  /** A person has taken over, or nobody was asked. */
  | { state: 'stored'; threadId: string }
  /** It ended in the middle; `hasActed` when tools were called, whose effects are there. */
  | { state: 'broken'; hasActed: boolean };

const lastTurn = statement(
  'earlier-turn',
  `select e.status, e.output, e.thread_id as "threadId", coalesce(e.lease_until > now(), false) as "isAlive",
          exists (select from executions x join tool_calls c on c.tenant = $1 and c.execution_id = x.id
                  where x.tenant = $1 and x.thread_id = t.id and x.request_id = $4) as "hasActed"
   from threads t join executions e on e.tenant = $1 and e.thread_id = t.id
   where t.tenant = $1 and t.environment = $2::"Environment" and t.external_id = $3 and e.request_id = $4
   order by e.id desc limit 1`,
  {
    status: column.oneOf<'queued' | 'running' | 'succeeded' | 'failed'>('ExecutionStatus'),
    output: column.text.nullable,
    threadId: column.text,
    isAlive: column.bool,
    hasActed: column.bool,
  },
);

/** The last turn that was begun for a message; turns carry its id as their request. */
export async function findEarlierTurn(
  db: Queryable,
  scope: Scope,
  threadKey: string,
  requestId: string,
): Promise<EarlierTurn> {
  const { rows } = await db.query(scope, lastTurn, [scope.tenant, scope.environment, threadKey, requestId]);
  const turn = rows[0];
  if (turn === undefined) return { state: 'none' };
  const { status, output, threadId, isAlive, hasActed } = turn;
  if (status === 'succeeded')
    return output === null ? { state: 'stored', threadId } : { state: 'answered', reply: output, threadId };
  if (status !== 'failed' && isAlive) return { state: 'running' };
  return { state: 'broken', hasActed };
}
