import type { Queues } from '@parley/redis';
import type { Logger } from '@parley/service';

/**
 * Wakes the worker after a push that may have changed search fields. The pending work is stored
 * in the rows of the types and the worker also scans them every minute, so a job that cannot be
 * sent only delays it.
 */
export function createReindexingRequest({ queues, log }: { queues: Queues; log: Logger }) {
  return (requestId: string): void => {
    queues.enqueue('sweep-reindexing', {}, { requestId }).catch((error: unknown) => {
      log.warn(
        { err: error, requestId },
        'the reindexing job could not be sent; the next sweep reindexes',
      );
    });
  };
}
