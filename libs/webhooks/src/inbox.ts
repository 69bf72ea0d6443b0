import { type Queryable, column, newId, statement, unprepared } from '@parley/db';
import type { DeliveryStatus, NewDelivery } from './delivery';

/** `isNew` false: this delivery had come before, and nothing was written. */
export type Stored = { id: string; isNew: true } | { id: string; isNew: false; status: DeliveryStatus };

export interface Inbox {
  /** Resolves when the delivery is durable. */
  store(delivery: NewDelivery): Promise<Stored>;
  /** Gives a delivery that was unattributed to its owner, who is known by now, to be worked off. */
  revive(id: string, owner: Pick<NewDelivery, 'tenant' | 'environment'>): Promise<void>;
}

interface Waiting {
  id: string;
  delivery: NewDelivery;
  resolve: (stored: Stored) => void;
  reject: (error: unknown) => void;
}

/** More than this at a time would make one statement long without making the rest faster. */
const largestBatch = 200;

const revive = statement(
  'revive-delivery',
  `update webhook_deliveries
   set status = 'received', reason = null, processed_at = null, tenant = $2, environment = $3::"Environment"
   where id = $1 and status = 'unattributed'`,
);

/**
 * Writes deliveries, those that arrive while others are being written together in one statement: alone each costs what
 * one insert costs, and under load many share the cost of one. `lanes` statements may be under way at a time.
 */
export function createInbox(db: Queryable, { lanes = 2 }: { lanes?: number } = {}): Inbox {
  const waiting: Waiting[] = [];
  let busy = 0;

  async function drain(): Promise<void> {
    busy += 1;
    while (waiting.length > 0) {
      // In one order: two statements with the same deliveries would otherwise wait for each other.
      const batch = waiting.splice(0, largestBatch).sort((a, b) => (keyOf(a.delivery) < keyOf(b.delivery) ? -1 : 1));
      try {
        const stored = await storeAll(db, batch);
        for (const [at, one] of batch.entries()) one.resolve(stored[at]!);
      } catch (error) {
        for (const one of batch) one.reject(error);
      }
    }
    busy -= 1;
  }

  return {
    store: (delivery) =>
      new Promise((resolve, reject) => {
        waiting.push({ id: newId('dlv'), delivery, resolve, reject });
        if (busy < lanes) void drain();
      }),
    async revive(id, { tenant, environment }) {
      await db.acrossTenants('inbound webhook', revive, [id, tenant, environment]);
    },
  };
}

const columnTypes = 'text text text text text jsonb bytea int "Environment" boolean "DeliveryStatus" text'.split(' ');

const storeText = (count: number): string =>
  `insert into webhook_deliveries (id, provider, delivery_id, path, event_type, headers, body, tenant,
                                   environment, signed, status, reason, processed_at)
   values ${Array.from({ length: count }, (_one, at) => rowOf(at)).join(', ')}
   on conflict (provider, delivery_id) do nothing returning id`;

const storedRow = { id: column.text };

const storeOne = statement('store-delivery', storeText(1), storedRow);

/** Most batches hold one delivery. A prepared statement for each size would fill the connection's memory. */
const storeOf = (count: number) =>
  count === 1 ? storeOne : unprepared('store-deliveries', storeText(count), storedRow);

async function storeAll(db: Queryable, batch: readonly Waiting[]): Promise<Stored[]> {
  const values = batch.flatMap(({ id, delivery }) => [
    id,
    delivery.provider,
    delivery.deliveryId,
    delivery.path,
    delivery.eventType,
    JSON.stringify(delivery.headers),
    delivery.body,
    delivery.tenant,
    delivery.environment,
    delivery.isSigned,
    delivery.status,
    delivery.reason,
  ]);
  const { rows } = await db.acrossTenants('inbound webhook', storeOf(batch.length), values);
  if (rows.length === batch.length) return batch.map(({ id }) => ({ id, isNew: true }));
  const made = new Set(rows.map(({ id }) => id));
  const known = await findKnown(
    db,
    batch.filter(({ id }) => !made.has(id)),
  );
  return batch.map(({ id, delivery }) => {
    const before = known.get(keyOf(delivery));
    // A row that retention has removed in between: the delivery was dealt with long ago.
    if (made.has(id) || before === undefined) return { id, isNew: made.has(id), status: 'processed' } as Stored;
    return { id: before.id, isNew: false, status: before.status };
  });
}

/** The parameters of one row: its columns, and the time at which it was done where nothing is left to do. */
function rowOf(at: number): string {
  const parameters = columnTypes.map((type, column) => `$${at * columnTypes.length + column + 1}::${type}`);
  return `(${parameters.join(', ')}, case when ${parameters[columnTypes.length - 2]} <> 'received' then now() end)`;
}

const knownDeliveries = statement(
  'find-known-deliveries',
  `select d.id, d.provider, d.delivery_id as "deliveryId", d.status
   from unnest($1::text[], $2::text[]) as given (provider, delivery_id)
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
  const { rows } = await db.acrossTenants('inbound webhook', knownDeliveries, [
    repeated.map(({ delivery }) => delivery.provider),
    repeated.map(({ delivery }) => delivery.deliveryId),
  ]);
  return new Map(rows.map((row) => [keyOf(row), row]));
}

const keyOf = ({ provider, deliveryId }: { provider: string; deliveryId: string }): string =>
  `${provider}\n${deliveryId}`;
