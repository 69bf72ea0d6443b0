import type { Logger } from '../process/logger';

const logEveryMs = 60_000;
/** A reason may be the text of a collector. */
const maxReasonChars = 300;

/** Logs that spans are lost, with the reason, at most once a minute. */
export function createProblemLog(
  log: Pick<Logger, 'warn'>,
  nowMs = () => performance.now(),
): (reason: string) => void {
  let loggedAtMs = -Infinity;
  let unlogged = 0;
  return (reason) => {
    if (nowMs() - loggedAtMs < logEveryMs) {
      unlogged += 1;
      return;
    }
    loggedAtMs = nowMs();
    log.warn({ reason: reason.slice(0, maxReasonChars), unlogged }, 'cannot send traces');
    unlogged = 0;
  };
}
