/**
 * Each bucket of durations ends at 1.2 times the end of the one before, so a percentile is off
 * by at most 10 %.
 */
export const bucketFactor = 1.2;
/** The last bucket also has all longer durations: 1.2^68 ms are 4 minutes. */
const bucketCount = 69;

const inBucket = Array.from(
  { length: bucketCount },
  (_, i) => `(count(*) filter (where bucket = ${i}))::int`,
);

/** Columns of the figures of executions, of the rows of `executionsSql`. */
export const sums = `count(*)::int as messages, (count(*) filter (where not stored))::int as executions,
  (count(*) filter (where failed))::int as failures, sum(input_tokens)::bigint as input_tokens,
  sum(output_tokens)::bigint as output_tokens, sum(tool_call_count)::int as tool_calls,
  sum(tool_error_count)::int as tool_errors`;
export const durations = `array[${inBucket.join(', ')}] as durations`;

/**
 * Executions of `$tenant` with an id from `$firstId` and below `$endId`, at most the last `limit`.
 */
export const executionsSql = (limit: number | null) => `
  select e.environment, coalesce(e.agent_slug, '-') as agent_slug, t.channel, date_trunc('hour', e.created_at, 'UTC') as hour,
    e.status = 'failed' and e.error is distinct from 'cancelled' as failed,
    e.status = 'succeeded' and e.output is null as stored, e.input_tokens, e.output_tokens, e.tool_call_count, e.tool_error_count,
    case when e.output is not null then least(${bucketCount - 1}, greatest(0, ceil(
      ln(greatest(1, extract(epoch from e.finished_at - e.created_at) * 1000)) / ln(${bucketFactor}))))::int end as bucket
  from (select * from executions where tenant = $tenant and id >= $firstId::bigint and id < $endId::bigint
        ${limit === null ? '' : `order by id desc limit ${limit}`}) e
  join threads t on t.tenant = $tenant and t.id = e.thread_id`;
