import type { Db } from '@parley/db';
import { type ConnectDeps, connectNumber, disconnectNumber, readProjectNumber } from '@parley/channels';
import { readJsonObject } from '@parley/webhooks';
import { onDelivery } from '../deliveries/on-delivery';

/** A delivery about a phone number that was connected at the intermediary, or taken away there. */
export const createUpdateChannel = (deps: { db: Db; connect: ConnectDeps }) =>
  onDelivery(deps, async ({ body, eventType }) => {
    const { connect } = deps;
    const number = readProjectNumber(readJsonObject(body) ?? {});
    if (number === null)
      return { status: 'failed', reason: 'the body is not one of the project webhook about a phone number' };
    const { phoneNumberId, customerId } = number;
    if (eventType?.endsWith('.deleted')) {
      const gone = await disconnectNumber(connect, phoneNumberId);
      if (!gone.ok) throw new Error(gone.message);
      if (gone.connection === null) return { status: 'ignored', reason: `no connection has number ${phoneNumberId}` };
      return { status: 'processed', organizationId: gone.connection.organizationId };
    }
    const connected = await connectNumber(connect, { phoneNumberId, customerId });
    if (connected.ok) return { status: 'processed', organizationId: connected.connection.organizationId };
    if (connected.reason === 'not_found') return { status: 'unattributed', reason: connected.message };
    throw new Error(connected.message);
  });
