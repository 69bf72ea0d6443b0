import type { Logger } from '@parley/service';
import type { Inbox, NewDelivery } from '@parley/webhooks';

export interface RefusalLog {
  /** Keeps a refused delivery with its reason, unless many have been kept already. Never rejects. */
  note(delivery: NewDelivery, requestId: string): Promise<void>;
  accepted(provider: string): void;
}

/** Whoever finds the address can send anything: beyond this a flood costs no writes. */
const keptPerMinute = 30;
/** So many in a row look like a secret that was changed on one side only. */
const alarmingRun = 10;

export function createRefusalLog({ inbox, log }: { inbox: Inbox; log: Logger }): RefusalLog {
  const runs = new Map<string, number>();
  let minute = 0;
  let kept = 0;
  return {
    async note(delivery, requestId) {
      const { provider, path, reason } = delivery;
      const run = (runs.get(provider) ?? 0) + 1;
      runs.set(provider, run);
      log.warn({ provider, path, reason, requestId }, 'a webhook was refused');
      if (run === alarmingRun)
        log.error({ provider, path, reason }, `${run} webhooks in a row were refused: is the secret right?`);
      const now = Math.floor(Date.now() / 60_000);
      if (now !== minute) [minute, kept] = [now, 0];
      kept += 1;
      if (kept > keptPerMinute) return;
      await inbox.store(delivery).catch((error: unknown) => log.warn({ err: error }, 'a refusal could not be kept'));
    },
    accepted: (provider) => void runs.delete(provider),
  };
}
