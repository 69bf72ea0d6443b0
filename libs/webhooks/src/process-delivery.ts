import type { Environment } from '@parley/contracts';
import {
  type Queryable,
  type RowOf,
  claimByTenant,
  column,
  leaseSql,
  purgeRows,
  removeInBatches,
  removedRows,
  statement,
} from '@parley/db';
import type { DeliveryStatus } from './delivery';

const deliveryRow = {
  id: column.text,
  provider: column.text,
  path: column.text,
  eventType: column.text.nullable,
  body: column.bytea,
  tenant: column.int4.nullable,
  environment: column.oneOf<Environment>('Environment').nullable,
  /** Whether its signature was checked on receipt. A replay does not change it. */
  isSigned: column.bool,
  status: column.oneOf<DeliveryStatus>('DeliveryStatus'),
  attempts: column.int4,
  receivedAt: column.timestamptz,
};

/** A stored delivery as a job reads it. */
export type Delivery = RowOf<typeof deliveryRow>;

const pendingDeliveries = statement(
  'load-pending-deliveries',
  `select id, provider, path, event_type as "eventType", body, tenant, environment,
          signed as "isSigned", status, attempts, received_at as "receivedAt"
   from webhook_deliveries where id = any($ids) and status = 'received'`,
  deliveryRow,
);

/**
 * Returns the unprocessed deliveries with these ids, in their order; null for one that is
 * processed or deleted.
 */
export async function loadPending(
  db: Queryable,
  ids: readonly string[],
): Promise<(Delivery | null)[]> {
  const { rows } = await db.acrossTenants('due work', pendingDeliveries, { ids });
  const found = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => found.get(id) ?? null);
}

/** The result of one attempt to process a delivery. `received` leaves it to the next attempt. */
export interface Outcome {
  status: DeliveryStatus;
  /** Shown with the delivery in the inbox. */
  reason?: string;
  /** The organization that the delivery belongs to, once it is known. */
  organizationId?: string;
  /** Its environment; none for a delivery that belongs to the whole organization. */
  environment?: Environment;
}

/** The outcome of a delivery that is to be stored. */
export interface Ended {
  id: string;
  outcome: Outcome;
}

// The unknown limit makes PostgreSQL use the primary key (docs/adr/0081).
const finish = statement(
  'finish-deliveries',
  `update webhook_deliveries d
   set status = e.status::"DeliveryStatus", reason = e.reason, attempts = d.attempts + 1,
       tenant = coalesce((select no from organizations o where o.id = e.organization), d.tenant),
       environment = coalesce(e.environment::"Environment", d.environment),
       processed_at = case when e.status <> 'received' then now() end
   from (select * from unnest($ids::text[], $statuses::text[], $reasons::text[], $organizationIds::text[],
     $environments::text[]) limit cardinality($ids))
     e(id, status, reason, organization, environment)
   where d.id = e.id and d.status = 'received'`,
);

/**
 * Stores the results of attempts, except those of deliveries that another worker has
 * already finished.
 */
export async function finishDeliveries(db: Queryable, ended: readonly Ended[]): Promise<void> {
  // Sorted, like the locks of every statement that changes several of these rows.
  const sorted = ended.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  await db.acrossTenants('due work', finish, {
    ids: sorted.map(({ id }) => id),
    statuses: sorted.map(({ outcome }) => outcome.status),
    reasons: sorted.map(({ outcome }) => outcome.reason?.slice(0, 2_000) ?? null),
    organizationIds: sorted.map(({ outcome }) => outcome.organizationId ?? null),
    environments: sorted.map(({ outcome }) => outcome.environment ?? null),
  });
}

/**
 * Deliveries without an owner count as those of tenant 0 when tenants take turns. `is not null`:
 * see docs/adr/0081.
 */
