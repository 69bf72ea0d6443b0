import { type Queryable, purgeRows } from '@parley/db';

/** What a purge deletes: what takes in messages, and later what they left. */
export const channelsPurge = {
  connections: purgeRows('channel_connections'),
  messages: purgeRows('messages', 'contact_aliases', 'emails'),
};

/** Removes statuses that came before their message and were not claimed for so many days. Returns how many. */
export async function removeOldStatuses(db: Queryable, days: number): Promise<number> {
  const { rowCount } = await db.raw(
    'delete from provider_statuses where updated_at < now() - make_interval(secs => $1::float8 * 86400)',
    [days],
  );
  return rowCount ?? 0;
}
