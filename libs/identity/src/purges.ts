import {
  type Page,
  type Paged,
  type Queryable,
  type RowOf,
  column,
  listStatement,
  pageValues,
  purgeRows,
  statement,
  toPaged,
} from '@parley/db';

/** `waiting`: not due yet. `running`: due or in progress. */
type PurgeState = 'waiting' | 'running' | 'finished' | 'stopped';

const purgeRow = {
  id: column.text,
  organizationId: column.text,
  externalId: column.text.nullable,
  /** The slug of the organization, or its last slug if it is deleted. */
  slug: column.text.nullable,
  /** Whether the delivery that requested it was signed. Only an unsigned purge can be stopped. */
  signed: column.bool,
  state: column.oneOf<PurgeState>(),
  askedAt: column.timestamptz,
  runAt: column.timestamptz,
  stoppedAt: column.timestamptz.nullable,
  finishedAt: column.timestamptz.nullable,
  /** Deleted rows by table, so far. */
  deleted: column.jsonb<Record<string, number>>(),
};
/** The deletion of an organization with all its data. Its row outlives the organization. */
export type Purge = RowOf<typeof purgeRow>;

const selectPurges = `select p.id, p.organization_id as "organizationId", p.external_id as "externalId",
    coalesce(o.slug, p.slug) as slug, p.signed,
    case when p.finished_at is not null then 'finished' when p.stopped_at is not null then 'stopped'
      when p.run_at > now() and p.started_at is null then 'waiting' else 'running' end as state,
    p.created_at as "askedAt", p.run_at as "runAt", p.stopped_at as "stoppedAt", p.finished_at as "finishedAt",
    p.report as deleted
  from organization_purges p left join organizations o on o.id = p.organization_id`;
/** A signed purge, or one that has begun, cannot be stopped. */
const isStoppable = 'not signed and started_at is null and stopped_at is null';
const isNamed = '$name in (coalesce(o.slug, p.slug), p.organization_id, p.external_id)';

const latestPurges = listStatement(
  'list-purges',
  `${selectPurges}
   where ($name::text is null or ${isNamed})
     and ($beforeAt::timestamptz is null or (p.created_at, p.id) < ($beforeAt, $beforeId::text))
   order by p.created_at desc, p.id desc limit $limit`,
  purgeRow,
);

/** Lists purges, latest first. `name` is a slug, an id or the identity provider's id. */
export async function listPurges(
  db: Queryable,
  { name, ...page }: Page & { name?: string },
): Promise<Paged<Purge>> {
  const { rows } = await db.acrossTenants('operator command', latestPurges, {
    name,
    ...pageValues(page),
  });
  return toPaged(rows, page, ({ askedAt, id }) => ({ at: askedAt, id }));
}

const stoppablePurges = statement(
  'stoppable-purges',
  `${selectPurges} where ${isStoppable} order by p.run_at limit $limit`,
  purgeRow,
);

/**
 * Lists purges that can still be stopped, that is, unsigned ones that have not begun, in the order
 * in which they are due.
 */
export async function dueUnsignedPurges(db: Queryable, limit: number): Promise<Purge[]> {
  return (await db.acrossTenants('operator command', stoppablePurges, { limit })).rows;
}

export type StopPurgeResult =
  | { ok: true; purge: Purge }
  | { ok: false; reason: 'not_found' }
  | { ok: false; reason: 'not_stoppable'; purge: Purge };

/**
 * Prefers our id and the slug: the provider's id of an unsigned organization may be forged to
 * equal one of them.
 */
const purgeByName = statement(
  'purge-by-name',
  `${selectPurges} where ${isNamed}
   order by case $name when p.organization_id then 1 when coalesce(o.slug, p.slug) then 2 else 3 end,
     p.created_at desc limit 1`,
  purgeRow,
);
const stop = statement(
  'stop-purge',
  `update organization_purges set stopped_at = now() where id = $id and ${isStoppable}`,
);
const purgeById = statement('purge-by-id', `${selectPurges} where p.id = $id`, purgeRow);

/**
 * Stops the latest purge of an organization, if an unsigned delivery requested it and it has not
 * begun. If a worker begins it concurrently, the update that commits first decides.
 */
export async function stopPurge(db: Queryable, name: string): Promise<StopPurgeResult> {
  const { rows: candidates } = await db.acrossTenants('operator command', purgeByName, { name });
  const [named] = candidates;
  if (named === undefined) return { ok: false, reason: 'not_found' };
  const { rowCount } = await db.query(named, stop, { id: named.id });
  const { rows } = await db.query(named, purgeById, { id: named.id });
  const purge = rows[0]!;
  return rowCount === 1 ? { ok: true, purge } : { ok: false, reason: 'not_stoppable', purge };
}

const stopDisproved = statement(
  'stop-disproved-purge',
  `update organization_purges set stopped_at = now() where organization_id = $organizationId and created_at < $time
     and ${isStoppable}`,
);

/**
 * Stops an unsigned deletion, because a later signed event of `time` shows that the
 * organization exists.
 */
export async function stopDisprovedPurge(
  tx: Queryable,
  organizationId: string,
  time: Date,
): Promise<void> {
  await tx.query({ organizationId }, stopDisproved, { organizationId, time });
}

const runnable = statement(
  'purges-to-run',
  `select organization_id as "organizationId" from organization_purges
   where (finished_at is null and stopped_at is null and run_at <= now()) or finished_at > now() - interval '10 minutes'`,
  { organizationId: column.text },
);

/**
 * Lists organizations whose purge is due or ended in the last 10 minutes. The latter are purged
 * again, because a running turn may have written rows after the purge.
 */
export async function purgesToRun(db: Queryable): Promise<{ organizationId: string }[]> {
  return (await db.acrossTenants('purge', runnable)).rows;
}

/**
 * The rows that a purge deletes in separate steps. `finishPurge` deletes the organization itself.
 */
export const identityPurge = {
  keys: purgeRows(['api_keys']),
  memberships: purgeRows(['invitations', 'memberships']),
};

const addToReport = statement(
  'report-purged',
  `update organization_purges set report = report || (
     select coalesce(jsonb_object_agg(key, coalesce((report->>key)::bigint, 0) + value::bigint), '{}')
     from jsonb_each_text($deleted::jsonb) where value::bigint > 0)
   where organization_id = $organizationId`,
);

/** Adds numbers of deleted rows by table to the report of a purge. */
export async function reportPurged(
  tx: Queryable,
  organizationId: string,
  deleted: Record<string, number>,
): Promise<void> {
  await tx.query({ organizationId }, addToReport, {
    organizationId,
    deleted: JSON.stringify(deleted),
  });
}

const removeOrganization = statement(
  'remove-organization',
  'delete from organizations where id = $organizationId',
);

const finish = statement(
  'finish-purge',
  `update organization_purges set finished_at = coalesce(finished_at, now()) where organization_id = $organizationId
   returning report`,
  { report: column.jsonb<Record<string, number>>() },
);

/** Deletes the organization itself, its last row, and ends its purge. Returns the report. */
export async function finishPurge(
  tx: Queryable,
  organizationId: string,
): Promise<Record<string, number>> {
  const { rowCount } = await tx.query({ organizationId }, removeOrganization, { organizationId });
  await reportPurged(tx, organizationId, { organizations: rowCount });
  const { rows } = await tx.query({ organizationId }, finish, { organizationId });
  return rows[0]?.report ?? {};
}
