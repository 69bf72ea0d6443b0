import type { JsonObject } from '@parley/contracts';
import { type Queryable, type RowOf, column, scopeColumns, scopeRow, statement } from '@parley/db';

/** Maximum size of a batch. Each of its tenants has the same share. */
const batchEvents = 200;
const batchTenants = 50;
/**
 * Maximum size of the stored payloads of a batch, to bound memory; one payload can have 2 MB. The
 * last event may exceed it.
 */
const batchBytes = 8 * 1_048_576;

const waitingRow = {
  id: column.text,
  ...scopeRow,
  type: column.text,
  entityType: column.text,
  entityId: column.text,
  hops: column.int4,
  root: column.text.nullable,
  requestId: column.text.nullable,
  /** Unix milliseconds. */
  atMs: column.float8,
  /** Whether the tenant's share of the batch, or the whole batch, is full. */
  isFull: column.bool,
};
/** The event of an entity's change that has not been relayed. */
export type WaitingEvent = Omit<RowOf<typeof waitingRow>, 'isFull'>;

// Tenants are divided among 16 locks, each held by one relay at a time. Each tenant is found with
// one step in the index, independent of the number of waiting events. When a relay has stopped, the
// server ends its transaction after 3 s, so that it does not block other relays.
const lockWaiting = statement(
  'lock-waiting-events',
  `with recursive waiting as (
     (select tenant, id from events where relayed_at is null order by tenant, events.id limit 1)
     union all
     select n.* from waiting w cross join lateral (select tenant, id from events
       where relayed_at is null and tenant > w.tenant order by tenant, events.id limit 1) n),
   locks as materialized (select no, pg_try_advisory_xact_lock(729031606, no) as mine
     from (select distinct tenant & 15 as no from waiting) w)
   select tenant, set_config('idle_in_transaction_session_timeout', '3s', true) as timeout
   from waiting w join locks on mine and no = tenant & 15 order by w.id limit ${batchTenants}`,
  { tenant: column.int4, timeout: column.text },
);

// `limit cardinality`: see docs/adr/0081.
const takeWaiting = statement(
  'take-waiting-events',
  `with found as materialized (
     select e.tenant, e.id, turn, sum(pg_column_size(payload)) over (order by turn, e.id) - pg_column_size(payload) as bytes_before
     from (select * from unnest($tenants::int[]) o(tenant) limit cardinality($tenants)) o cross
       join lateral (select *, row_number() over (order by events.id) as turn
       from events where relayed_at is null and tenant = o.tenant order by events.id limit $turn) e),
   taken as (update events e set relayed_at = now() from found f
     where e.tenant = f.tenant and e.id = f.id and bytes_before < ${batchBytes} returning e.*, turn)
   select taken.id::text, ${scopeColumns('taken.')}, type, entity_type as "entityType",
     entity_id as "entityId", hops, root, request_id as "requestId", floor(extract(epoch from created_at) * 1000)::float8 as "atMs",
     turn = $turn or (select max(bytes_before) from found) >= ${batchBytes} as "isFull"
   from taken order by turn, taken.id`,
  waitingRow,
);

/**
 * Takes the oldest waiting events, without their payloads, ordered within each tenant. They stop
 * waiting when the caller's transaction, which also writes the trigger runs, commits. Skips tenants
 * whose lock another relay holds.
 */
export async function takeWaitingEvents(
  tx: Queryable,
): Promise<{ events: WaitingEvent[]; hasMore: boolean }> {
  const { rows: tenants } = await tx.acrossTenants('relay', lockWaiting);
  if (tenants.length === 0) return { events: [], hasMore: false };
  const values = {
    tenants: tenants.map(({ tenant }) => tenant),
    turn: Math.ceil(batchEvents / tenants.length),
  };
  // A separate statement, so that it sees what the previous holder of the locks has committed.
  const { rows: events } = await tx.acrossTenants('relay', takeWaiting, values);
  return {
    events,
    hasMore: tenants.length === batchTenants || events.some(({ isFull }) => isFull),
  };
}

const payloadsByKey = statement(
  'payloads-of-events',
  `select (at - 1)::int as index, payload
   from (select * from unnest($tenants::int[], $ids::bigint[]) with ordinality w(tenant, id, at)
     limit cardinality($tenants)) w
   join events using (tenant, id)`,
  { index: column.int4, payload: column.jsonb<JsonObject>() },
);

/** Returns the payloads of these events. */
export async function readPayloads<T>(
  db: Queryable,
  events: readonly WaitingEvent[],
): Promise<Map<WaitingEvent, T>> {
  if (events.length === 0) return new Map();
  const values = { tenants: events.map(({ tenant }) => tenant), ids: events.map(({ id }) => id) };
  const { rows } = await db.acrossTenants('relay', payloadsByKey, values);
  return new Map(rows.map(({ index, payload }) => [events[index]!, payload as T]));
}
