import { applyIdentityEvent } from '@parley/identity';
import type { Logger } from '@parley/service';
import { finishDeliveries, readJsonObject, retryUnattributed } from '@parley/webhooks';
import { type DeliveryJobDeps, createDeliveryJob } from './create-delivery-job';

/**
 * Processes a delivery of the identity provider: brings one user, organization or membership to
 * its latest state.
 */
export const createSyncIdentity = (
  deps: DeliveryJobDeps & { log: Logger; purgeGraceDays: number },
) =>
  createDeliveryJob(deps, 'sync-identity', 10, async (delivery, { requestId }) => {
    const { db, queues, log, purgeGraceDays } = deps;
    const { isSigned, receivedAt } = delivery;
    const event = readJsonObject(delivery.body);
    if (event === null) return { status: 'failed', reason: 'the body is not a JSON object' };
    const applied = await applyIdentityEvent(db, event, { purgeGraceDays, isSigned, receivedAt });
    // Credits may have been bought before their owner was stored. A finished delivery is not
    // retried, so this comes first.
    if (applied.isNewOwner) await retryUnattributed(db, 'polar');
    // This precedes the purge, which deletes the deliveries that are attributed to
    // the organization.
    await finishDeliveries(db, [{ id: delivery.id, outcome: applied.outcome }]);
    if (applied.purge && !isSigned)
      log.warn(
        applied.purge,
        'an unsigned delivery asked to delete an organization; to stop it: parley org purges --stop <slug>',
      );
    // The purge is already stored. If enqueuing fails, sweep-purges enqueues the job later.
    if (applied.purge && isSigned)
      await queues.enqueue('purge-organization', applied.purge, { requestId }).catch(() => {});
    return 'finished';
  });
