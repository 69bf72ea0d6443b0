import type { Actor, JsonObject, Scope } from '@parley/contracts';
import { type Queryable, type RowOf, column, statement } from '@parley/db';

/** Every condition that is given must hold. */
export interface EventFilter {
  /** Exactly this type, or with `.*` at its end all types of that namespace. */
  type?: string;
  entityType?: string;
  entityId?: string;
  /** Only events about entities of these types, and events that are about no entity. */
  visibleTypes?: readonly string[];
  /** Unix milliseconds. */
  since?: number;
  /** Ids, exclusive. */
  before?: string;
  after?: string;
}

const eventRow = {
  /** A whole number as text: ids grow in the order in which they were drawn, which is not that of the commits. */
  id: column.text,
  type: column.text,
  entityType: column.text.nullable,
  entityId: column.text.nullable,
  payload: column.jsonb<JsonObject>(),
  actor: column.jsonb<Actor>(),
  hops: column.int4,
  requestId: column.text.nullable,
  /** Unix milliseconds. */
  createdAt: column.float8,
};
export type StoredEvent = RowOf<typeof eventRow>;

const latestEvents = statement(
  'read-events',
  `select id::text, type, entity_type as "entityType", entity_id as "entityId", payload, actor, hops,
     request_id as "requestId", floor(extract(epoch from created_at) * 1000)::float8 as "createdAt"
   from events
   where organization_id = $1 and environment = $2::"Environment"
     and ($3::text is null or type = $3) and ($4::text is null or starts_with(type, $4))
     and ($5::text is null or entity_type = $5) and ($6::text is null or entity_id = $6)
     and ($7::text[] is null or entity_type is null or entity_type = any($7))
     and ($8::float8 is null or created_at >= to_timestamp($8 / 1000))
     and ($9::bigint is null or id < $9) and ($10::bigint is null or id > $10)
   order by events.id desc limit $11`,
  eventRow,
);

/** Events of an environment, newest first. */
export async function readEvents(
  db: Queryable,
  scope: Scope,
  { type, entityType, entityId, visibleTypes, since, before, after }: EventFilter,
  limit: number,
): Promise<StoredEvent[]> {
  const { rows } = await db.query(scope, latestEvents, [
    scope.organizationId,
    scope.environment,
    type?.endsWith('.*') ? null : (type ?? null),
    type?.endsWith('.*') ? type.slice(0, -1) : null,
    entityType ?? null,
    entityId ?? null,
    visibleTypes ?? null,
    since ?? null,
    before ?? null,
    after ?? null,
    limit,
  ]);
  return rows;
}
