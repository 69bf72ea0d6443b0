import { type ConnectDeps, registerOutdated } from '@parley/channels';
import type { JobContext } from '@parley/redis';
import type { Logger } from '@parley/service';

const batch = 20;
/**
 * No batch begins after this time, so that the last one ends well before the lease of its
 * connections expires.
 */
const beginUntilMs = 30_000;

/**
 * Registers connections at the intermediary again after `MESSAGING_WEBHOOK_SECRET` was replaced.
 */
export const createSweepRegistrations =
  ({ connect, log }: { connect: ConnectDeps; log: Pick<Logger, 'info' | 'warn'> }) =>
  async (_payload: object, { signal }: Pick<JobContext, 'signal'>): Promise<void> => {
    const startedAtMs = performance.now();
    let taken = batch;
    while (taken === batch && !signal.aborted && performance.now() - startedAtMs < beginUntilMs) {
      const outcomes = await registerOutdated(connect, batch);
      taken = outcomes.length;
      for (const { problem, ...ids } of outcomes)
        if (problem === null) log.info(ids, 'a webhook was registered again');
        else log.warn({ ...ids, reason: problem }, 'a webhook could not be registered again');
    }
  };
