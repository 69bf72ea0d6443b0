import { type PurgeStep, purgeRows } from '@parley/db';

/** Turns with what was said and called in them, which carry no organization of their own. */
const turns: PurgeStep = async (tx, organizationId) => {
  const { rows } = await tx.raw<{ id: string }>(
    `select id::text from executions where organization_id = $1 limit 200`,
    [organizationId],
  );
  const ids = [rows.map(({ id }) => id)];
  const messages = await tx.raw('delete from thread_messages where execution_id = any($1::bigint[])', ids);
  const calls = await tx.raw('delete from tool_calls where execution_id = any($1::bigint[])', ids);
  const executions = await tx.raw('delete from executions where id = any($1::bigint[])', ids);
  return {
    thread_messages: messages.rowCount ?? 0,
    tool_calls: calls.rowCount ?? 0,
    executions: executions.rowCount ?? 0,
  };
};

/** What a purge deletes, step by step. */
export const threadsPurge: readonly PurgeStep[] = [turns, ...purgeRows('threads')];
