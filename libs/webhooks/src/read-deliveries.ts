import type { Environment } from '@parley/contracts';
import { type Page, type Paged, type Queryable, type RowOf, column, pageValues, statement, toPaged } from '@parley/db';
import type { DeliveryStatus } from './delivery';

const summaryRow = {
  id: column.text,
  provider: column.text,
  path: column.text,
  eventType: column.text.nullable,
  /** Slug of the organization; null for an unattributed delivery. */
  organization: column.text.nullable,
  environment: column.oneOf<Environment>('Environment').nullable,
  /** Whether the signature was checked. */
  signed: column.bool,
  status: column.oneOf<DeliveryStatus>('DeliveryStatus'),
  attempts: column.int4,
  reason: column.text.nullable,
  receivedAt: column.timestamptz,
  processedAt: column.timestamptz.nullable,
};

/** A delivery in a list, without headers and body. */
export type DeliverySummary = RowOf<typeof summaryRow>;

const columns = `d.id, d.provider, d.path, d.event_type as "eventType", o.slug as organization, d.environment, d.signed,
  d.status, d.attempts, d.reason, d.received_at as "receivedAt", d.processed_at as "processedAt"`;

const newestDeliveries = statement(
  'list-deliveries',
  `select ${columns} from webhook_deliveries d left join organizations o on o.no = d.tenant
   where ($1::text is null or d.status = $1::"DeliveryStatus") and ($2::text is null or d.provider = $2)
     and ($3::text is null or o.slug = $3 or d.tenant is null)
     and ($4::timestamptz is null or (d.received_at, d.id) < ($4, $5::text))
   order by d.received_at desc, d.id desc limit $6`,
  summaryRow,
);

/**
 * Lists deliveries, newest first. `organization` is the slug of a filter; deliveries of no organization also match, as one of
 * them may have been meant for it.
 */
export async function listDeliveries(
  db: Queryable,
  { status, provider, organization, ...page }: Page & { status?: string; provider?: string; organization?: string },
): Promise<Paged<DeliverySummary>> {
  const values = [status, provider, organization, ...pageValues(page)];
  const { rows } = await db.acrossTenants('operator command', newestDeliveries, values);
  return toPaged(rows, page, ({ receivedAt, id }) => ({ at: receivedAt, id }));
}

const fullRow = {
  ...summaryRow,
  deliveryId: column.text,
  headers: column.jsonb<Record<string, string>>(),
  body: column.bytea,
};

const deliveryById = statement(
  'find-delivery',
  `select ${columns}, d.delivery_id as "deliveryId", d.headers, d.body
   from webhook_deliveries d left join organizations o on o.no = d.tenant
   where d.id = $1 or d.delivery_id = $1 order by d.received_at desc limit 1`,
  fullRow,
);

/** Finds a delivery by its own id or the provider's id. Returns the latest match, or null. */
export async function findDelivery(db: Queryable, id: string): Promise<RowOf<typeof fullRow> | null> {
  const { rows } = await db.acrossTenants('operator command', deliveryById, [id]);
  return rows[0] ?? null;
}
