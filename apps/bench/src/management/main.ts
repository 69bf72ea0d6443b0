import { rollUpExecutions } from '@parley/agents';
import { createDb, newId } from '@parley/db';
import { createApiKey, insertOrganization } from '@parley/identity';
import { startStack } from '@parley/testing';
import pg from 'pg';
import { seedThreads } from '../seed-threads';
import { machine, measureInTurns, ms, report, summarize, table } from '../measure';

const dayMs = 86_400_000;
const days = 30;
const threads = 100_000;
const rounds = 5;
const perRound = 10;
const goalMs = 300;

/**
 * Lists of the management API over a tenant with a million executions (`… management 100000` for
 * fewer) in 100,000 threads, spread over 30 days; half of the threads closed, 0.1 % answered by a
 * person, 0.1 % unread. Of the executions 0.1 % failed, 0.1 % with a tool error, 0.01 % stored, ten
 * agents, one of them with 0.1 %.
 */
async function main(): Promise<void> {
  const { PARLEY_BENCH_BUNDLES: bundles = '', DATABASE_URL = '', REDIS_URL = '' } = process.env;
  const count = Number(process.argv[2] ?? 1_000_000);
  const where = machine();
  const db = createDb({ databaseUrl: DATABASE_URL, poolSize: 2 });
  // Without the time limit of the services.
  const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 1 });
  const organization = await insertOrganization(db, {
    id: newId('org'),
    slug: 'bench',
    name: 'Bench',
  });
  const { tenant } = organization!;
  const { key, id: keyId } = await createApiKey(db, {
    tenant,
    environment: 'development',
    name: 'bench',
    permissions: ['manage'],
  });
  const beganMs = Date.now() - days * dayMs;
  await seedThreads(pool, { tenant, visitorId: keyId, threads, beganMs, days });
  await pool.query(
    `insert into executions (id, tenant, environment, thread_id, agent_slug, status, input, output, model, iterations,
       input_tokens, output_tokens, steps, tool_call_count, tool_error_count, created_at, started_at, finished_at)
     select time_id(at), $1, 'development', 'thread_' || (n * 7919::bigint) % ${threads},
       case when n % 1009 = 0 then 'rare' else 'agent-' || n % 9 end,
       (case when n % 997 = 0 then 'failed' else 'succeeded' end)::"ExecutionStatus", 'Where is my order ' || n || '?',
       case when n % 997 = 0 or n % 9973 = 1 then null else repeat('It left yesterday. ', 5) end, 'openai/gpt-5-mini', 2, 900, 60,
       '[{"kind":"model","name":"openai/gpt-5-mini","status":"success","durationMs":900,"inputTokens":450,"outputTokens":30},
         {"kind":"tool","name":"entity.query","callId":"abc","status":"success","durationMs":9},
         {"kind":"model","name":"openai/gpt-5-mini","status":"success","durationMs":900,"inputTokens":450,"outputTokens":30}]',
       1, (n % 991 = 0)::int, to_timestamp(at / 1000.0), to_timestamp(at / 1000.0), to_timestamp((at + 500 + n % 4000) / 1000.0)
     from (select n, $2::bigint + n * ${days * dayMs}::bigint / $3::bigint as at from generate_series(0, $3::bigint - 1) n) s`,
    [tenant, beganMs, count],
  );
  await pool.query('vacuum analyze');
  const rollUpBegan = performance.now();
  const hours = await rollUpExecutions(db, new AbortController().signal);
  const rollUpMs = performance.now() - rollUpBegan;
  await pool.query('vacuum analyze execution_statistics');
  const stack = await startStack({
    databaseUrl: DATABASE_URL,
    redisUrl: REDIS_URL,
    bundles,
    services: ['manage'],
    environment: {
      NODE_ENV: 'production',
      MANAGE_RATE_LIMIT_PER_KEY: '1000000',
      MANAGE_RATE_LIMIT_PER_ORGANIZATION: '1000000',
    },
  });
  const address = stack.services.manage!.url;
  const read = async (path: string): Promise<{ data: { id: string }[]; cursor: string }> => {
    const response = await fetch(address + path, { headers: { Authorization: `Bearer ${key}` } });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as { data: { id: string }[]; cursor: string };
  };
  const list = '/v1/executions?limit=100';
  const middle = `since=${beganMs + 15 * dayMs}`;
  const first = await read(list);
  const month = `from=${beganMs}&to=${Date.now()}`;
  const paths: Record<string, string> = {
    all: list,
    'all, page 2': `${list}&cursor=${first.cursor}`,
    'of an agent with a ninth': `${list}&agent=agent-3`,
    'of an agent with 0.1 %': `${list}&agent=rare`,
    'of an agent without any': `${list}&agent=none`,
    'of a thread': `${list}&thread=thread_7`,
    failed: `${list}&status=failed`,
    succeeded: `${list}&status=succeeded`,
    stored: `${list}&status=stored`,
    stalled: `${list}&status=stalled`,
    'tool errors': `${list}&toolErrors=true`,
    'tool errors, stored (none)': `${list}&toolErrors=true&status=stored`,
    'tool errors of the rare agent since day 15': `${list}&toolErrors=true&agent=rare&${middle}`,
    'since day 15': `${list}&${middle}`,
    'one execution': `/v1/executions/${first.data[50]!.id}`,
    'statistics, 720 hours': `/v1/statistics?${month}&interval=hour`,
    'statistics, 30 days': `/v1/statistics?${month}&interval=day&timezone=America/Santiago`,
    'statistics, 720 hours of an agent on a channel': `/v1/statistics?${month}&interval=hour&agent=agent-3&channel=api`,
    'health report': '/v1/health-report',
    'threads: all': '/v1/threads?limit=100',
    'threads: of a person': '/v1/threads?limit=100&state=human',
    'threads: waiting': '/v1/threads?limit=100&state=waiting&status=open',
    'threads: answered by the agent, open': '/v1/threads?limit=100&state=agent&status=open',
    'threads: unread (0.1 %)': '/v1/threads?limit=100&unread=true',
    'threads: assigned (0.1 %)': '/v1/threads?limit=100&assignee=user_1',
    'threads: label (0.1 %)': '/v1/threads?limit=100&label=vip',
    'threads: text, one match': '/v1/threads?limit=100&q=Person%2077777',
    'threads: text, none, of an agent': '/v1/threads?limit=100&q=nothing&agent=agent-3',
    'threads: numbers by state': '/v1/thread-counts',
  };
  const calls = Object.fromEntries(
    Object.entries(paths).map(([name, path]) => [name, () => read(path)]),
  );
  const samples = await measureInTurns(calls, { rounds, perRound });
  console.log(
    `${where}\n\n${count} executions in ${threads} threads; ${rounds * perRound} calls each\n`,
  );
  const rows = Object.entries(samples).map(([name, all]) => {
    const { p50, p95 } = summarize(all);
    report(`management: ${name}, p95`, p95, 'ms', { atMost: goalMs });
    return [name, ms(p50), ms(p95), ms(Math.max(...all)), p95 <= goalMs ? 'met' : 'missed'];
  });
  console.log(table(['request', 'p50 ms', 'p95 ms', 'worst ms', `p95 ≤ ${goalMs} ms`], rows));
  console.log(
    `\nThe worker's roll-up of ${hours} hours took ${ms(rollUpMs)} ms, ${ms(rollUpMs / Math.max(1, hours))} ms an hour`,
  );
  await stack.stop();
  await pool.end();
  await db.close();
  process.exit(0);
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
