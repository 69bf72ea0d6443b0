import { type Queryable, purgeRows, removeOldRows } from '@parley/db';

/** Deletes triggers first, so that they plan no new runs during the purge. */
export const triggersPurge = purgeRows(['triggers', 'trigger_runs']);

/** Deletes runs that ended more than `days` days ago; returns their number. */
export const removeOldRuns = (db: Queryable, days: number, signal: AbortSignal): Promise<number> =>
  removeOldRows(
    db,
    {
      table: 'trigger_runs',
      idType: 'text',
      isDone: `t.status in ('succeeded', 'dead', 'cancelled')
        and t.finished_at < now() - make_interval(secs => $days::float8 * 86400)`,
    },
    days,
    signal,
  );

/**
 * SQL condition: no run needs the event `t`. Unfinished runs read it, and dead ones may be retried.
 */
export const noRunNeedsEventSql = `not exists (select from trigger_runs r
     where r.tenant = t.tenant and r.entity_id = t.entity_id and r.event_id = t.id and r.status in ('scheduled', 'running'))
   and not exists (select from trigger_runs r where r.tenant = t.tenant and r.event_id = t.id and r.status = 'dead')
   and not exists (select from trigger_runs r where r.tenant = t.tenant and r.event_id = t.id and r.status = 'held')`;
