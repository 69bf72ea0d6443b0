import type { Db } from '@parley/db';
import type { JobContext } from '@parley/redis';
import { type Delivery, type Outcome, finishDelivery, loadPending } from '@parley/webhooks';

/**
 * The handler of a job that processes a stored delivery. `handle` must be idempotent, as it may run twice, even concurrently.
 * Its outcome is stored on the delivery; `finished` means that it has stored the outcome itself, together with its effect. An
 * error is stored and retried, and the last one makes the delivery `failed`. If it cannot be stored, the sweep retries.
 */
export const createDeliveryJob =
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
