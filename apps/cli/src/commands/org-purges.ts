import type { Queryable } from '@parley/db';
import { withDatabase } from '../database';
import { Failure, usageFailure } from '../failure';
import { type Page, type PageOptions, type Paged, parsePage, toPaged } from '../page';
import { formatFields, formatTable, formatTime, note, print, printJson } from '../terminal';

/** `waiting`: until it is due. `running`: it is being deleted, or is about to be. */
type PurgeState = 'waiting' | 'running' | 'finished' | 'stopped';

interface Purge {
  id: string;
  organizationId: string;
  externalId: string | null;
  slug: string | null;
  /** Whether the delivery that asked for it was signed; only a purge that is not can be stopped. */
  signed: boolean;
  state: PurgeState;
  askedAt: Date;
  runAt: Date;
  stoppedAt: Date | null;
  finishedAt: Date | null;
  /** Rows by table, so far. */
  deleted: Record<string, number>;
}

/**
 * `parley org purges`: the report of each organization that was deleted; of one that is named, table by table. `--stop`
 * keeps an organization whose deletion came unsigned.
 */
export async function runOrgPurges({
  org,
  stop,
  json,
  ...options
}: PageOptions & { org?: string; stop?: string; json?: boolean }): Promise<void> {
  if (stop !== undefined) {
    if (Object.keys(options).length > 0 || org !== undefined) throw usageFailure('--stop goes with no other option');
    const stopped = await withDatabase(({ pool }) => stopPurge(pool, stop));
    if (json) return printJson({ stopped });
    return print(`Stopped the purge of ${nameOf(stopped)}: the organization stays as it is.`);
  }
  const page = parsePage(options, /^purge_[0-9a-z]{1,40}$/);
  const { items, next } = await withDatabase(({ pool }) => listPurges(pool, { ...page, org }));
  if (json) return printJson({ purges: items, next });
  if (items.length === 0) return note(`No${page.before ? ' more' : ''} purges`);
  if (org !== undefined) for (const purge of items) printReport(purge);
  else
    print(formatTable(['ORGANIZATION', 'STATE', 'SIGNED', 'ASKED FOR', 'DUE', 'FINISHED', 'ROWS'], items.map(toRow)));
  if (next !== null) note(`more: --before ${next}`);
}

/** The slug is the one that the organization has now; when it is deleted, the one that it had. */
const selectPurges = `select p.id, p.organization_id as "organizationId", p.external_id as "externalId",
    coalesce(o.slug, p.slug) as slug, p.signed,
    case when p.finished_at is not null then 'finished' when p.stopped_at is not null then 'stopped'
      when p.run_at > now() and p.started_at is null then 'waiting' else 'running' end as state,
    p.created_at as "askedAt", p.run_at as "runAt", p.stopped_at as "stoppedAt", p.finished_at as "finishedAt",
    p.report as deleted
  from organization_purges p left join organizations o on o.id = p.organization_id`;
const isNamed = '$1 in (coalesce(o.slug, p.slug), p.organization_id, p.external_id)';

async function listPurges(db: Queryable, { org, limit, before }: Page & { org?: string }): Promise<Paged<Purge>> {
  const { rows } = await db.query<Purge>(
    `${selectPurges}
     where ($1::text is null or ${isNamed})
       and ($2::timestamptz is null or (p.created_at, p.id) < ($2, $3::text))
     order by p.created_at desc, p.id desc limit $4`,
    [org ?? null, before?.at ?? null, before?.id ?? null, limit + 1],
  );
  return toPaged(rows, limit, ({ askedAt, id }) => ({ at: askedAt, id }));
}

/**
 * Stops the purge of an organization that an unsigned delivery asked for and that has not begun; a Failure when there is
 * none. Of this and the worker that begins it, the one that changes the row first wins.
 */
export async function stopPurge(db: Queryable, name: string): Promise<Purge> {
  const { rows: named } = await db.query<Purge>(`${selectPurges} where ${isNamed} order by p.created_at desc limit 1`, [
    name,
  ]);
  if (named[0] === undefined) throw new Failure(`No purge of "${name}"`);
  const { rowCount } = await db.query(
    `update organization_purges set stopped_at = now()
     where id = $1 and not signed and started_at is null and stopped_at is null`,
    [named[0].id],
  );
  const { rows } = await db.query<Purge>(`${selectPurges} where p.id = $1`, [named[0].id]);
  const purge = rows[0]!;
  if (rowCount === 1) return purge;
  const subject = `The purge of ${nameOf(purge)}`;
  if (purge.state === 'stopped') throw new Failure(`${subject} is stopped already`);
  if (purge.signed) throw new Failure(`${subject} was asked for by a signed delivery: it cannot be stopped`);
  throw new Failure(`${subject} is ${purge.state}: it cannot be stopped any more`);
}

const nameOf = ({ slug, organizationId }: Purge): string => slug ?? organizationId;
const sumOf = ({ deleted }: Purge): number => Object.values(deleted).reduce((sum, count) => sum + count, 0);

const toRow = (purge: Purge): string[] => [
  nameOf(purge),
  purge.state,
  purge.signed ? 'yes' : 'no',
  formatTime(purge.askedAt),
  formatTime(purge.runAt),
  purge.finishedAt === null ? '-' : formatTime(purge.finishedAt),
  String(sumOf(purge)),
];

function printReport(purge: Purge): void {
  print(
    formatFields({
      organization: nameOf(purge),
      id: purge.organizationId,
      'provider id': purge.externalId ?? undefined,
      state: purge.state,
      signed: purge.signed ? 'yes' : 'no',
      'asked for': formatTime(purge.askedAt),
      due: formatTime(purge.runAt),
      stopped: purge.stoppedAt === null ? undefined : formatTime(purge.stoppedAt),
      finished: purge.finishedAt === null ? undefined : formatTime(purge.finishedAt),
      rows: String(sumOf(purge)),
    }),
  );
  const rows = Object.entries(purge.deleted).map(([table, count]) => [table, String(count)]);
  if (rows.length > 0) print(formatTable(['DELETED FROM', 'ROWS'], rows));
}
