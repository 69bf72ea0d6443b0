import { applyEmailStatus } from '@parley/channels';
import type { Db } from '@parley/db';
import { readJsonObject } from '@parley/webhooks';
import { onDelivery } from '../deliveries/on-delivery';

/** A delivery of the e-mail provider: what became of an e-mail, also when its sending has not been answered yet. */
export const createUpdateEmail = (deps: { db: Db }) =>
  onDelivery(deps, async ({ body }) => {
    const applied = await applyEmailStatus(deps.db, readJsonObject(body) ?? {});
    if (!applied.ok) return { status: 'failed', reason: applied.reason };
    const { isKnown, organizationId } = applied;
    return isKnown
      ? { status: 'processed', organizationId }
      : { status: 'ignored', reason: 'not an e-mail of ours (yet)' };
  });
