import type { Actor, JsonObject, Scope } from '@parley/contracts';
import { type Queryable, column, statement } from '@parley/db';

/** Where a change comes from; its event names it. */
export interface Origin {
  actor: Actor;
  /** Triggers between this change and the one that a person made. 0 by default. */
  hops?: number;
  requestId?: string;
}

export interface NewEvent extends Omit<Origin, 'actor'> {
  actor: Actor | { type: 'agent'; slug: string };
  /** Such as `payment.paid`. */
  type: string;
  /** The entity that the event is about. */
  entity?: { type: string; id: string };
  payload: JsonObject;
}

/** The longest chain of triggers (decisions.md, Triggers): after a change with more hops no trigger follows. */
export const maxHops = 5;

/** SQL expressions for the columns of one event. */
interface EventColumns {
  /** Made from the time by default. */
  id?: string;
  tenant: string;
  environment: string;
  type: string;
  entityType?: string;
  entityId?: string;
  payload: string;
  actor: string;
  hops: string;
  requestId: string;
  /** Whether a trigger may follow: then the event waits for the relay, up to `maxHops`. No other event does. */
  waits?: string;
}

/**
 * The insert of an event for each row of `source` (`from …`), as part of the statement that makes the change, so that
 * there is never one without the other.
 */
export const insertEventSql = (columns: EventColumns, source: string): string =>
  `insert into events
     (id, tenant, environment, type, entity_type, entity_id, payload, actor, hops, request_id, relayed_at)
    select ${columns.id ?? 'time_id()'}, ${columns.tenant}, ${columns.environment}, ${columns.type},
      ${columns.entityType ?? 'null'}, ${columns.entityId ?? 'null'}, ${columns.payload}, ${columns.actor}, ${columns.hops},
      ${columns.requestId}, ${columns.waits ? `case when not ${columns.waits} or ${columns.hops} > ${maxHops} then now() end` : 'now()'}
    ${source}`;

const given: EventColumns = {
  // An entity's last event may be ahead of the clock: changes of one millisecond, or a clock that was set back.
  id: 'greatest(time_id(), time_id((select max(id) >> 21 from events where tenant = $1 and entity_id = $5)))',
  tenant: '$1::int',
  environment: '$2::"Environment"',
  type: '$3',
  entityType: '$4',
  entityId: '$5',
  payload: '$6::jsonb',
  actor: '$7::jsonb',
  hops: '$8::int',
  requestId: '$9',
};

const record = statement('record-event', `${insertEventSql(given, '')} returning id::text`, { id: column.text });

/** Records an event in the caller's transaction and returns its id. */
export async function recordEvent(db: Queryable, scope: Scope, event: NewEvent): Promise<string> {
  const { rows } = await db.query(scope, record, valuesOf(scope, event));
  return rows[0]!.id;
}

const unlessRecorded = `where not exists (
    select from events where tenant = $1 and entity_id = $5 and type = $3 and payload -> $10 = $6::jsonb -> $10)`;
const recordOnce = statement('record-event-once', insertEventSql(given, unlessRecorded));

/** The same, unless the entity has an event of this type with the same value in `member` of its payload. */
export async function recordEventOnce(db: Queryable, scope: Scope, event: NewEvent, member: string): Promise<void> {
  await db.query(scope, recordOnce, [...valuesOf(scope, event), member]);
}

const valuesOf = (scope: Scope, { type, entity, payload, actor, hops, requestId }: NewEvent): unknown[] => [
  scope.tenant,
  scope.environment,
  type,
  entity?.type ?? null,
  entity?.id ?? null,
  JSON.stringify(payload),
  JSON.stringify(actor),
  hops ?? 0,
  requestId ?? null,
];
