import { type PurgeStep, column, purgeRows, statement } from '@parley/db';

const turnsToPurge = statement(
  'turns-to-purge',
  'select id::text from executions where organization_id = $1 limit 200',
  { id: column.text },
);
const purgeMessages = statement(
  'purge-thread-messages',
  'delete from thread_messages where execution_id = any($1::bigint[])',
);
const purgeCalls = statement('purge-tool-calls', 'delete from tool_calls where execution_id = any($1::bigint[])');
const purgeExecutions = statement('purge-executions', 'delete from executions where id = any($1::bigint[])');

/** Turns with what was said and called in them, which carry no organization of their own. */
const turns: PurgeStep = async (tx, organizationId) => {
  const tenant = { organizationId };
  const { rows } = await tx.query(tenant, turnsToPurge, [organizationId]);
  const ids = [rows.map(({ id }) => id)];
  const messages = await tx.query(tenant, purgeMessages, ids);
  const calls = await tx.query(tenant, purgeCalls, ids);
  const executions = await tx.query(tenant, purgeExecutions, ids);
  return { thread_messages: messages.rowCount, tool_calls: calls.rowCount, executions: executions.rowCount };
};

/** What a purge deletes, step by step. */
export const threadsPurge: readonly PurgeStep[] = [turns, ...purgeRows('threads')];
