import type { Queryable } from '@parley/db';

/** Days; 0 keeps everything. */
export interface HistoryRetention {
  eventDays: number;
  runDays: number;
}

export const batchRows = 1_000;

/** Rows are walked in the order of their ids, which is that of their making: a table is never read beyond what is old. */
const walk = (table: string, idType: string, isDone: string): string => `
  with oldest as materialized (
    select id, created_at < now() - make_interval(secs => $2::float8 * 86400) as is_old
    from ${table} where id > $1::${idType} order by id limit ${batchRows}),
  gone as (delete from ${table} t using oldest o where t.id = o.id and o.is_old and ${isDone} returning 1)
  select (select max(id)::text from oldest) as last, (select count(*)::int from oldest where is_old) as old,
    (select count(*)::int from gone) as removed`;

const runs = walk(
  'trigger_runs',
  'text',
  `t.status in ('succeeded', 'dead', 'cancelled') and t.finished_at < now() - make_interval(secs => $2::float8 * 86400)`,
);

/** What a run is about stands in its event: it stays for runs that have not ended, and for dead ones, which may be retried. */
const events = walk(
  'events',
  'bigint',
  `t.relayed_at is not null
   and not exists (select from trigger_runs r
     where r.entity_id = t.entity_id and r.event_id = t.id and r.status in ('scheduled', 'running'))
   and not exists (select from trigger_runs r where r.event_id = t.id and r.status = 'dead')`,
);

/** Removes what is older than it has to be, in batches; stops between two when the worker leaves. Answers how many rows went. */
export async function removeHistory(
  db: Queryable,
  { eventDays, runDays }: HistoryRetention,
  signal: AbortSignal,
): Promise<{ events: number; runs: number }> {
  // Runs first: an event that only a run kept goes with it.
  const removedRuns = runDays === 0 ? 0 : await remove(db, runs, '', runDays, signal);
  const removedEvents = eventDays === 0 ? 0 : await remove(db, events, '0', eventDays, signal);
  return { events: removedEvents, runs: removedRuns };
}

async function remove(db: Queryable, text: string, first: string, days: number, signal: AbortSignal): Promise<number> {
  let removed = 0;
  for (let after = first; ;) {
    signal.throwIfAborted();
    const { rows } = await db.query<{ last: string; old: number; removed: number }>(text, [after, days]);
    const [batch] = rows as [{ last: string; old: number; removed: number }];
    removed += batch.removed;
    if (batch.old < batchRows) return removed;
    after = batch.last;
  }
}
