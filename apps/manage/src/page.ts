import type { Scope } from '@parley/contracts';
import { type Page, type Paged, decodeCursor, encodeCursor } from '@parley/db';
import { badRequest } from '@parley/service';

/** Ids made by `newId`, which order rows of one time. */
const rowId = /^[\w-]{1,80}$/;
/** Ids made from the time: a PostgreSQL bigint. */
export const timeId = /^[0-8]?\d{1,18}$/;

interface ListQuery {
  limit: number;
  cursor?: string | undefined;
}

/**
 * The page that a request asks for, and the answer with its rows. A cursor is bound to the list,
 * its filters and the environment: with others it is refused.
 */
export function pageOf<Q extends ListQuery>(
  list: string,
  scope: Scope,
  query: Q,
  idPattern = rowId,
) {
  const { limit, cursor = '', ...filters } = query;
  const key = JSON.stringify([list, scope.tenant, scope.environment, filters]);
  const page: Page = {
    limit,
    before: cursor === '' ? null : positionIn(decodeCursor(key, cursor), idPattern),
  };
  return {
    page,
    answer<T, A>({ items, next, last }: Paged<T>, toItem: (row: T) => A) {
      const end = last === null ? cursor : encodeCursor(key, [String(last.at.getTime()), last.id]);
      return { data: items.map(toItem), cursor: end, hasMore: next !== null };
    },
  };
}

function positionIn(content: string[] | null, idPattern: RegExp): Page['before'] {
  const [atMs, id] = content ?? [];
  if (atMs === undefined || id === undefined || !/^\d{1,14}$/.test(atMs) || !idPattern.test(id))
    throw badRequest(
      'The cursor is invalid or belongs to another list',
      undefined,
      'invalid_cursor',
    );
  return { at: new Date(Number(atMs)), id };
}

/** The time of a filter. */
export const dateOf = (ms: number | undefined): Date | undefined =>
  ms === undefined ? undefined : new Date(ms);

/** Unix milliseconds of a time, as in the API. */
export const msOf = (at: Date): number => at.getTime();
export const msOrNull = (at: Date | null): number | null => at?.getTime() ?? null;
