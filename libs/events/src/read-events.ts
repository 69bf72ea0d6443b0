import type { Actor, JsonObject, Scope } from '@parley/contracts';
import { type Queryable, column, maxPageBytes, statement } from '@parley/db';

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

/** `cursor`: the position of the event among those that are followed. */
export type FollowedEvent = StoredEvent & { cursor: string };

export interface StoredEvent {
  /**
   * An integer as text, derived from the time of creation. Its order is not the
   * order of the commits.
   */
  id: string;
  type: string;
  entityType: string | null;
  entityId: string | null;
  payload: JsonObject;
  actor: Actor;
  hops: number;
  /**
   * What began the chain of triggers that led to it: an id of an event or of a run. Null:
   * the event itself.
   */
  root: string | null;
  requestId: string | null;
  /** Unix milliseconds. */
  createdAt: number;
}

const columns = `id::text, type, entity_type as "entityType", entity_id as "entityId", payload, actor, hops, root,
  request_id as "requestId", floor(extract(epoch from created_at) * 1000)::float8 as "createdAt"`;

/** SQL for the events of an environment that match a filter. Its parameters are `matchValues`. */
const matching = `from events where tenant = $tenant and environment = $environment::"Environment"
  and ($type::text is null or type = $type or right($type, 2) = '.*' and starts_with(type, left($type, -1)))
  and ($entityType::text is null or entity_type = $entityType) and ($entityId::text is null or entity_id = $entityId)
  and ($visibleTypes::text[] is null or entity_type is null or entity_type = any($visibleTypes))
  and ($since::float8 is null or created_at >= to_timestamp($since / 1000))
    and ($before::bigint is null or id < $before)`;

function matchValues({ environment }: Scope, filter: EventFilter) {
  const { type, entityType, entityId, visibleTypes, since, before } = filter;
  return { environment, type, entityType, entityId, visibleTypes, since, before };
}

/**
 * SQL of the events of `page`, a query that returns them in order. Those with `fits` do not exceed
 * the maximum size of payloads, but a page has at least one.
 */
const sizedSql = (page: string, maxBytes: number | '$maxBytes'): string =>
  `(select *, row_number() over w = 1 or sum(octet_length(payload::text)) over w <= ${maxBytes} as fits
    from (${page}) p window w as (rows unbounded preceding)) e`;

const newest = statement(
  'read-events',
  `select coalesce(json_agg(e) filter (where fits), '[]') as events, count(*)::int as found
   from ${sizedSql(`select ${columns} ${matching} order by events.id desc limit $limit`, '$maxBytes')}`,
  { events: column.jsonb<(StoredEvent & { fits: true })[]>(), found: column.int4 },
);

/**
 * Returns at most `limit` events of an environment, newest first, or fewer if their
 * payloads are large.
 */
export async function readEvents(
  db: Queryable,
  scope: Scope,
  filter: EventFilter,
  limit: number,
  maxBytes = maxPageBytes,
): Promise<{ events: StoredEvent[]; hasMore: boolean }> {
  const { rows } = await db.query(scope, newest, {
    ...matchValues(scope, filter),
    limit: limit + 1,
    maxBytes,
  });
  const { events, found } = rows[0]!;
  const page = events.slice(0, limit).map(({ fits: _fits, ...event }) => event);
  return { events: page, hasMore: found > page.length };
}

/**
 * True for events before which no other event can be committed: all transactions with
 * lower ids have ended.
 */
const isSettled = 'xid < pg_snapshot_xmin(pg_current_snapshot())';
const ofEnvironment = `from events where tenant = $tenant and environment = $environment::"Environment"
   and ${isSettled}`;

const eventsAfter = statement(
  'follow-events',
  `select page.*,
     coalesce((select xid || '.' || id ${ofEnvironment} order by xid desc, id desc limit 1), '0.0') as last,
     $id = 0 or exists (select ${ofEnvironment} and xid = $xid and id = $id) as "isKnown"
   from (select coalesce(json_agg(e) filter (where fits), '[]') as events, count(*)::int as found
     from ${sizedSql(
       `select ${columns}, xid || '.' || id as cursor ${matching} and ${isSettled}
         and (xid, id) > ($xid::xid8, $id::bigint) order by xid, events.id limit $limit`,
       maxPageBytes,
     )}) page`,
  {
    events: column.jsonb<(StoredEvent & { cursor: string; fits: true })[]>(),
    found: column.int4,
    last: column.text,
    isKnown: column.bool.nullable,
  },
);

/**
 * Returns the next events after a cursor, each once and in the order of (xid, id), and the next
 * cursor. The cursor null returns the current position and no events. `resync`: the event of the
 * cursor no longer exists, because the database was restored or the event was deleted. The reader
 * then gets a new cursor and reads its data again (docs/adr/0034).
 */
export async function followEvents(
  db: Queryable,
  scope: Scope,
  filter: EventFilter,
  cursor: string | null,
  limit: number,
): Promise<
  { ok: true; events: FollowedEvent[]; cursor: string } | { ok: false; reason: 'resync' }
> {
  const [, xid = null, id = null] = /^(\d{1,18})\.([0-8]?\d{1,18})$/.exec(cursor ?? '') ?? [];
  const { rows } = await db.query(scope, eventsAfter, {
    ...matchValues(scope, filter),
    xid,
    id,
    limit,
  });
  const { events, found, last, isKnown } = rows[0]!;
  if (cursor !== null && !isKnown) return { ok: false, reason: 'resync' };
  const next = found < limit && events.length === found ? last : events.at(-1)!.cursor;
  return { ok: true, events: events.map(({ fits: _fits, ...event }) => event), cursor: next };
}
