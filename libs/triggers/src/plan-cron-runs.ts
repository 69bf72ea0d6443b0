import type { Environment, TriggerDefinition } from '@parley/contracts';
import { type Db, type RowOf, column, newId, statement } from '@parley/db';
import { lastTickMs, nextTickMs } from './cron';
import { type DueRun, type NewRun, insertRuns } from './insert-runs';
import { planRunTime } from './plan-run-time';

const cronTriggerRow = {
  id: column.text,
  tenant: column.int4,
  environment: column.oneOf<Environment>(),
  slug: column.text,
  definition: column.jsonb<TriggerDefinition>(),
  timezone: column.text,
  organizationName: column.text,
  tickSchedule: column.text.nullable,
  nextMs: column.float8.nullable,
  nowMs: column.float8,
};
type CronTrigger = RowOf<typeof cronTriggerRow>;

// Disabled triggers have no next tick: when one is enabled again, the ticks in between are not
// caught up. A schedule that is never due has no next tick either. It is planned, and not read
// again until its definition changes.
const dueCronTriggers = statement(
  'cron-triggers-due',
  `with disabled as (update triggers set next_tick_at = null, tick_schedule = null
     where entity_type is null and not enabled and tick_schedule is not null)
   select t.id, t.tenant, t.environment::text as environment, t.slug, t.definition,
     coalesce(o.timezone, 'UTC') as timezone, coalesce(o.name, '') as "organizationName",
     t.tick_schedule as "tickSchedule", floor(extract(epoch from t.next_tick_at) * 1000)::float8 as "nextMs",
     floor(extract(epoch from statement_timestamp()) * 1000)::float8 as "nowMs"
   from triggers t left join organizations o on o.no = t.tenant
   where t.entity_type is null and t.enabled
     and (t.next_tick_at <= statement_timestamp() or t.tick_schedule is distinct from
       (t.definition->'on'->>'schedule') || ' ' || coalesce(t.definition->'on'->>'timezone', o.timezone, 'UTC'))
   order by t.id limit 100 for update of t skip locked`,
  cronTriggerRow,
);

const setNextTicks = statement(
  'set-next-ticks',
  `update triggers t set next_tick_at = to_timestamp(n.ms / 1000), tick_schedule = n.schedule
   from unnest($tenants::int[], $ids::text[], $nextMs::float8[], $schedules::text[]) n(tenant, id, ms, schedule)
   where t.tenant = n.tenant and t.id = n.id`,
);

/**
 * Stores the runs of cron triggers that are due, each tick once over all workers: the
 * trigger's row is locked, and a tick has at most one run. When several ticks were missed,
 * only the last one runs.
 */
export function planCronRuns(db: Db): Promise<DueRun[]> {
  return db.transaction(async (client) => {
    const { rows } = await client.acrossTenants('due work', dueCronTriggers);
    if (rows.length === 0) return [];
    const ticks = await Promise.all(rows.map(tick));
    const due = await insertRuns(
      client,
      ticks.flatMap(({ run }) => (run === null ? [] : [run])),
    );
    await client.acrossTenants('due work', setNextTicks, {
      tenants: rows.map(({ tenant }) => tenant),
      ids: rows.map(({ id }) => id),
      nextMs: ticks.map(({ nextMs }) => nextMs),
      schedules: ticks.map(({ schedule }) => schedule),
    });
    return due;
  });
}

async function tick(
  trigger: CronTrigger,
): Promise<{ run: NewRun | null; nextMs: number | null; schedule: string }> {
  const { definition, nowMs, nextMs: dueMs, tickSchedule } = trigger;
  const on = definition.on as { schedule: string; timezone?: string };
  const schedule = { expression: on.schedule, timezone: on.timezone ?? trigger.timezone };
  const name = `${schedule.expression} ${schedule.timezone}`;
  const nextMs = nextTickMs(schedule, nowMs);
  // A new or changed schedule begins with its next tick.
  const isDue = dueMs !== null && dueMs <= nowMs && tickSchedule === name;
  const tickMs = isDue ? Math.max(lastTickMs(schedule, nowMs) ?? dueMs, dueMs) : null;
  return {
    run: tickMs === null ? null : await runOf(trigger, tickMs, dueMs!),
    nextMs,
    schedule: name,
  };
}

async function runOf(trigger: CronTrigger, tickMs: number, dueMs: number): Promise<NewRun> {
  const { tenant, environment, slug, definition } = trigger;
  const planned = await planRunTime(definition.schedule, {
    triggerSlug: slug,
    triggerName: definition.name,
    entityId: null,
    entityType: null,
    action: null,
    change: {},
    timestamp: tickMs,
    organization: { name: trigger.organizationName, timezone: trigger.timezone },
  });
  const id = newId('run');
  return {
    id,
    tenant,
    environment,
    triggerSlug: slug,
    cause: `tick-${tickMs}`,
    entityId: null,
    eventId: null,
    hops: 1,
    root: id,
    maxAttempts: definition.retry?.maxAttempts ?? 1,
    runAtMs: planned.ok ? planned.runAtMs : tickMs,
    context: { timestamp: tickMs, ...(dueMs < tickMs && { missedSince: dueMs }) },
    requestId: null,
    cancelsPrevious: false,
    problem: planned.ok ? null : planned.problem,
  };
}
