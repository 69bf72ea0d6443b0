import type { Environment, JsonObject } from '@parley/contracts';
import { type Queryable, type RowOf, column, statement } from '@parley/db';

/** Of a batch, in which each organization has the same share. */
const batchEvents = 200;
const batchOrganizations = 50;
/** As stored; the batch ends with the event that reaches it. One may hold two megabytes, and a batch has to fit into memory. */
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
  /** Unix milliseconds. */
  atMs: column.float8,
  /** Whether the batch took no more of its organization, or no more at all. */
  isFull: column.bool,
};
/** An entity's change that triggers may have to run for. */
export type WaitingEvent = Omit<RowOf<typeof waitingRow>, 'isFull'>;

// One relay at a time works on the organizations of each of 16 locks. They are found in one step of the index each, however
// many events wait. A relay that is stopped inside the transaction would hold up others: the server ends its transaction.
const lockWaiting = statement(
  'lock-waiting-events',
  `with recursive waiting as (
     (select organization_id, id from events where relayed_at is null order by organization_id, events.id limit 1)
     union all
     select n.* from waiting w cross join lateral (select organization_id, id from events
       where relayed_at is null and organization_id > w.organization_id order by organization_id, events.id limit 1) n),
   locks as materialized (select no, pg_try_advisory_xact_lock(729031606, no) as mine
     from (select distinct hashtext(organization_id) & 15 as no from waiting) w)
   select organization_id as id, set_config('idle_in_transaction_session_timeout', '3s', true) as timeout
   from waiting w join locks on mine and no = hashtext(organization_id) & 15 order by w.id limit ${batchOrganizations}`,
  { id: column.text, timeout: column.text },
);

const takeWaiting = statement(
  'take-waiting-events',
  `with found as materialized (
     select e.id, turn, sum(pg_column_size(payload)) over (order by turn, e.id) - pg_column_size(payload) as bytes_before
     from unnest($1::text[]) o(id) cross join lateral (select *, row_number() over (order by events.id) as turn
       from events where relayed_at is null and organization_id = o.id order by events.id limit $2) e),
   taken as (update events e set relayed_at = now() from found f
     where e.id = f.id and bytes_before < ${batchBytes} returning e.*, turn)
   select taken.id::text, organization_id as "organizationId", environment::text, type, entity_type as "entityType",
     entity_id as "entityId", hops, request_id as "requestId", floor(extract(epoch from created_at) * 1000)::float8 as "atMs",
     turn = $2 or (select max(bytes_before) from found) >= ${batchBytes} as "isFull"
   from taken order by turn, taken.id`,
  waitingRow,
);

/**
 * Takes the oldest events that wait, without their payloads, in order within each organization. They wait no longer once
 * the transaction commits, in which what follows from them is written. Events that another relay has are left out.
 */
export async function takeWaitingEvents(tx: Queryable): Promise<{ events: WaitingEvent[]; hasMore: boolean }> {
  const { rows: organizations } = await tx.acrossTenants('relay', lockWaiting);
  if (organizations.length === 0) return { events: [], hasMore: false };
  const values = [organizations.map(({ id }) => id), Math.ceil(batchEvents / organizations.length)];
  // A statement of its own: it sees what the relay before has done.
  const { rows: events } = await tx.acrossTenants('relay', takeWaiting, values);
  return { events, hasMore: organizations.length === batchOrganizations || events.some(({ isFull }) => isFull) };
}

const payloadsById = statement(
  'payloads-of-events',
  'select id::text, payload from events where id = any($1::bigint[])',
  { id: column.text, payload: column.jsonb<JsonObject>() },
);

/** Payloads by the id of their event. */
export async function readPayloads<T>(db: Queryable, ids: readonly string[]): Promise<Map<string, T>> {
  if (ids.length === 0) return new Map();
  const { rows } = await db.acrossTenants('relay', payloadsById, [ids]);
  return new Map(rows.map(({ id, payload }) => [id, payload as T]));
}
