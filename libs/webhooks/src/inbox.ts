import { type Queryable, batchCalls, column, newId, statement, unprepared } from '@parley/db';
import type { DeliveryStatus, NewDelivery } from './delivery';

/** `isNew` is false for a delivery that was stored before; nothing is written then. */
export type Stored =
  { id: string; isNew: true } | { id: string; isNew: false; status: DeliveryStatus };

export type Inbox = ReturnType<typeof createInbox>;

interface Waiting {
  id: string;
  delivery: NewDelivery;
}

const revive = statement(
  'revive-delivery',
  `update webhook_deliveries
   set status = 'received', reason = null, processed_at = null, tenant = $tenant,
     environment = $environment::"Environment"
   where id = $id and status = 'unattributed'`,
);

/**
 * Stores deliveries: under load many with one statement. A larger batch takes longer without a
 * higher throughput.
 */
export function createInbox(db: Queryable, { lanes = 2 }: { lanes?: number } = {}) {
  const store = batchCalls((batch: readonly Waiting[]) => storeAll(db, batch), { lanes });
  return {
    /** Resolves when the delivery is committed. */
    store: (delivery: NewDelivery): Promise<Stored> => store({ id: newId('dlv'), delivery }),
    /**
     * Sets the owner of an unattributed delivery and its status to `received`, so that
     * it is processed.
     */
    async revive(
      id: string,
      { tenant, environment }: Pick<NewDelivery, 'tenant' | 'environment'>,
    ): Promise<void> {
      await db.acrossTenants('inbound webhook', revive, { id, tenant, environment });
    },
  };
}

const storeText = (count: number): string =>
  `insert into webhook_deliveries (id, provider, delivery_id, path, event_type, headers, body, tenant,
                                   environment, signed, status, reason, processed_at)
   values ${Array.from({ length: count }, (_one, at) => rowSql(at)).join(', ')}
   on conflict (provider, delivery_id) do nothing returning id`;

/**
 * SQL of the row with this index. `processed_at` is set immediately when there is
 * nothing to process.
 */
const rowSql = (at: number): string =>
  `($id${at}::text, $provider${at}::text, $deliveryId${at}::text, $path${at}::text, $eventType${at}::text,
    $headers${at}::jsonb, $body${at}::bytea, $tenant${at}::int, $environment${at}::"Environment",
      $isSigned${at}::boolean,
    $status${at}::"DeliveryStatus", $reason${at}::text, case when $status${at} <> 'received' then now() end)`;

const valuesOf = ({ id, delivery }: Waiting) => ({
  id,
  provider: delivery.provider,
  deliveryId: delivery.deliveryId,
  path: delivery.path,
  eventType: delivery.eventType,
  headers: JSON.stringify(delivery.headers),
  body: delivery.body,
  tenant: delivery.tenant,
  environment: delivery.environment,
  isSigned: delivery.isSigned,
  status: delivery.status,
  reason: delivery.reason,
});

const storedRow = { id: column.text };

const storeOne = statement('store-delivery', storeText(1), storedRow);

/**
 * Only the statement for one delivery is prepared: one per batch size would fill the
 * connection's memory.
 */
const storeOf = (count: number) =>
  count === 1 ? storeOne : unprepared('store-deliveries', storeText(count), storedRow);

async function storeAll(db: Queryable, batch: readonly Waiting[]): Promise<Stored[]> {
  // Sorted: two statements that insert the same deliveries in different orders could deadlock.
  const sorted = batch.toSorted((a, b) => (keyOf(a.delivery) < keyOf(b.delivery) ? -1 : 1));
  const values: Record<string, unknown> = {};
  for (const [at, waiting] of sorted.entries())
    for (const [name, value] of Object.entries(valuesOf(waiting))) values[`${name}${at}`] = value;
  const { rows } = await db.acrossTenants('inbound webhook', storeOf(batch.length), values);
  if (rows.length === batch.length) return batch.map(({ id }) => ({ id, isNew: true }));
  const made = new Set(rows.map(({ id }) => id));
  const known = await findKnown(
    db,
    batch.filter(({ id }) => !made.has(id)),
  );
  return batch.map(({ id, delivery }) => {
    const earlier = known.get(keyOf(delivery));
    // Without an earlier row, retention has just deleted it: the delivery was processed long ago.
    if (made.has(id) || earlier === undefined)
      return { id, isNew: made.has(id), status: 'processed' } as Stored;
    return { id: earlier.id, isNew: false, status: earlier.status };
  });
}

const knownDeliveries = statement(
  'find-known-deliveries',
  `select d.id, d.provider, d.delivery_id as "deliveryId", d.status
   from unnest($providers::text[], $deliveryIds::text[]) as given (provider, delivery_id)
   join webhook_deliveries d using (provider, delivery_id)`,
  {
    id: column.text,
    provider: column.text,
    deliveryId: column.text,
    status: column.oneOf<DeliveryStatus>('DeliveryStatus'),
  },
);

async function findKnown(
  db: Queryable,
  repeated: readonly Waiting[],
): Promise<Map<string, { id: string; status: DeliveryStatus }>> {
  const { rows } = await db.acrossTenants('inbound webhook', knownDeliveries, {
    providers: repeated.map(({ delivery }) => delivery.provider),
    deliveryIds: repeated.map(({ delivery }) => delivery.deliveryId),
  });
  return new Map(rows.map((row) => [keyOf(row), row]));
}

const keyOf = ({ provider, deliveryId }: { provider: string; deliveryId: string }): string =>
  `${provider}\n${deliveryId}`;
