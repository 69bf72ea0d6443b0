import type { Queryable } from '@parley/db';
import { withDatabase } from '../database';
import { type Page, type PageOptions, type Paged, parsePage, toPaged } from '../page';
import { formatFields, formatTable, formatTime, note, print, printJson } from '../terminal';

/** `waiting`: for its day of grace to end. `running`: it is being deleted, or is about to be. */
type PurgeState = 'waiting' | 'running' | 'finished';

interface Purge {
  id: string;
  organizationId: string;
  externalId: string | null;
  slug: string | null;
  state: PurgeState;
  askedAt: Date;
  runAt: Date;
  finishedAt: Date | null;
  /** Rows by table, so far. */
  deleted: Record<string, number>;
}

/** `parley org purges`: the report of each organization that was deleted; of one that is named, table by table. */
export async function runOrgPurges({
  org,
  json,
  ...options
}: PageOptions & { org?: string; json?: boolean }): Promise<void> {
  const page = parsePage(options, /^purge_[0-9a-z]{1,40}$/);
  const { items, next } = await withDatabase(({ pool }) => listPurges(pool, { ...page, org }));
  if (json) return printJson({ purges: items, next });
  if (items.length === 0) return note(`No${page.before ? ' more' : ''} purges`);
  if (org !== undefined) for (const purge of items) printReport(purge);
  else print(formatTable(['ORGANIZATION', 'STATE', 'ASKED FOR', 'DUE', 'FINISHED', 'ROWS'], items.map(toRow)));
  if (next !== null) note(`more: --before ${next}`);
}

async function listPurges(db: Queryable, { org, limit, before }: Page & { org?: string }): Promise<Paged<Purge>> {
  const { rows } = await db.query<Purge>(
    `select id, organization_id as "organizationId", external_id as "externalId", slug,
            case when finished_at is not null then 'finished' when run_at > now() then 'waiting' else 'running' end as state,
            created_at as "askedAt", run_at as "runAt", finished_at as "finishedAt", report as deleted
     from organization_purges
     where ($1::text is null or $1 in (slug, organization_id, external_id))
       and ($2::timestamptz is null or (created_at, id) < ($2, $3::text))
     order by created_at desc, id desc limit $4`,
    [org ?? null, before?.at ?? null, before?.id ?? null, limit + 1],
  );
  return toPaged(rows, limit, ({ askedAt, id }) => ({ at: askedAt, id }));
}

const nameOf = ({ slug, organizationId }: Purge): string => slug ?? organizationId;
const sumOf = ({ deleted }: Purge): number => Object.values(deleted).reduce((sum, count) => sum + count, 0);

const toRow = (purge: Purge): string[] => [
  nameOf(purge),
  purge.state,
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
      'asked for': formatTime(purge.askedAt),
      due: formatTime(purge.runAt),
      finished: purge.finishedAt === null ? undefined : formatTime(purge.finishedAt),
      rows: String(sumOf(purge)),
    }),
  );
  const rows = Object.entries(purge.deleted).map(([table, count]) => [table, String(count)]);
  if (rows.length > 0) print(formatTable(['DELETED FROM', 'ROWS'], rows));
}
