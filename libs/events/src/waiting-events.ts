import type { Environment, JsonObject } from '@parley/contracts';
import { type Queryable, type RowOf, column, statement } from '@parley/db';

const batchEvents = 200;
/** As stored. An event may hold two megabytes, and a batch has to fit into memory. */
const batchBytes = 8 * 1_048_576;

const waitingRow = {
  id: column.text,
  organizationId: column.text,
  environment: column.oneOf<Environment>(),
  type: column.text,
  entityType: column.text,
  entityId: column.text,
  hops: column.int4,
  requestId: column.text.nullable,
  bytes: column.int4,
  /** Unix milliseconds. */
  atMs: column.float8,
};
/** An entity's change that triggers may have to run for. */
export type WaitingEvent = Omit<RowOf<typeof waitingRow>, 'bytes'>;

const oldestWaiting = statement(
  'waiting-events',
  `select id::text, organization_id as "organizationId", environment::text, type, entity_type as "entityType",
     entity_id as "entityId", hops, request_id as "requestId", pg_column_size(payload) as bytes,
     floor(extract(epoch from created_at) * 1000)::float8 as "atMs"
   from events where relayed_at is null order by events.id limit $1`,
  waitingRow,
);

/** The oldest events that no relay has taken yet, without their payloads. */
export async function readWaitingEvents(db: Queryable): Promise<{ events: WaitingEvent[]; hasMore: boolean }> {
  const { rows } = await db.acrossTenants('relay', oldestWaiting, [batchEvents]);
  let bytes = 0;
  const fitting = rows.findIndex((row, index) => (bytes += row.bytes) > batchBytes && index > 0);
  const events = fitting === -1 ? rows : rows.slice(0, fitting);
  return { events, hasMore: events.length < rows.length || rows.length === batchEvents };
}

const payloadsById = statement(
  'payloads-of-events',
  'select id::text, payload from events where id = any($1::bigint[])',
  { id: column.text, payload: column.jsonb<JsonObject>() },
);

/** Payloads by the id of their event. */
export async function readPayloads<T extends object = JsonObject>(
  db: Queryable,
  ids: readonly string[],
): Promise<Map<string, T>> {
  if (ids.length === 0) return new Map();
  const { rows } = await db.acrossTenants('relay', payloadsById, [ids]);
  return new Map(rows.map(({ id, payload }) => [id, payload as T]));
}

const mark = statement('mark-relayed', 'update events set relayed_at = now() where id = any($1::bigint[])');

/** What follows from these events is written down; they wait no longer. */
export async function markRelayed(db: Queryable, ids: readonly string[]): Promise<void> {
  await db.acrossTenants('relay', mark, [ids]);
}
