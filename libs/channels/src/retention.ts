import { purgeRows } from '@parley/db';

/** What a purge deletes: what takes in messages, and later what they left. */
export const channelsPurge = {
  connections: purgeRows('channel_connections'),
  messages: purgeRows('messages', 'contact_aliases', 'emails'),
};
