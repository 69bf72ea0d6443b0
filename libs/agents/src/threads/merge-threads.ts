import type { Scope } from '@parley/contracts';
import type { Queryable } from '@parley/db';

/**
 * Gives the thread of the external id `from` the id `to`, in the caller's transaction. Where `to` has a thread already, the
 * turns move into it, in the order of their ids; while a turn of the old thread runs, both stay as they are.
 */
export async function mergeThreads(tx: Queryable, scope: Scope, from: string, to: string): Promise<void> {
  const { rows } = await tx.raw<{ id: string; externalId: string }>(
    `select id, external_id as "externalId" from threads
     where organization_id = $1 and environment = $2::"Environment" and external_id = any($3) for update`,
    [scope.organizationId, scope.environment, [from, to]],
  );
  const old = rows.find(({ externalId }) => externalId === from);
  const target = rows.find(({ externalId }) => externalId === to);
  if (old === undefined) return;
  if (target === undefined) {
    await tx.raw('update threads set external_id = $2, updated_at = now() where id = $1', [old.id, to]);
    return;
  }
  const { rowCount: running } = await tx.raw(
    "select 1 from executions where thread_id = $1 and status in ('queued', 'running') limit 1",
    [old.id],
  );
  if (running !== 0) return;
  await tx.raw('update executions set thread_id = $2 where thread_id = $1', [old.id, target.id]);
  await tx.raw('update thread_messages set thread_id = $2 where thread_id = $1', [old.id, target.id]);
  await tx.raw('delete from threads where id = $1', [old.id]);
}
