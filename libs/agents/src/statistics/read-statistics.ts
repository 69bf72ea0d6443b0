import type { Scope } from '@parley/contracts';
import { type Queryable, column, statement } from '@parley/db';
import { firstIdAt } from '../threads/read-executions';
import { bucketFactor, executionsSql, sums } from './figures-sql';
import { settledMs } from './roll-up-executions';

/**
 * Maximum number of executions, and of hours, that are counted while the worker has not added them
 * to the statistics.
 */
const maxLiveExecutions = 50_000;
const maxLiveMs = 2 * 3_600_000 + settledMs;

export type Interval = 'hour' | 'day';

export interface StatisticsQuery {
  from: Date;
  to: Date;
  interval: Interval;
  /** Where days begin, such as `America/Santiago`. */
  timezone: string;
  agentSlug?: string;
  channel?: string;
}

const names = [
  'messages',
  'executions',
  'failures',
  'input_tokens',
  'output_tokens',
  'tool_calls',
  'tool_errors',
];

/** The beginning of the hour or day of `from`. */
const begin =
  '(date_trunc($interval, $from::timestamptz at time zone $timezone) at time zone $timezone)';

const read = statement(
  'read-execution-statistics',
  `with live as materialized (
     select * from (${executionsSql(maxLiveExecutions)}) e
     where environment = $environment::"Environment" and ($agentSlug = '' or agent_slug = $agentSlug)
       and ($channel = '' or channel = $channel)
       and hour >= greatest(${begin}, $liveFrom::timestamptz) and hour < $to),
   stored as materialized (
     select date_trunc($interval, hour at time zone $timezone) as place, ${names.join(', ')}, durations
       from execution_statistics
     where tenant = $tenant and environment = $environment::"Environment" and agent_slug = $agentSlug
       and channel = $channel
       and hour >= ${begin} and hour < least($to, $liveFrom::timestamptz)),
   counts as (
     select place, ${names.map((name) => `sum(${name}) as ${name}`).join(', ')}
     from (select place, ${names.join(', ')} from stored
           union all select date_trunc($interval, hour at time zone $timezone), ${sums}
             from live group by hour) c group by place),
   spread as (
     select place, jsonb_object_agg(i, n) as durations
     from (select place, i, sum(v)::int as n
           from (select place, i, v from stored, unnest(durations) with ordinality as d (v, i) where v > 0
                 union all
                 select date_trunc($interval, hour at time zone $timezone), bucket + 1, 1 from live
                   where bucket is not null) d
           group by place, i) b
     group by place)
   select (p.place at time zone $timezone) as start,
     ${names.map((name) => `coalesce(c.${name}, 0)::float8 as "${name}"`).join(', ')}, s.durations
   from generate_series(date_trunc($interval, $from::timestamptz at time zone $timezone),
     ($to::timestamptz - interval '1 ms') at time zone $timezone,
                        ('1 ' || $interval)::interval) as p (place)
   left join counts c using (place) left join spread s using (place) order by p.place`,
  {
    start: column.timestamptz,
    messages: column.float8,
    executions: column.float8,
    failures: column.float8,
    input_tokens: column.float8,
    output_tokens: column.float8,
    tool_calls: column.float8,
    tool_errors: column.float8,
    /** Number of answers by bucket, from 1. */
    durations: column.jsonb<Record<string, number>>().nullable,
  },
);

const rolledUntil = statement(
  'statistics-until',
  'select until from execution_rollups where tenant = $tenant',
  {
    until: column.timestamptz,
  },
);

/**
 * Figures of an environment for each hour or day: those that the worker has stored, and the
 * executions since then. Reads at most one row for each hour and 50,000 executions.
 */
export async function readStatistics(db: Queryable, scope: Scope, query: StatisticsQuery) {
  const { from, to, interval, timezone, agentSlug = '', channel = '' } = query;
  const { rows: progress } = await db.query(scope, rolledUntil);
  const until = progress[0]?.until ?? new Date(0);
  const liveFrom = new Date(Math.max(until.getTime(), Date.now() - maxLiveMs));
  const { rows } = await db.query(scope, read, {
    firstId: String(firstIdAt(liveFrom)),
    endId: String(firstIdAt(to)),
    liveFrom: until.getTime() === 0 ? liveFrom : until,
    environment: scope.environment,
    agentSlug,
    channel,
    from,
    to,
    interval,
    timezone,
  });
  return {
    /** Until this time the figures are complete; later ones may change. */
    completeUntil: until,
    buckets: rows.map(({ durations, ...row }) => ({
      start: row.start,
      messages: row.messages,
      executions: row.executions,
      failures: row.failures,
      inputTokens: row.input_tokens,
      outputTokens: row.output_tokens,
      toolCalls: row.tool_calls,
      toolErrors: row.tool_errors,
      p50Ms: percentile(durations ?? {}, 0.5),
      p95Ms: percentile(durations ?? {}, 0.95),
    })),
  };
}

/** The middle of the bucket that has the percentile; null without durations. */
export function percentile(
  durations: Readonly<Record<string, number>>,
  share: number,
): number | null {
  // Keys that are whole numbers are in ascending order.
  const buckets = Object.entries(durations);
  let left = buckets.reduce((sum, [, count]) => sum + count, 0) * share;
  for (const [bucket, count] of buckets) {
    left -= count;
    if (left <= 0) return Math.round(bucketFactor ** Math.max(0, Number(bucket) - 1.5));
  }
  return null;
}