const tenant = 'coalesce(tenant, 0)';
const where = `status = 'received' and ${tenant} is not null`;
const isDue = 'received_at < now() - make_interval(secs => $olderThanMs::float8 / 1000)';
const pending = { table: 'webhook_deliveries', where, tenant, since: 'received_at', isDue };
const overdue = {
  tenants: leaseSql.tenants('overdue-tenants', pending),
  due: statement(
    'overdue-deliveries',
    `select id, path from webhook_deliveries where ${tenant} = $tenant and ${where} and ${isDue}
     order by received_at, id limit $limit offset $offset`,
    { id: column.text, path: column.text },
  ),
};

/**
 * Finds deliveries that are overdue, oldest first within each tenant. `path` selects the job
 * that processes one.
 */
export const findOverdue = (
  db: Queryable,
  { olderThanMs, limit }: { olderThanMs: number; limit: number },
) => claimByTenant(db, { ...overdue, values: { olderThanMs } }, limit);

const waiting = statement(
  'waiting-deliveries',
  `select provider, count(*)::int as waiting, extract(epoch from now() - min(received_at))::float8 as lag
   from webhook_deliveries where ${where} group by provider`,
  { provider: column.text, waiting: column.int4, lag: column.float8 },
);

/**
 * Returns, per provider, the number of unprocessed deliveries and the age of the oldest in seconds.
 */
export async function waitingDeliveries(db: Queryable) {
  return (await db.acrossTenants('metrics', waiting)).rows;
}

const replay = statement(
  'replay-deliveries',
  `update webhook_deliveries set status = 'received', attempts = 0, reason = null, processed_at = null
   where (id = any($ids) or status = $status::"DeliveryStatus" and status <> 'received') and status <> 'rejected'`,
);

/**
 * Resets the named deliveries and all of `status`, except rejected ones; the sweep sends their
 * jobs. Returns how many.
 */
export async function replayDeliveries(
  db: Queryable,
  ids: readonly string[],
  status?: DeliveryStatus,
): Promise<number> {
  return (await db.acrossTenants('operator command', replay, { ids, status: status ?? null }))
    .rowCount;
}

/**
 * Prefix of the reason of a delivery whose owner is named but unknown, and may become known later.
 */
export const unknownOwner = 'not known here: ';

const retry = statement(
  'retry-unattributed-deliveries',
  `update webhook_deliveries set status = 'received', attempts = 0, reason = null, processed_at = null
   where provider = $provider and status = 'unattributed' and starts_with(reason, $unknownOwner)`,
);

/** Resets deliveries whose owner was unknown. Called when an owner has been created. */
export async function retryUnattributed(db: Queryable, provider: string): Promise<void> {
  await db.acrossTenants('inbound webhook', retry, { provider, unknownOwner });
}

/**
 * Days after receipt for which deliveries are kept. `openDays` is for failed and unattributed ones,
 * which need a person.
 */
export interface Retention {
  doneDays: number;
  openDays: number;
}

/** The rows that the purge of an organization deletes. */
export const deliveriesPurge = purgeRows(['webhook_deliveries']);

const isPast = `status = $status and status <> 'received'
   and received_at < now() - make_interval(secs => $doneDays::float8 * 86400)`;
// The condition again, because a delivery may be replayed at this moment.
const sweep = statement(
  'sweep-deliveries',
  `delete from webhook_deliveries where ${isPast} and id = any (array(
     select id from webhook_deliveries where ${isPast} order by received_at limit ${removedRows}))`,
);

/** Deletes deliveries past their retention, in batches. Returns how many. */
export async function sweepDeliveries(
  db: Queryable,
  { doneDays, openDays }: Retention,
): Promise<number> {
  let removed = 0;
  for (const status of ['processed', 'ignored', 'rejected'])
    removed += await removeInBatches(db, sweep, { status, doneDays });
  for (const status of ['failed', 'unattributed'])
    removed += await removeInBatches(db, sweep, { status, doneDays: openDays });
  return removed;
}
