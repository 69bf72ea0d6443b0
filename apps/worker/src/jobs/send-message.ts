import type { Channels } from '@parley/channels';
import type { JobContext, JobPayload } from '@parley/redis';

/** One try at a message of the outbox, and at those behind it; their rows say whether there will be another. */
export const createSendMessage =
  ({ channels }: { channels: Channels }) =>
  async ({ messageId }: JobPayload<'send-message'>, { signal }: JobContext): Promise<void> => {
    await channels.tryFrom(messageId, signal);
  };
