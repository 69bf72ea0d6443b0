import type { Db } from '@parley/db';
import { applyIdentityEvent } from '@parley/identity';
import type { Queues } from '@parley/redis';
import type { Logger } from '@parley/service';
import { finishDelivery, readJsonObject, retryUnattributed } from '@parley/webhooks';
import { onDelivery } from '../deliveries/on-delivery';

/** A delivery of the identity provider: one user, organization or membership, brought to its latest state. */
export const createSyncIdentity = (deps: { db: Db; queues: Queues; log: Logger; purgeGraceDays: number }) =>
  onDelivery(deps, async (delivery, { requestId }) => {
    const { db, queues, log, purgeGraceDays } = deps;
    const { isSigned, receivedAt } = delivery;
    const event = readJsonObject(delivery.body);
    if (event === null) return { status: 'failed', reason: 'the body is not a JSON object' };
    const applied = await applyIdentityEvent(db, event, { purgeGraceDays, isSigned, receivedAt });
    // Credits may have been bought before their owner was known here. Before the end: after it nothing would do this again.
    if (applied.isNewOwner) await retryUnattributed(db, 'polar');
    // Before a purge, which is to find that this delivery was the organization's.
    await finishDelivery(db, delivery.id, applied.outcome);
    if (applied.purge && !isSigned)
      log.warn(
        applied.purge,
        'an unsigned delivery asked to delete an organization; to stop it: parley org purges --stop <slug>',
      );
    // Its row is there already; the sweep of purges stands behind this.
    if (applied.purge && isSigned)
      await queues.enqueue('purge-organization', applied.purge, { requestId }).catch(() => {});
    return 'finished';
  });
