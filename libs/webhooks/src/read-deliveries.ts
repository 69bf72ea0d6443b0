import {
  type Page,
  type Paged,
  type Queryable,
  type RowOf,
  listStatement,
  pageValues,
  statement,
  toPaged,
} from '@parley/db';
import { columns, fullRow, summaryRow } from './own-deliveries';

const newestDeliveries = listStatement(
  'list-deliveries',
  `select ${columns} from webhook_deliveries
   where tenant is null and ($status::text is null or status = $status::"DeliveryStatus")
     and ($provider::text is null or provider = $provider)
     and ($beforeAt::timestamptz is null or (received_at, id) < ($beforeAt, $beforeId::text))
   order by received_at desc, id desc limit $limit`,
  summaryRow,
);

/** Lists the deliveries without an organization, newest first. */
export async function listDeliveries(
  db: Queryable,
  { status, provider, ...page }: Page & { status?: string; provider?: string },
): Promise<Paged<RowOf<typeof summaryRow>>> {
  const values = { status, provider, ...pageValues(page) };
  const { rows } = await db.acrossTenants('operator command', newestDeliveries, values);
  return toPaged(rows, page, ({ receivedAt, id }) => ({ at: receivedAt, id }));
}

const deliveryById = statement(
  'find-delivery',
  `select ${columns}, headers, body
   from webhook_deliveries where tenant is null and (id = $id or delivery_id = $id) order by received_at desc limit 1`,
  fullRow,
);

/**
 * Finds a delivery without an organization by its own id or the provider's id. Returns the
 * latest match, or null.
 */
export async function findDelivery(
  db: Queryable,
  id: string,
): Promise<RowOf<typeof fullRow> | null> {
  const { rows } = await db.acrossTenants('operator command', deliveryById, { id });
  return rows[0] ?? null;
}
