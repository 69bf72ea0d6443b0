import { type Db, batchCalls } from '@parley/db';
import { createSlots } from '@parley/outbound';
import { type JobContext, type JobPayload, type Queues, type deliveryJobs } from '@parley/redis';
import { type Delivery, type Outcome, finishDeliveries, loadPending } from '@parley/webhooks';
import type { ObserveJob } from '../observe-jobs';

export type DeliveryJob = (typeof deliveryJobs)[string];

export interface DeliveryJobDeps {
  db: Db;
  queues: Queues;
  observe: ObserveJob;
}

/** The longest wait of a delivery for its turn in this process. Then its job is retried. */
const longestWaitMs = 600_000;
/** Delay of the job of a delivery that failed in a job of several. */
const retryMs = 1_000;

/**
 * The handler of a job that processes stored deliveries. `handle` must be idempotent, as it may run
 * twice, even concurrently. Its outcome is stored on the delivery; `finished` means that it has
 * stored the outcome itself, together with its effect. An error is stored and retried, and the last
 * one makes the delivery `failed`. A delivery that fails in a job of several gets its own job, and
 * the others are not affected. If the outcome cannot be stored, the sweep retries.
 *
 * Loading and finishing are shared: under load one statement does it for many deliveries, of
 * several jobs (docs/adr/0077). `atOnce`: the maximum number of deliveries that `handle` processes
 * at the same time in this process.
 */
export function createDeliveryJob(
  { db, queues, observe }: DeliveryJobDeps,
  name: DeliveryJob,
  atOnce: number,
  handle: (delivery: Delivery, context: JobContext) => Promise<Outcome | 'finished'>,
) {
  const slots = createSlots({ total: atOnce, perKey: atOnce });
  const load = batchCalls((ids: readonly string[]) => loadPending(db, ids));
  const finish = batchCalls(async (ended: readonly { id: string; outcome: Outcome }[]) => {
    await finishDeliveries(db, ended);
    return ended.map(() => undefined);
  });

  async function processOne(id: string, context: JobContext): Promise<void> {
    const release = await slots.acquire(name, context.signal, longestWaitMs);
    if (release === null)
      throw context.signal.reason ?? new Error('The delivery waited too long for its turn');
    try {
      const delivery = await load(id);
      if (delivery === null) return;
      await observe(name, context, () => attempt(delivery, context));
    } finally {
      release();
    }
  }

  async function attempt(delivery: Delivery, context: JobContext): Promise<void> {
    const { id } = delivery;
    try {
      const outcome = await handle(delivery, context);
      if (outcome !== 'finished') await finish({ id, outcome });
    } catch (error) {
      if (context.signal.aborted) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      await finish({
        id,
        outcome: { status: context.isLastAttempt ? 'failed' : 'received', reason },
      });
      throw error;
    }
  }

  return async ({ deliveries }: JobPayload<DeliveryJob>, context: JobContext): Promise<void> => {
    // In a job of several deliveries no failure is the last one, as the failed ones get
    // jobs of their own.
    const isAlone = deliveries.length === 1;
    const isLastAttempt = isAlone && context.isLastAttempt;
    const ends = await Promise.allSettled(
      deliveries.map(({ id, requestId = context.requestId }) =>
        processOne(id, { ...context, requestId, isLastAttempt }),
      ),
    );
    const failures = ends.flatMap((end, at) =>
      end.status === 'fulfilled' ? [] : [{ ...deliveries[at]!, ...end }],
    );
    if (failures.length === 0) return;
    // Another worker runs an interrupted job at once.
    if (context.signal.aborted) throw context.signal.reason;
    if (isAlone) throw failures[0]!.reason;
    // A job that cannot be enqueued is sent by the sweep.
    for (const { id, requestId } of failures)
      await queues
        .enqueue(name, { deliveries: [{ id, requestId }] }, { requestId, delayMs: retryMs })
        .catch(() => {});
  };
}
