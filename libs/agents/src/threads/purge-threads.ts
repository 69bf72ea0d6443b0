import { type PurgeStep, column, purgeRows, statement } from '@parley/db';

/** In the order of the key, so that turns are read from its index however many other tenants have. */
const purgeTurns = statement(
  'purge-turns',
  `with ids as (select id from executions where tenant = $1 order by id limit 200),
     said as (
       delete from thread_messages where tenant = $1 and execution_id = any(array(select id from ids)) returning 1),
     calls as (delete from tool_calls where tenant = $1 and execution_id = any(array(select id from ids)) returning 1),
     turns as (delete from executions where tenant = $1 and id = any(array(select id from ids)) returning 1)
   select (select count(*)::int from said) as thread_messages, (select count(*)::int from calls) as tool_calls,
          (select count(*)::int from turns) as executions`,
  { thread_messages: column.int4, tool_calls: column.int4, executions: column.int4 },
);

/** What a purge deletes, step by step: turns with what was said and called in them, then threads. */
export const threadsPurge: readonly PurgeStep[] = [
  async (tx, scope) => (await tx.query(scope, purgeTurns, [scope.tenant])).rows[0]!,
  ...purgeRows(['threads']),
];
