import type { Worker } from 'bullmq';

const firstPauseMs = 500;
const longestPauseMs = 30_000;
/**
 * After this time without a refusal the next pause is the first one again. A worker without
 * jobs asks every 5 s.
 */
const calmMs = 30_000;

/**
 * Pauses a worker, in this process alone, when Redis refuses a command: because its memory is full,
 * or because it has become a replica. BullMQ itself waits only after errors of the connection and
 * otherwise repeats the command at once, thousands of times a second. Each further pause takes
 * twice as long, up to 30 s. Jobs that run continue; one whose end Redis refuses runs again after
 * its lock has expired. Returns a function that ends the pauses.
 */
export function pauseOnRefusal(worker: Worker): () => void {
  let timer: NodeJS.Timeout | undefined;
  let pauseMs = firstPauseMs;
  let resumedAtMs = -Infinity;
  let isClosed = false;
  worker.on('error', (error) => {
    if (error.name !== 'ReplyError' || timer !== undefined || isClosed) return;
    if (performance.now() - resumedAtMs > calmMs) pauseMs = firstPauseMs;
    void worker.pause(true);
    timer = setTimeout(() => {
      timer = undefined;
      resumedAtMs = performance.now();
      void worker.resume();
    }, pauseMs).unref();
    pauseMs = Math.min(2 * pauseMs, longestPauseMs);
  });
  return () => {
    isClosed = true;
    clearTimeout(timer);
  };
}
