import type { Actor, JsonObject, Scope } from '@parley/contracts';
import { type Queryable, column, statement } from '@parley/db';

/** The actor and the cause of a change, as stored in its event. */
export interface Origin {
  actor: Actor;
  /** Number of triggers between the first change of a chain and this one. Default: 0. */
  hops?: number;
  /**
   * What began the chain of triggers that led to the change (`root` of events).
   * Default: this event.
   */
  root?: string;
  requestId?: string;
}

export interface NewEvent extends Omit<Origin, 'actor'> {
  actor: Actor | { type: 'agent'; slug: string };
  /** For example `payment.paid`. */
  type: string;
  /** The entity that the event is about. */
  entity?: { type: string; id: string };
  payload: JsonObject;
}

/** A change with more hops starts no trigger (docs/reference/triggers.md#chains-of-triggers). */
export const maxHops = 5;

/** SQL expressions for the columns of one event. */
interface EventColumns {
  /** Default: `time_id()`, an id derived from the time. */
  id?: string;
  tenant: string;
  environment: string;
  type: string;
  entityType?: string;
  entityId?: string;
  payload: string;
  actor: string;
  hops: string;
  root: string;
  requestId: string;
  /**
   * A condition under which the event waits for the relay, unless it exceeds `maxHops`. Default:
   * it does not wait.
   */
  waits?: string;
}

/**
 * Returns SQL that inserts an event for each row of `source` (`from …`). It is part of the
 * statement that makes the change, so that neither exists without the other.
 */
export const insertEventSql = (columns: EventColumns, source: string): string =>
  `insert into events
     (id, tenant, environment, type, entity_type, entity_id, payload, actor, hops, root, request_id, relayed_at)
    select ${columns.id ?? 'time_id()'}, ${columns.tenant}, ${columns.environment}, ${columns.type},
      ${columns.entityType ?? 'null'}, ${columns.entityId ?? 'null'}, ${columns.payload}, ${columns.actor}, ${columns.hops},
      ${columns.root}, ${columns.requestId}, ${columns.waits ? `case when not ${columns.waits} or ${columns.hops} > ${maxHops} then now() end` : 'now()'}
    ${source}`;

const given: EventColumns = {
  // After the last event of the entity, whose id is ahead of the clock when the clock was set back.
  id: 'greatest(time_id(), time_id((select max(id) >> 21 from events where tenant = $tenant and entity_id = $entityId)))',
  tenant: '$tenant::int',
  environment: '$environment::"Environment"',
  type: '$type',
  entityType: '$entityType',
  entityId: '$entityId',
  payload: '$payload::jsonb',
  actor: '$actor::jsonb',
  hops: '$hops::int',
  root: '$root',
  requestId: '$requestId',
};

const record = statement('record-event', `${insertEventSql(given, '')} returning id::text`, {
  id: column.text,
});

/** Records an event in the caller's transaction and returns its id. */
export async function recordEvent(db: Queryable, scope: Scope, event: NewEvent): Promise<string> {
  const { rows } = await db.query(scope, record, valuesOf(scope, event));
  return rows[0]!.id;
}

const unlessRecorded = `where not exists (
    select from events where tenant = $tenant and entity_id = $entityId and type = $type
      and payload -> $member = $payload::jsonb -> $member)`;
const recordOnce = statement('record-event-once', insertEventSql(given, unlessRecorded));

/**
 * Records an event unless the entity has one of this type whose payload has the same
 * value in `member`.
 */
export async function recordEventOnce(
  db: Queryable,
  scope: Scope,
  event: NewEvent,
  member: string,
): Promise<void> {
  await db.query(scope, recordOnce, { ...valuesOf(scope, event), member });
}

const valuesOf = ({ environment }: Scope, event: NewEvent) => ({
  environment,
  type: event.type,
  entityType: event.entity?.type ?? null,
  entityId: event.entity?.id ?? null,
  payload: JSON.stringify(event.payload),
  actor: JSON.stringify(event.actor),
  hops: event.hops ?? 0,
  root: event.root ?? null,
  requestId: event.requestId ?? null,
});
