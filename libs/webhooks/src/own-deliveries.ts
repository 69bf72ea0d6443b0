import type { Scope } from '@parley/contracts';
import {
  type Page,
  type Paged,
  type Queryable,
  type RowOf,
  column,
  listStatement,
  newId,
  pageValues,
  statement,
  toPaged,
} from '@parley/db';
import type { DeliveryStatus } from './delivery';

export const summaryRow = {
  id: column.text,
  /** The provider's id. */
  deliveryId: column.text,
  provider: column.text,
  path: column.text,
  eventType: column.text.nullable,
  /** Whether the signature was checked. */
  signed: column.bool,
  status: column.oneOf<DeliveryStatus>('DeliveryStatus'),
  attempts: column.int4,
  reason: column.text.nullable,
  receivedAt: column.timestamptz,
  processedAt: column.timestamptz.nullable,
};

export const fullRow = {
  ...summaryRow,
  headers: column.jsonb<Record<string, string>>(),
  body: column.bytea,
};

export const columns = `id, delivery_id as "deliveryId", provider, path, event_type as "eventType", signed, status, attempts, reason,
  received_at as "receivedAt", processed_at as "processedAt"`;
/**
 * The deliveries of an environment, and those of the whole organization. A payment or an e-mail
 * belongs to one environment: a delivery about one that was stored before its environment was known
 * counts as one of production.
 */
export const inEnvironment = `(environment = $environment::"Environment"
  or environment is null and (provider not in ('flow', 'resend') or $environment::text = 'production'))`;
const ownSql = `tenant = $tenant and ${inEnvironment}`;

const list = listStatement(
  'list-own-deliveries',
  `select ${columns} from webhook_deliveries
   where ${ownSql} and ($status::text is null or status = $status::"DeliveryStatus")
     and ($provider::text is null or provider = $provider)
     and ($since::timestamptz is null or received_at >= $since)
       and ($beforeAt::timestamptz is null or (received_at, id) < ($beforeAt, $beforeId::text))
   order by received_at desc, id desc limit $limit`,
  summaryRow,
);

/** Lists the deliveries that an environment may see, newest first. */
export async function listOwnDeliveries(
  db: Queryable,
  scope: Scope,
  {
    status,
    provider,
    since,
    ...page
  }: Page & { status?: DeliveryStatus; provider?: string; since?: Date },
): Promise<Paged<RowOf<typeof summaryRow>>> {
  const values = { environment: scope.environment, status, provider, since, ...pageValues(page) };
  const { rows } = await db.query(scope, list, values);
  return toPaged(rows, page, ({ receivedAt, id }) => ({ at: receivedAt, id }));
}

const byId = statement(
  'find-own-delivery',
  `select ${columns}, headers, body from webhook_deliveries where ${ownSql} and id = $id`,
  fullRow,
);

/** A delivery with its headers and body; null when the environment may not see one with this id. */
export async function findOwnDelivery(db: Queryable, scope: Scope, id: string) {
  return (await db.query(scope, byId, { environment: scope.environment, id })).rows[0] ?? null;
}

const resetSql = `status = 'received', attempts = 0, reason = null, processed_at = null`;

const replayOne = statement(
  'replay-own-delivery',
  `update webhook_deliveries set ${resetSql}
   where ${ownSql} and id = $id and status not in ('rejected', 'held') returning ${columns}`,
  summaryRow,
);

/**
 * Resets a delivery, so that the sweep sends its job. Returns null when there is none, or it was
 * rejected or is held.
 */
export async function replayOwnDelivery(db: Queryable, scope: Scope, id: string) {
  return (await db.query(scope, replayOne, { environment: scope.environment, id })).rows[0] ?? null;
}

const replayMany = statement(
  'replay-own-deliveries',
  `update webhook_deliveries d set ${resetSql}, replay_id = $id
   where d.tenant = $tenant and d.id = any (array(
     select id from webhook_deliveries
     where ${ownSql} and status = $status::"DeliveryStatus" and status not in ('rejected', 'held', 'received')
       and ($provider::text is null or provider = $provider) and ($since::timestamptz is null or received_at >= $since)
       and ($until::timestamptz is null or received_at < $until)
     order by received_at limit $limit for update skip locked))`,
);

export interface ReplayFilter {
  status: DeliveryStatus;
  provider?: string;
  since?: Date;
  until?: Date;
  limit: number;
}

/**
 * Resets the oldest deliveries that match, in one statement, and marks them with the id
 * of the replay, which it returns. Deliveries that another replay is resetting at this
 * moment are left to it.
 */
export async function replayMatching(
  db: Queryable,
  scope: Scope,
  { status, provider, since, until, limit }: ReplayFilter,
): Promise<{ id: string; deliveries: number }> {
  const id = newId('replay');
  const values = { environment: scope.environment, id, status, provider, since, until, limit };
  return { id, deliveries: (await db.query(scope, replayMany, values)).rowCount };
}

const progress = statement(
  'replay-progress',
  `select count(*)::int as deliveries, (count(*) filter (where status = 'received'))::int as waiting,
          (count(*) filter (where status in ('processed', 'ignored')))::int as processed,
          (count(*) filter (where status not in ('received', 'processed', 'ignored')))::int as failed
   from webhook_deliveries where ${ownSql} and replay_id = $id`,
  { deliveries: column.int4, waiting: column.int4, processed: column.int4, failed: column.int4 },
);

/**
 * The numbers of a replay's deliveries by their state; null when the environment has
 * no such replay.
 */
export async function readReplay(db: Queryable, scope: Scope, id: string) {
  const row = (await db.query(scope, progress, { environment: scope.environment, id })).rows[0]!;
  return row.deliveries === 0 ? null : { id, ...row };
}
