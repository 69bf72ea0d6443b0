import type { Channels } from '@parley/channels';
import type { JobPayload } from '@parley/redis';

/** One try at an e-mail of the outbox; its row says whether there will be another. */
export const createSendEmail =
  ({ channels }: { channels: Channels }) =>
  async ({ emailId }: JobPayload<'send-email'>): Promise<void> => {
    await channels.tryEmail(emailId);
  };
