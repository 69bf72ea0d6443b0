import type { Scope } from '@parley/contracts';
import { type Queryable, column, statement } from '@parley/db';

const threadsToMerge = statement(
  'threads-to-merge',
  `select id, external_id as "externalId" from threads
   where tenant = $tenant and environment = $environment::"Environment" and external_id = any($externalId) for update`,
  { id: column.text, externalId: column.text },
);

const rename = statement(
  'rename-thread',
  'update threads set external_id = $to, updated_at = now() where tenant = $tenant and id = $id',
);

const findUnfinished = statement(
  'find-unfinished-turn',
  "select from executions where tenant = $tenant and thread_id = $id and status in ('queued', 'running') limit 1",
);

const moveTurns = statement(
  'move-turns',
  'update executions set thread_id = $threadId where tenant = $tenant and thread_id = $id',
);
const moveMessages = statement(
  'move-thread-messages',
  'update thread_messages set thread_id = $threadId where tenant = $tenant and thread_id = $id',
);
const keepTakeover = statement(
  'keep-takeover-of-merged-thread',
  `update threads t set state = old.state, taken_over_by = old.taken_over_by, taken_over_at = old.taken_over_at,
          resumes_at = old.resumes_at, waiting_since = old.waiting_since, waiting_reason = old.waiting_reason,
          notify_at = old.notify_at
   from threads old
   where old.tenant = $tenant and old.id = $oldId and old.state <> 'agent' and t.tenant = $tenant and t.id = $targetId
     and t.state = 'agent'`,
);
const remove = statement(
  'delete-thread',
  'delete from threads where tenant = $tenant and id = $id',
);

/**
 * Changes the external id of a thread from `from` to `to`, in the caller's transaction. If `to` has
 * a thread, the turns are moved into it, in the order of their ids, and a takeover continues. While
 * a turn of the old thread is unfinished, nothing changes.
 */
export async function mergeThreads(
  tx: Queryable,
  scope: Scope,
  from: string,
  to: string,
): Promise<void> {
  const { rows } = await tx.query(scope, threadsToMerge, {
    environment: scope.environment,
    externalId: [from, to],
  });
  const old = rows.find(({ externalId }) => externalId === from);
  const target = rows.find(({ externalId }) => externalId === to);
  if (old === undefined) return;
  if (target === undefined) {
    await tx.query(scope, rename, { id: old.id, to });
    return;
  }
  const { rowCount: unfinished } = await tx.query(scope, findUnfinished, { id: old.id });
  if (unfinished !== 0) return;
  await tx.query(scope, moveTurns, { id: old.id, threadId: target.id });
  await tx.query(scope, moveMessages, { id: old.id, threadId: target.id });
  await tx.query(scope, keepTakeover, { oldId: old.id, targetId: target.id });
  await tx.query(scope, remove, { id: old.id });
}
