import { type PurgeStep, column, purgeRows, statement } from '@parley/db';

/** Ordered by the key, so that PostgreSQL reads only the tenant's part of the index. */
const purgeTurns = statement(
  'purge-turns',
  `with ids as (select id from executions where tenant = $tenant order by id limit 200),
     purged as (
       delete from thread_messages where tenant = $tenant and execution_id = any(array(select id from ids))
         returning 1),
     calls as (delete from tool_calls where tenant = $tenant and execution_id = any(array(select id from ids))
       returning 1),
     turns as (delete from executions where tenant = $tenant and id = any(array(select id from ids)) returning 1)
   select (select count(*)::int from purged) as thread_messages, (select count(*)::int from calls) as tool_calls,
          (select count(*)::int from turns) as executions`,
  { thread_messages: column.int4, tool_calls: column.int4, executions: column.int4 },
);

/**
 * The steps of a purge: deletes turns with their messages and tool calls, then threads and prompts.
 */
export const threadsPurge: readonly PurgeStep[] = [
  async (tx, scope) => (await tx.query(scope, purgeTurns)).rows[0]!,
  ...purgeRows(['threads']),
  ...purgeRows(['execution_prompts'], 'hash'),
  ...purgeRows(['execution_statistics'], 'hour'),
  ...purgeRows(['execution_rollups'], 'tenant'),
];
