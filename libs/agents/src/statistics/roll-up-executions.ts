import { type Db, type Tenant, column, statement, tenantsOf } from '@parley/db';
import { firstIdAt } from '../threads/read-executions';
import { durations, executionsSql, sums } from './figures-sql';

const hourMs = 3_600_000;
/**
 * Turns have ended this long after they began: their time limit is 2 minutes. Unfinished ones are
 * counted as they are.
 */
export const settledMs = 15 * 60_000;

const nextExecution = statement(
  'next-execution-to-roll-up',
  `select created_at as "createdAt" from executions where tenant = $tenant and id >= $id::bigint order by id limit 1`,
  { createdAt: column.timestamptz },
);

const rollUntil = statement(
  'roll-up-until',
  `select until from execution_rollups where tenant = $tenant`,
  {
    until: column.timestamptz,
  },
);

/**
 * Stores the figures of one hour, for each agent and channel and for all of them. Repeating it
 * changes nothing.
 */
const rollUpHour = statement(
  'roll-up-hour',
  `with figures as (
     insert into execution_statistics (tenant, environment, agent_slug, channel, hour, messages, executions, failures,
       input_tokens, output_tokens, tool_calls, tool_errors, durations)
     select $tenant, environment, coalesce(agent_slug, ''), coalesce(channel, ''), $hour::timestamptz, ${sums},
       ${durations}
     from (${executionsSql(null)}) e group by environment, cube (agent_slug, channel)
     on conflict (tenant, environment, agent_slug, channel, hour) do update set messages = excluded.messages,
       executions = excluded.executions, failures = excluded.failures, input_tokens = excluded.input_tokens,
       output_tokens = excluded.output_tokens, tool_calls = excluded.tool_calls, tool_errors = excluded.tool_errors,
       durations = excluded.durations)
   insert into execution_rollups (tenant, until) values ($tenant, $until)
   on conflict (tenant) do update set until = greatest(execution_rollups.until, excluded.until)`,
);

const markUntil = statement(
  'mark-rolled-up',
  `insert into execution_rollups (tenant, until) values ($tenant, $until)
   on conflict (tenant) do update set until = greatest(execution_rollups.until, excluded.until)`,
);

/**
 * Adds the hours that have ended to the statistics of every tenant, hour by hour, until `signal`
 * aborts. A process that is killed continues where it stopped. Returns the number of hours.
 */
export async function rollUpExecutions(
  db: Db,
  signal: AbortSignal,
  now = Date.now(),
): Promise<number> {
  const end = Math.floor((now - settledMs) / hourMs) * hourMs;
  let hours = 0;
  for (const tenant of await tenantsOf(db)) hours += await rollUpTenant(db, tenant, end, signal);
  return hours;
}

async function rollUpTenant(
  db: Db,
  { tenant }: Tenant,
  endMs: number,
  signal: AbortSignal,
): Promise<number> {
  const [progress] = (await db.query({ tenant }, rollUntil)).rows;
  let untilMs = progress?.until.getTime() ?? 0;
  let hours = 0;
  for (; untilMs < endMs; hours++) {
    signal.throwIfAborted();
    const { rows } = await db.query({ tenant }, nextExecution, {
      id: String(firstIdAt(new Date(untilMs))),
    });
    const first = rows[0]?.createdAt.getTime() ?? Infinity;
    const hour = Math.max(untilMs, Math.floor(first / hourMs) * hourMs);
    if (hour >= endMs) {
      await db.query({ tenant }, markUntil, { until: new Date(endMs) });
      return hours;
    }
    const [from, to] = [new Date(hour), new Date(hour + hourMs)];
    await db.query({ tenant }, rollUpHour, {
      firstId: String(firstIdAt(from)),
      endId: String(firstIdAt(to)),
      hour: from,
      until: to,
    });
    untilMs = hour + hourMs;
  }
  return hours;
}
