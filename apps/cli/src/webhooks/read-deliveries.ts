import { type Page, type Paged, type Queryable, toPaged } from '@parley/db';

export interface DeliveryRow {
  id: string;
  provider: string;
  path: string;
  eventType: string | null;
  organization: string | null;
  environment: string | null;
  /** Whether its signature was checked. */
  signed: boolean;
  status: string;
  attempts: number;
  reason: string | null;
  receivedAt: Date;
  processedAt: Date | null;
}

const columns = `d.id, d.provider, d.path, d.event_type as "eventType", o.slug as organization, d.environment, d.signed,
  d.status, d.attempts, d.reason, d.received_at as "receivedAt", d.processed_at as "processedAt"`;

/** Deliveries newest first; those that belong to nobody too, unless an organization is named. */
export async function listDeliveries(
  db: Queryable,
  filter: Page & { status?: string; provider?: string; organization?: string },
): Promise<Paged<DeliveryRow>> {
  const { rows } = await db.query<DeliveryRow>(
    `select ${columns} from webhook_deliveries d left join organizations o on o.id = d.organization_id
     where ($1::text is null or d.status = $1::"DeliveryStatus") and ($2::text is null or d.provider = $2)
       and ($3::text is null or o.slug = $3)
       and ($4::timestamptz is null or (d.received_at, d.id) < ($4, $5::text))
     order by d.received_at desc, d.id desc limit $6`,
    [
      filter.status ?? null,
      filter.provider ?? null,
      filter.organization ?? null,
      filter.before?.at ?? null,
      filter.before?.id ?? null,
      filter.limit + 1,
    ],
  );
  return toPaged(rows, filter.limit, ({ receivedAt, id }) => ({ at: receivedAt, id }));
}

export interface FullDelivery extends DeliveryRow {
  deliveryId: string;
  headers: Record<string, string>;
  body: Buffer;
}

export async function findDelivery(db: Queryable, id: string): Promise<FullDelivery | null> {
  const { rows } = await db.query<FullDelivery>(
    `select ${columns}, d.delivery_id as "deliveryId", d.headers, d.body
     from webhook_deliveries d left join organizations o on o.id = d.organization_id
     where d.id = $1 or d.delivery_id = $1 order by d.received_at desc limit 1`,
    [id],
  );
  return rows[0] ?? null;
}

const secretName = /(token|secret|password|authorization|api_?key|secret_?key)$/i;

/** The body as people may see it: JSON in lines, values under telling names masked; else the text as it came. */
export function showBody(body: Buffer): unknown {
  const text = body.toString('utf8');
  try {
    return mask(JSON.parse(text));
  } catch {
    return text.replace(/(^|&)((?:token|s)=)[^&]*/g, '$1$2***');
  }
}

function mask(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(mask);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      secretName.test(name) && typeof member === 'string' ? '***' : mask(member),
    ]),
  );
}
