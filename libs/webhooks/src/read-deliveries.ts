import { type Page, type Paged, type Queryable, type RowOf, column, pageValues, statement, toPaged } from '@parley/db';
import type { DeliveryStatus } from './delivery';

const summaryRow = {
  id: column.text,
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

const columns = `id, provider, path, event_type as "eventType", signed, status, attempts, reason, received_at as "receivedAt",
  processed_at as "processedAt"`;

const newestDeliveries = statement(
  'list-deliveries',
  `select ${columns} from webhook_deliveries
   where tenant is null and ($1::text is null or status = $1::"DeliveryStatus") and ($2::text is null or provider = $2)
     and ($3::timestamptz is null or (received_at, id) < ($3, $4::text))
   order by received_at desc, id desc limit $5`,
  summaryRow,
);

/** Lists the deliveries without an organization, newest first. */
export async function listDeliveries(
  db: Queryable,
  { status, provider, ...page }: Page & { status?: string; provider?: string },
): Promise<Paged<RowOf<typeof summaryRow>>> {
  const values = [status, provider, ...pageValues(page)];
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
  `select ${columns}, delivery_id as "deliveryId", headers, body
   from webhook_deliveries where tenant is null and (id = $1 or delivery_id = $1) order by received_at desc limit 1`,
  fullRow,
);

/** Finds a delivery without an organization by its own id or the provider's id. Returns the latest match, or null. */
export async function findDelivery(db: Queryable, id: string): Promise<RowOf<typeof fullRow> | null> {
  const { rows } = await db.acrossTenants('operator command', deliveryById, [id]);
  return rows[0] ?? null;
}
