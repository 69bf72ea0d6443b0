import type { Db } from '@parley/db';
import type { JobContext } from '@parley/redis';
import { type Delivery, type Outcome, finishDelivery, loadPending } from '@parley/webhooks';

/**
 * The job of a stored delivery. `handle` bears to be run twice, also at the same time; what it answers is written on the
 * row, unless it has done that itself together with the effect. A failure is tried again, and the last one is written
 * where people look; a failure to write that leaves the row to the sweep.
 */
export const onDelivery =
  ({ db }: { db: Db }, handle: (delivery: Delivery, context: JobContext) => Promise<Outcome | 'finished'>) =>
  async ({ deliveryId }: { deliveryId: string }, context: JobContext): Promise<void> => {
    const delivery = await loadPending(db, deliveryId);
    if (delivery === null) return;
    try {
      const outcome = await handle(delivery, context);
      if (outcome !== 'finished') await finishDelivery(db, deliveryId, outcome);
    } catch (error) {
      if (context.signal.aborted) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      await finishDelivery(db, deliveryId, { status: context.isLastAttempt ? 'failed' : 'received', reason });
      throw error;
    }
  };
