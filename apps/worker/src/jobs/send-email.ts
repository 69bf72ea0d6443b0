import type { Channels } from '@parley/channels';
import type { JobPayload } from '@parley/redis';

/** Makes one attempt to send an e-mail of the outbox. Its row decides about further attempts. */
export const createSendEmail =
  ({ channels }: { channels: Channels }) =>
  async ({ emailId }: JobPayload<'send-email'>): Promise<void> => {
    await channels.sendQueuedEmail(emailId);
  };
