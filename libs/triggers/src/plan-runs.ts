import type { Environment, TriggerDefinition } from '@parley/contracts';
import { type Db, type Queryable, type RowOf, column, newId, statement } from '@parley/db';
import { type WaitingEvent, readPayloads, takeWaitingEvents } from '@parley/events';
import { type ChangedEntity, matchesCondition } from './match-condition';
import { type DueRun, type NewRun, insertRuns } from './insert-runs';
import { admitRuns } from './admit-runs';
import { type PlannedTime, planRunTime } from './plan-run-time';

export interface Planned {
  /** Number of processed events; 0 when none wait or other relays process them. */
  events: number;
  hasMore: boolean;
  /** Runs that are due now. */
  due: DueRun[];
}

/**
 * Takes the next waiting events and stores the runs of the triggers that react to them, in one
 * transaction. A run is unique for its trigger and event, so planning the same events again after a
 * crash adds nothing.
 */
export function planRuns(db: Db, runsPerRoot: number): Promise<Planned> {
  return db.transaction(async (client) => {
    const { events, hasMore } = await takeWaitingEvents(client);
    if (events.length === 0) return { events: 0, hasMore, due: [] };
    const triggers = await readTriggers(client, events);
    const withPayload = events.filter((event) => triggers.get(keyOf(event))?.some(needsPayload));
    const payloads = await readPayloads<ChangedEntity>(client, withPayload);
    const runs: NewRun[] = [];
    for (const event of events) {
      const reacting = triggers.get(keyOf(event)) ?? [];
      const root =
        event.root ?? (reacting.some(({ definition }) => definition.cascade) ? event.id : null);
      for (const trigger of reacting) {
        const run = await plan(event, trigger, payloads.get(event));
        if (run !== null) runs.push({ ...run, root });
      }
    }
    const due = await insertRuns(client, await admitRuns(client, runs, runsPerRoot));
    return { events: events.length, hasMore, due };
  });
}

const matchedTriggerRow = {
  tenant: column.int4,
  environment: column.oneOf<Environment>(),
  entityType: column.text,
  action: column.text,
  definition: column.jsonb<TriggerDefinition>(),
  organization: column.jsonb<{ name: string; timezone: string }>(),
};
type MatchedTrigger = RowOf<typeof matchedTriggerRow>;

const keyOf = (
  row: { tenant: number; environment: string; entityType: string },
  action?: string,
): string =>
  JSON.stringify([
    row.tenant,
    row.environment,
    row.entityType,
    action ?? (row as WaitingEvent).type.slice(7),
  ]);

const triggersOfEvents = statement(
  'triggers-of-events',
  `select t.tenant, t.environment::text as environment, t.entity_type as "entityType", t.action,
     t.definition::jsonb || jsonb_build_object('slug', t.slug) as definition,
     jsonb_build_object('name', coalesce(o.name, ''), 'timezone', coalesce(o.timezone, 'UTC')) as organization
   from unnest($tenants::int[], $environments::text[], $entityTypes::text[], $actions::text[]) k(tenant, environment,
     entity_type, action)
   join triggers t on t.tenant = k.tenant and t.environment = k.environment::"Environment"
     and t.entity_type = k.entity_type and t.action = k.action and t.enabled
   left join organizations o on o.no = t.tenant
   order by t.slug`,
  matchedTriggerRow,
);

async function readTriggers(
  client: Queryable,
  events: readonly WaitingEvent[],
): Promise<Map<string, MatchedTrigger[]>> {
  const kinds = [...new Set(events.map((event) => keyOf(event)))].map(
    (key) => JSON.parse(key) as [number, string, string, string],
  );
  const { rows } = await client.acrossTenants('relay', triggersOfEvents, {
    tenants: kinds.map(([tenant]) => tenant),
    environments: kinds.map(([, environment]) => environment),
    entityTypes: kinds.map(([, , entityType]) => entityType),
    actions: kinds.map(([, , , action]) => action),
  });
  return Map.groupBy(rows, (row) => keyOf(row, row.action));
}

const needsPayload = ({ definition: { on, schedule } }: MatchedTrigger): boolean =>
  ('condition' in on && on.condition !== undefined) || schedule?.at !== undefined;

const noChange: ChangedEntity = { data: {}, previousData: null, status: '', previousStatus: null };

/** The run of one trigger for one event; null when the trigger's condition is not met. */
async function plan(
  event: WaitingEvent,
  trigger: MatchedTrigger,
  change = noChange,
): Promise<PlannedRun | null> {
  try {
    const { definition, organization } = trigger;
    const { on, slug, name } = definition;
    if (!matchesCondition('condition' in on ? on.condition : undefined, change)) return null;
    const planned = await planRunTime(definition.schedule, {
      triggerSlug: slug,
      triggerName: name,
      entityId: event.entityId,
      entityType: event.entityType,
      action: event.type.slice('entity.'.length),
      change,
      timestamp: event.atMs,
      organization,
    });
    return newRun(event, trigger, planned);
  } catch (error) {
    // An invalid definition must not block the events of other tenants, so its run
    // is stored as dead.
    return newRun(event, trigger, {
      ok: false,
      problem: `Could not be planned: ${String(error).slice(0, 500)}`,
    });
  }
}

type PlannedRun = Omit<NewRun, 'root'>;

const newRun = (
  event: WaitingEvent,
  { definition }: MatchedTrigger,
  planned: PlannedTime,
): PlannedRun => ({
  id: newId('run'),
  tenant: event.tenant,
  environment: event.environment,
  triggerSlug: definition.slug,
  cause: `event-${event.id}`,
  entityId: event.entityId,
  eventId: event.id,
  hops: event.hops + 1,
  maxAttempts: definition.retry?.maxAttempts ?? 1,
  runAtMs: planned.ok ? planned.runAtMs : event.atMs,
  context: {},
  requestId: event.requestId,
  cancelsPrevious: definition.schedule?.cancelPrevious ?? false,
  problem: planned.ok ? null : planned.problem,
});
