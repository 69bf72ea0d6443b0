import { type Queryable, purgeRows, statement } from '@parley/db';

/** The rows that the purge of an organization deletes: first connections, so that no messages arrive, then messages. */
export const channelsPurge = {
  connections: purgeRows(['channel_connections']),
  messages: [...purgeRows(['messages', 'emails']), ...purgeRows(['contact_aliases'], 'alias')],
};

const removeOld = statement(
  'remove-old-statuses',
  'delete from provider_statuses where updated_at < now() - make_interval(secs => $1::float8 * 86400)',
);

/** Deletes statuses older than `days`. Returns how many. */
export async function removeOldStatuses(db: Queryable, days: number): Promise<number> {
  return (await db.acrossTenants('sweep', removeOld, [days])).rowCount;
}
