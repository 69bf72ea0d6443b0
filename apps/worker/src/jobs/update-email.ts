import { applyEmailStatus } from '@parley/channels';
import { readJsonObject } from '@parley/webhooks';
import { type DeliveryJobDeps, createDeliveryJob } from './create-delivery-job';

/**
 * Processes a delivery of the e-mail provider: the status of an e-mail. It may arrive before the
 * response to the send request.
 */
export const createUpdateEmail = (deps: DeliveryJobDeps) =>
  createDeliveryJob(deps, 'update-email', 10, async ({ body }) => {
    const applied = await applyEmailStatus(deps.db, readJsonObject(body) ?? {});
    if (!applied.ok) return { status: 'failed', reason: applied.reason };
    const { isKnown, organizationId, environment } = applied;
    return isKnown
      ? { status: 'processed', organizationId, environment }
      : { status: 'ignored', reason: 'not an e-mail of ours (yet)' };
  });
