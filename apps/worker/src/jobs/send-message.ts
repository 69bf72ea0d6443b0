import type { Channels } from '@parley/channels';
import type { JobPayload } from '@parley/queues';

/** One try at a message of the outbox; its row says whether there will be another. */
export const createSendMessage =
  ({ channels }: { channels: Channels }) =>
  async ({ messageId }: JobPayload<'send-message'>): Promise<void> => {
    await channels.tryMessage(messageId);
  };
