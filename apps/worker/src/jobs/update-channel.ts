import { type JsonObject, objectAt, textAt } from '@parley/contracts';
import type { Db } from '@parley/db';
import { type ConnectDeps, connectNumber, disconnectNumber } from '@parley/channels';
import { readJsonObject } from '@parley/webhooks';
import { onDelivery } from '../deliveries/on-delivery';

/** A delivery about a phone number that was connected at the intermediary, or taken away there. */
export const createUpdateChannel = (deps: { db: Db; connect: ConnectDeps }) =>
  onDelivery(deps, async ({ body, eventType }) => {
    const { connect } = deps;
    const { phoneNumberId, customerId } = readNumber(readJsonObject(body) ?? {});
    if (phoneNumberId === undefined) return { status: 'failed', reason: 'the body has no phone_number_id' };
    if (eventType?.endsWith('.deleted')) {
      const gone = await disconnectNumber(connect, phoneNumberId);
      if (!gone.ok) throw new Error(gone.message);
      if (gone.connection === null) return { status: 'ignored', reason: `no connection has number ${phoneNumberId}` };
      return { status: 'processed', organizationId: gone.connection.organizationId };
    }
    const connected = await connectNumber(connect, { phoneNumberId, customerId: customerId ?? null });
    if (connected.ok) return { status: 'processed', organizationId: connected.connection.organizationId };
    if (connected.reason === 'not_found') return { status: 'unattributed', reason: connected.message };
    throw new Error(connected.message);
  });

function readNumber(body: JsonObject): { phoneNumberId: string | undefined; customerId: string | undefined } {
  const data = textAt(body.phone_number_id) ? body : objectAt(body.data);
  return { phoneNumberId: textAt(data.phone_number_id), customerId: textAt(objectAt(data.customer).id) };
}
