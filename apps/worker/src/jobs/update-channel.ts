import {
  type ConnectDeps,
  connectNumber,
  disconnectNumber,
  readProjectNumber,
} from '@parley/channels';
import type { Scope } from '@parley/contracts';
import { type Outcome, readJsonObject } from '@parley/webhooks';
import { type DeliveryJobDeps, createDeliveryJob } from './create-delivery-job';

/**
 * Processes a delivery about a phone number that was connected or disconnected at the intermediary.
 */
export const createUpdateChannel = (deps: DeliveryJobDeps & { connect: ConnectDeps }) =>
  createDeliveryJob(deps, 'update-channel', 5, async ({ body, eventType }) => {
    const { connect } = deps;
    const number = readProjectNumber(readJsonObject(body) ?? {});
    if (number === null)
      return {
        status: 'failed',
        reason: 'the body is not one of the project webhook about a phone number',
      };
    const { phoneNumberId, customerId } = number;
    if (eventType?.endsWith('.deleted')) {
      const result = await disconnectNumber(connect, phoneNumberId);
      if (!result.ok) throw new Error(result.message);
      if (result.connection === null)
        return { status: 'ignored', reason: `no connection has number ${phoneNumberId}` };
      return processedFor(result.connection);
    }
    const connected = await connectNumber(connect, { phoneNumberId, customerId });
    if (connected.ok) return processedFor(connected.connection);
    if (connected.reason === 'not_found')
      return { status: 'unattributed', reason: connected.message };
    throw new Error(connected.message);
  });

const processedFor = ({ organizationId, environment }: Scope): Outcome => ({
  status: 'processed',
  organizationId,
  environment,
});
