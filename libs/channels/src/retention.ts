import { type Queryable, purgeRows, removeInBatches, removedRows, statement } from '@parley/db';

/**
 * The rows that the purge of an organization deletes: first connections, so that no messages
 * arrive, then messages.
 */
export const channelsPurge = {
  connections: purgeRows(['channel_connections']),
  messages: [...purgeRows(['messages', 'emails']), ...purgeRows(['contact_aliases'], 'alias')],
};

const isOld = 'updated_at < now() - make_interval(secs => $days::float8 * 86400)';
// The condition again, because a status may be updated at this moment.
const removeOld = statement(
  'remove-old-statuses',
  `with batch as materialized (
     select provider, external_id from provider_statuses where ${isOld} order by updated_at limit ${removedRows})
   delete from provider_statuses where ${isOld} and provider = any (array(select distinct provider from batch))
     and external_id = any (array(select external_id from batch))`,
);

/** Deletes statuses older than `days`, in batches. Returns how many. */
export const removeOldStatuses = (db: Queryable, days: number): Promise<number> =>
  removeInBatches(db, removeOld, { days });
