import { reportRefusal } from '@parley/contracts';
import { type Queryable, column, statement } from '@parley/db';
import { maxHops } from '@parley/events';
import { type NewRun, recordDead } from './insert-runs';

const countRuns = statement(
  'runs-of-roots',
  `select tenant, root, (select count(*) from (select from trigger_runs r
     where r.tenant = k.tenant and r.root = k.root and r.refused_runs = 0 limit $runsPerRoot) n)::int as runs
   from unnest($tenants::int[], $roots::text[]) k(tenant, root)`,
  { tenant: column.int4, root: column.text, runs: column.int4 },
);

const keyOf = ({
  tenant,
  root,
  eventId,
}: Pick<NewRun, 'tenant' | 'root'> & { eventId?: string | null }): string =>
  `${tenant} ${root ?? eventId}`;

/**
 * Returns the runs, in order, that do not exceed the length of a chain and the number of runs per
 * root, and records the others. The count is exact: the caller's transaction holds the relay's lock
 * of the tenants, so no other one plans runs of them. Runs that directly follow from the root are
 * not stored yet, so the usual run needs no statement (docs/adr/0039).
 */
export async function admitRuns(
  tx: Queryable,
  runs: readonly NewRun[],
  runsPerRoot: number,
): Promise<NewRun[]> {
  const indirect = [
    ...new Map(runs.filter(({ hops }) => hops > 1).map((run) => [keyOf(run), run])).values(),
  ];
  const counts = new Map<string, number>();
  if (indirect.length > 0) {
    const roots = indirect.map(({ root, eventId }) => root ?? eventId);
    const values = { tenants: indirect.map(({ tenant }) => tenant), roots, runsPerRoot };
    for (const row of (await tx.acrossTenants('relay', countRuns, values)).rows)
      counts.set(keyOf(row), row.runs);
  }
  const refused: NewRun[] = [];
  const admitted = runs.filter((run) => {
    const count = counts.get(keyOf(run)) ?? 0;
    const isAdmitted = run.hops <= maxHops && count < runsPerRoot;
    if (isAdmitted) counts.set(keyOf(run), count + 1);
    else refused.push(run);
    return isAdmitted;
  });
  await recordRefused(tx, refused, runsPerRoot);
  return admitted;
}

// `hops` is beyond the limit, so the record is never retried.
const record = statement(
  'record-refused-runs',
  `insert into trigger_runs as r (id, tenant, environment, trigger_slug, cause, hops, root, refused_runs, run_at, context,
     request_id, status, error, finished_at)
   select 'run_refused' || replace(root, 'run_', ''), tenant, environment::"Environment", "triggerSlug", 'refused-' || root,
     ${maxHops + 1}, root, refused, now(), '{}', "requestId", 'dead', 'Refused runs: ' || refused || '. ' || $limits,
       now()
   from json_to_recordset($ofRoots::json) n(tenant int, environment text, root text, "triggerSlug" text,
     "requestId" text, refused int)
   on conflict (tenant, id) do update set refused_runs = r.refused_runs + excluded.refused_runs,
     error = 'Refused runs: ' || r.refused_runs + excluded.refused_runs || '. ' || $limits,
       finished_at = excluded.finished_at
   returning tenant, id, root, refused_runs as refused`,
  { tenant: column.int4, id: column.text, root: column.text, refused: column.int4 },
);

/**
 * Adds refused runs to the one record of their root, whose trigger is the first that was refused.
 */
async function recordRefused(
  tx: Queryable,
  refused: readonly NewRun[],
  runsPerRoot: number,
): Promise<void> {
  if (refused.length === 0) return;
  const ofRoots = [...Map.groupBy(refused, keyOf).values()].map((runs) => {
    const { tenant, environment, root, eventId, triggerSlug, requestId } = runs[0]!;
    return {
      tenant,
      environment,
      root: root ?? eventId,
      triggerSlug,
      requestId,
      refused: runs.length,
    };
  });
  const limits = `At most ${maxHops} triggers run in a row, and ${runsPerRoot} in all after one event, schedule or request`;
  const { rows } = await tx.acrossTenants('relay', record, {
    ofRoots: JSON.stringify(ofRoots),
    limits,
  });
  const isNew = new Set(ofRoots.map((one) => `${keyOf(one)} ${one.refused}`));
  await recordDead(
    tx,
    rows.filter((row) => isNew.has(`${keyOf(row)} ${row.refused}`)),
  );
  tx.afterCommit(() => reportRefusal('trigger_runs_per_root', refused.length));
}
