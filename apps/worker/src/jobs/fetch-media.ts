import type { Channels } from '@parley/channels';
import type { GuardedFetch } from '@parley/outbound';
import type { JobPayload } from '@parley/redis';

/** Makes one attempt to fetch the file of a received message. Its row decides about further attempts. */
export const createFetchMedia =
  ({ channels, fetchGuarded }: { channels: Channels; fetchGuarded: GuardedFetch['fetch'] }) =>
  async ({ tenant, messageId }: JobPayload<'fetch-media'>): Promise<void> => {
    await channels.fetchMedia({ tenant, id: messageId }, fetchGuarded);
  };
