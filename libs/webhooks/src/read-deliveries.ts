import type { Environment } from '@parley/contracts';
import { type Page, type Paged, type Queryable, pageValues, toPaged } from '@parley/db';
import type { DeliveryStatus } from './delivery';

/** A delivery in the inbox, for people. */
export interface DeliverySummary {
  id: string;
  provider: string;
  path: string;
  eventType: string | null;
  /** Slug of its organization; null when it belongs to none. */
  organization: string | null;
  environment: Environment | null;
  /** Whether its signature was checked. */
  signed: boolean;
  status: DeliveryStatus;
  attempts: number;
  reason: string | null;
  receivedAt: Date;
  processedAt: Date | null;
}

const columns = `d.id, d.provider, d.path, d.event_type as "eventType", o.slug as organization, d.environment, d.signed,
  d.status, d.attempts, d.reason, d.received_at as "receivedAt", d.processed_at as "processedAt"`;

/**
 * Deliveries of all organizations, newest first; those that belong to none too. `organization` is the slug of the only one
 * that is meant.
 */
export async function listDeliveries(
  db: Queryable,
  { status, provider, organization, ...page }: Page & { status?: string; provider?: string; organization?: string },
): Promise<Paged<DeliverySummary>> {
  const { rows } = await db.raw<DeliverySummary>(
    `select ${columns} from webhook_deliveries d left join organizations o on o.id = d.organization_id
     where ($1::text is null or d.status = $1::"DeliveryStatus") and ($2::text is null or d.provider = $2)
       and ($3::text is null or o.slug = $3)
       and ($4::timestamptz is null or (d.received_at, d.id) < ($4, $5::text))
     order by d.received_at desc, d.id desc limit $6`,
    [status, provider, organization, ...pageValues(page)],
  );
  return toPaged(rows, page, ({ receivedAt, id }) => ({ at: receivedAt, id }));
}

interface FullDelivery extends DeliverySummary {
  deliveryId: string;
  headers: Record<string, string>;
  body: Buffer;
}

/** A delivery by its id or by the provider's; of several with the same the latest. Null when there is none. */
export async function findDelivery(db: Queryable, id: string): Promise<FullDelivery | null> {
  const { rows } = await db.raw<FullDelivery>(
    `select ${columns}, d.delivery_id as "deliveryId", d.headers, d.body
     from webhook_deliveries d left join organizations o on o.id = d.organization_id
     where d.id = $1 or d.delivery_id = $1 order by d.received_at desc limit 1`,
    [id],
  );
  return rows[0] ?? null;
}
