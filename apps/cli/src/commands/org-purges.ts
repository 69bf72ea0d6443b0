import type { Queryable } from '@parley/db';
import { type Purge, listPurges, stopPurge } from '@parley/identity';
import { withDatabase } from '../database';
import { Failure, usageFailure } from '../failure';
import { type PageOptions, parsePage } from '../page';
import { formatFields, formatTable, formatTime, note, print, printJson } from '../terminal';

/**
 * `parley org purges`: lists deletions of organizations; with `--org`, prints the deleted rows of
 * one by table. `--stop` stops an unsigned deletion.
 */
export async function runOrgPurges({
  org,
  stop: stopName,
  json,
  ...options
}: PageOptions & { org?: string; stop?: string; json?: boolean }): Promise<void> {
  if (stopName !== undefined) {
    if (Object.keys(options).length > 0 || org !== undefined)
      throw usageFailure('--stop cannot be combined with options other than --json');
    const stopped = await withDatabase((db) => stop(db, stopName));
    if (json) return printJson({ stopped });
    return print(`Stopped the purge of ${nameOf(stopped)}. The organization is not deleted.`);
  }
  const page = parsePage(options, /^purge_[0-9a-z]{1,40}$/);
  const { items, next } = await withDatabase((db) => listPurges(db, { ...page, name: org }));
  if (json) return printJson({ purges: items, next });
  if (items.length === 0) return note(`No${page.before ? ' more' : ''} purges`);
  if (org !== undefined) for (const purge of items) printReport(purge);
  else
    print(
      formatTable(
        ['ORGANIZATION', 'STATE', 'SIGNED', 'REQUESTED', 'DUE', 'FINISHED', 'ROWS'],
        items.map(toRow),
      ),
    );
  if (next !== null) note(`Next page: --cursor ${next}`);
}

async function stop(db: Queryable, name: string): Promise<Purge> {
  const stopped = await stopPurge(db, name);
  if (stopped.ok) return stopped.purge;
  if (stopped.reason === 'not_found') throw new Failure(`No purge of "${name}"`);
  const { purge } = stopped;
  const subject = `The purge of ${nameOf(purge)}`;
  if (purge.state === 'stopped') throw new Failure(`${subject} is already stopped`);
  if (purge.signed)
    throw new Failure(`${subject} was requested by a signed delivery and cannot be stopped`);
  throw new Failure(`${subject} is ${purge.state} and can no longer be stopped`);
}

const nameOf = ({ slug, organizationId }: Purge): string => slug ?? organizationId;
const sumOf = ({ deleted }: Purge): number =>
  Object.values(deleted).reduce((sum, count) => sum + count, 0);

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
      requested: formatTime(purge.askedAt),
      due: formatTime(purge.runAt),
      stopped: purge.stoppedAt === null ? undefined : formatTime(purge.stoppedAt),
      finished: purge.finishedAt === null ? undefined : formatTime(purge.finishedAt),
      rows: String(sumOf(purge)),
    }),
  );
  const rows = Object.entries(purge.deleted).map(([table, count]) => [table, String(count)]);
  if (rows.length > 0) print(formatTable(['DELETED FROM', 'ROWS'], rows));
}
