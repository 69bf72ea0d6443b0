import type { Logger } from '@parley/service';
import type { Inbox, NewDelivery } from '@parley/webhooks';

export type RefusalLog = ReturnType<typeof createRefusalLog>;

/**
 * Refused deliveries stored per minute. Any client can send them, so a flood must not cause
 * writes without limit.
 */
const keptPerMinute = 30;
/**
 * This many consecutive refusals suggest a secret that was changed on one side only, and are
 * logged as an error.
 */
const alarmingRun = 10;

export function createRefusalLog({ inbox, log }: { inbox: Inbox; log: Logger }) {
  const runs = new Map<string, number>();
  let minute = 0;
  let kept = 0;
  return {
    /**
     * Logs a refused delivery, and stores it unless the limit of this minute is
     * reached. Never rejects.
     */
    async note(delivery: NewDelivery, requestId: string): Promise<void> {
      const { provider, path, reason } = delivery;
      const run = (runs.get(provider) ?? 0) + 1;
      runs.set(provider, run);
      log.warn({ provider, path, reason, requestId }, 'a webhook was refused');
      if (run === alarmingRun)
        log.error(
          { provider, path, reason },
          `${run} consecutive webhooks were refused: is the secret right?`,
        );
      const now = Math.floor(Date.now() / 60_000);
      if (now !== minute) [minute, kept] = [now, 0];
      kept += 1;
      if (kept > keptPerMinute) return;
      await inbox
        .store(delivery)
        .catch((error: unknown) => log.warn({ err: error }, 'a refusal could not be stored'));
    },
    /** Resets the provider's count of consecutive refusals. */
    accepted: (provider: string): void => void runs.delete(provider),
  };
}
