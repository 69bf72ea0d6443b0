import type { JsonObject } from '@parley/contracts';
import { type Queryable, type RowOf, column, scopeColumns, scopeRow, statement } from '@parley/db';

/** Of a batch, in which each tenant has the same share. */
const batchEvents = 200;
const batchTenants = 50;
/** As stored; the batch ends with the event that reaches it. One may hold two megabytes, and a batch has to fit into memory. */
const batchBytes = 8 * 1_048_576;

const waitingRow = {
  id: column.text,
  ...scopeRow,
  type: column.text,
  entityType: column.text,
  entityId: column.text,
  hops: column.int4,
  requestId: column.text.nullable,
  /** Unix milliseconds. */
  atMs: column.float8,
  /** Whether the batch took no more of its tenant, or no more at all. */
  isFull: column.bool,
};
/** An entity's change that triggers may have to run for. */
export type WaitingEvent = Omit<RowOf<typeof waitingRow>, 'isFull'>;

// One relay at a time works on the tenants of each of 16 locks. They are found in one step of the index each, however
// many events wait. A relay that is stopped inside the transaction would hold up others: the server ends its transaction.
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

const takeWaiting = statement(
  'take-waiting-events',
  `with found as materialized (
     select e.tenant, e.id, turn, sum(pg_column_size(payload)) over (order by turn, e.id) - pg_column_size(payload) as bytes_before
     from unnest($1::int[]) o(tenant) cross join lateral (select *, row_number() over (order by events.id) as turn
       from events where relayed_at is null and tenant = o.tenant order by events.id limit $2) e),
   taken as (update events e set relayed_at = now() from found f
     where e.tenant = f.tenant and e.id = f.id and bytes_before < ${batchBytes} returning e.*, turn)
   select taken.id::text, ${scopeColumns('taken.')}, type, entity_type as "entityType",
     entity_id as "entityId", hops, request_id as "requestId", floor(extract(epoch from created_at) * 1000)::float8 as "atMs",
     turn = $2 or (select max(bytes_before) from found) >= ${batchBytes} as "isFull"
   from taken order by turn, taken.id`,
  waitingRow,
);

/**
 * Takes the oldest events that wait, without their payloads, in order within each tenant. They wait no longer once
 * the transaction commits, in which what follows from them is written. Events that another relay has are left out.
 */
export async function takeWaitingEvents(tx: Queryable): Promise<{ events: WaitingEvent[]; hasMore: boolean }> {
  const { rows: tenants } = await tx.acrossTenants('relay', lockWaiting);
  if (tenants.length === 0) return { events: [], hasMore: false };
  const values = [tenants.map(({ tenant }) => tenant), Math.ceil(batchEvents / tenants.length)];
  // A statement of its own: it sees what the relay before has done.
  const { rows: events } = await tx.acrossTenants('relay', takeWaiting, values);
  return { events, hasMore: tenants.length === batchTenants || events.some(({ isFull }) => isFull) };
}

const payloadsByKey = statement(
  'payloads-of-events',
  `select (at - 1)::int as index, payload from unnest($1::int[], $2::bigint[]) with ordinality w(tenant, id, at)
   join events using (tenant, id)`,
  { index: column.int4, payload: column.jsonb<JsonObject>() },
);

/** Payloads of these events. */
export async function readPayloads<T>(db: Queryable, events: readonly WaitingEvent[]): Promise<Map<WaitingEvent, T>> {
  if (events.length === 0) return new Map();
  const values = [events.map(({ tenant }) => tenant), events.map(({ id }) => id)];
  const { rows } = await db.acrossTenants('relay', payloadsByKey, values);
  return new Map(rows.map(({ index, payload }) => [events[index]!, payload as T]));
}
