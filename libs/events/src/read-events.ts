import type { Actor, JsonObject, Scope } from '@parley/contracts';
import { type Queryable, type RowOf, column, statement } from '@parley/db';

/** Selects the events for which all given conditions hold. */
export interface EventFilter {
  /** An event type, or all types with a prefix: `order.*`. */
  type?: string;
  entityType?: string;
  entityId?: string;
  /** Only events about entities of these types, and events without an entity. */
  visibleTypes?: readonly string[];
  /** Unix milliseconds. */
  since?: number;
  /** An id, exclusive. */
  before?: string;
}

const eventRow = {
  /** An integer as text, derived from the time of creation. Its order is not the order of the commits. */
  id: column.text,
  type: column.text,
  entityType: column.text.nullable,
  entityId: column.text.nullable,
  payload: column.jsonb<JsonObject>(),
  actor: column.jsonb<Actor>(),
  hops: column.int4,
  /** What began the chain of triggers that led to it: an id of an event or of a run. Null: the event itself. */
  root: column.text.nullable,
  requestId: column.text.nullable,
  /** Unix milliseconds. */
  createdAt: column.float8,
};
export type StoredEvent = RowOf<typeof eventRow>;

const columns = `id::text, type, entity_type as "entityType", entity_id as "entityId", payload, actor, hops, root,
  request_id as "requestId", floor(extract(epoch from created_at) * 1000)::float8 as "createdAt"`;

/** SQL for the events of an environment that match a filter. Its parameters are `matchValues`. */
const matching = `from events where tenant = $1 and environment = $2::"Environment"
  and ($3::text is null or type = $3 or right($3, 2) = '.*' and starts_with(type, left($3, -1)))
  and ($4::text is null or entity_type = $4) and ($5::text is null or entity_id = $5)
  and ($6::text[] is null or entity_type is null or entity_type = any($6))
  and ($7::float8 is null or created_at >= to_timestamp($7 / 1000)) and ($8::bigint is null or id < $8)`;

function matchValues(scope: Scope, filter: EventFilter): unknown[] {
  const { type, entityType, entityId, visibleTypes, since, before } = filter;
  return [scope.tenant, scope.environment, type, entityType, entityId, visibleTypes, since, before];
}

const newest = statement('read-events', `select ${columns} ${matching} order by events.id desc limit $9`, eventRow);

/** Returns at most `limit` events of an environment, newest first. */
export async function readEvents(
  db: Queryable,
  scope: Scope,
  filter: EventFilter,
  limit: number,
): Promise<StoredEvent[]> {
  const { rows } = await db.query(scope, newest, [...matchValues(scope, filter), limit]);
  return rows;
}

/** True for events before which no other event can be committed: all transactions with lower ids have ended. */
const isSettled = 'xid < pg_snapshot_xmin(pg_current_snapshot())';
const ofEnvironment = `from events where tenant = $1 and environment = $2::"Environment" and ${isSettled}`;

const eventsAfter = statement(
  'follow-events',
  `select (select coalesce(json_agg(e), '[]') from (
       select ${columns}, xid || '.' || id as cursor ${matching} and ${isSettled}
         and (xid, id) > ($9::xid8, $10::bigint) order by xid, events.id limit $11) e) as events,
     coalesce((select xid || '.' || id ${ofEnvironment} order by xid desc, id desc limit 1), '0.0') as last,
     $10 = 0 or exists (select ${ofEnvironment} and xid = $9 and id = $10) as "isKnown"`,
  { events: column.jsonb<(StoredEvent & { cursor: string })[]>(), last: column.text, isKnown: column.bool.nullable },
);

/**
 * Returns the events after a cursor, each once and in the order of (xid, id), and the next cursor. The cursor null returns
 * the current position and no events. `resync`: the event of the cursor no longer exists, because the database was restored
 * or the event was deleted. The reader then gets a new cursor and reads its data again (docs/adr/0034).
 */
export async function followEvents(
  db: Queryable,
  scope: Scope,
  filter: EventFilter,
  cursor: string | null,
  limit: number,
): Promise<{ ok: true; events: StoredEvent[]; cursor: string } | { ok: false; reason: 'resync' }> {
  const [, xid = null, id = null] = /^(\d{1,18})\.([0-8]?\d{1,18})$/.exec(cursor ?? '') ?? [];
  const { rows } = await db.query(scope, eventsAfter, [...matchValues(scope, filter), xid, id, limit]);
  const { events, last, isKnown } = rows[0]!;
  if (cursor !== null && !isKnown) return { ok: false, reason: 'resync' };
  const next = events.length < limit ? last : events.at(-1)!.cursor;
  return { ok: true, events: events.map(({ cursor: _cursor, ...event }) => event), cursor: next };
}
