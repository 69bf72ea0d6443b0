import type { Queues } from '@parley/redis';
import type { Logger } from '@parley/service';

/**
 * Wakes the worker after a push that may have changed what is searched. The types' rows say what is to be done and the
 * worker looks at them every minute, so a job that cannot be sent is only late, and nobody waits for it.
 */
export function createReindexingRequest({ queues, log }: { queues: Queues; log: Logger }) {
  return (requestId: string): void => {
    queues.enqueue('sweep-reindexing', {}, { requestId }).catch((error: unknown) => {
      log.warn({ err: error, requestId }, 'reindexing is left to the next sweep');
    });
  };
}
