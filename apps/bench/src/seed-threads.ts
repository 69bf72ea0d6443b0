import type { Pool } from 'pg';

/**
 * Inserts threads of one tenant, spread over some days: half of them closed, about 0.1 % answered
 * by a person, assigned or labelled, and all but 0.1 % read by one visitor.
 */
export async function seedThreads(
  pool: Pick<Pool, 'query'>,
  {
    tenant,
    visitorId,
    threads,
    beganMs,
    days,
  }: { tenant: number; visitorId: string; threads: number; beganMs: number; days: number },
): Promise<void> {
  const dayMs = 86_400_000;
  await pool.query(
    `insert into threads (id, tenant, environment, external_id, channel, agent_slug, params, state, status, assignee_id, labels,
       last_message_at, updated_at)
     select 'thread_' || n, $1, 'development', 'contact:' || n, case when n % 2 = 0 then 'api' else 'whatsapp' end, 'agent-' || n % 9,
       jsonb_build_object('contactName', 'Person ' || n),
       (case when n % 1009 = 0 then 'human' when n % 9973 = 0 then 'waiting' else 'agent' end)::"ThreadState",
       (case when n % 2 = 1 then 'closed' else 'open' end)::"ThreadStatus", case when n % 1013 = 0 then 'user_1' end,
       case when n % 1019 = 0 then '{vip}'::text[] else '{}' end, to_timestamp(($2::bigint + n::bigint * ${(days * dayMs) / threads}) / 1000.0), now()
     from generate_series(0, ${threads - 1}) n`,
    [tenant, beganMs],
  );
  await pool.query(
    `insert into thread_visits (tenant, thread_id, visitor_id, visitor, read_at)
     select $1, 'thread_' || n, $2, '{}', now() from generate_series(0, ${threads - 1}) n where n % 1021 <> 0`,
    [tenant, visitorId],
  );
}
