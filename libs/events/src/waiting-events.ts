import type { Environment, JsonObject } from '@parley/contracts';
import type { Queryable } from '@parley/db';

/** An entity's change that triggers may have to run for. */
export interface WaitingEvent {
  id: string;
  organizationId: string;
  environment: Environment;
  type: string;
  entityType: string;
  entityId: string;
  hops: number;
  requestId: string | null;
  /** Unix milliseconds. */
  atMs: number;
}

const batchEvents = 200;
/** As stored. An event may hold two megabytes, and a batch has to fit into memory. */
const batchBytes = 8 * 1_048_576;

/** The oldest events that no relay has taken yet, without their payloads. */
export async function readWaitingEvents(db: Queryable): Promise<{ events: WaitingEvent[]; hasMore: boolean }> {
  const { rows } = await db.raw<WaitingEvent & { bytes: number }>({
    name: 'waiting-events',
    text: `select id::text, organization_id as "organizationId", environment::text, type, entity_type as "entityType",
             entity_id as "entityId", hops, request_id as "requestId", pg_column_size(payload) as bytes,
             floor(extract(epoch from created_at) * 1000)::float8 as "atMs"
           from events where relayed_at is null order by events.id limit $1`,
    values: [batchEvents],
  });
  let bytes = 0;
  const fitting = rows.findIndex((row, index) => (bytes += row.bytes) > batchBytes && index > 0);
  const events = fitting === -1 ? rows : rows.slice(0, fitting);
  return { events, hasMore: events.length < rows.length || rows.length === batchEvents };
}

/** Payloads by the id of their event. */
export async function readPayloads<T extends object = JsonObject>(
  db: Queryable,
  ids: readonly string[],
): Promise<Map<string, T>> {
  if (ids.length === 0) return new Map();
  const { rows } = await db.raw<{ id: string; payload: T }>({
    name: 'payloads-of-events',
    text: 'select id::text, payload from events where id = any($1::bigint[])',
    values: [ids],
  });
  return new Map(rows.map(({ id, payload }) => [id, payload]));
}

/** What follows from these events is written down; they wait no longer. */
export async function markRelayed(db: Queryable, ids: readonly string[]): Promise<void> {
  await db.raw({
    name: 'mark-relayed',
    text: 'update events set relayed_at = now() where id = any($1::bigint[])',
    values: [ids],
  });
}
