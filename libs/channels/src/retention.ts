import { type Queryable, purgeRows, statement } from '@parley/db';

/** What a purge deletes: what takes in messages, and later what they left. */
export const channelsPurge = {
  connections: purgeRows(['channel_connections']),
  messages: [...purgeRows(['messages', 'emails']), ...purgeRows(['contact_aliases'], 'alias')],
};

const removeOld = statement(
  'remove-old-statuses',
  'delete from provider_statuses where updated_at < now() - make_interval(secs => $1::float8 * 86400)',
);

/** Removes statuses that came before their message and were not claimed for so many days. Returns how many. */
export async function removeOldStatuses(db: Queryable, days: number): Promise<number> {
  return (await db.acrossTenants('sweep', removeOld, [days])).rowCount;
}
