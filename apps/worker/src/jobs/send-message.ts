import type { Channels } from '@parley/channels';
import type { JobContext, JobPayload } from '@parley/redis';

/** Makes one attempt to send a message of the outbox and those queued behind it. Their rows decide about further attempts. */
export const createSendMessage =
  ({ channels }: { channels: Channels }) =>
  async ({ messageId }: JobPayload<'send-message'>, { signal }: JobContext): Promise<void> => {
    await channels.sendQueuedMessages(messageId, signal);
  };
