import type { Scope } from '@parley/contracts';
import type { Queryable } from '@parley/db';
import type { Access } from '../access';
import { decodeCursor, encodeCursor } from './cursor';
import { type Clause, equals } from '../filter/condition';
import { positionRangeOf } from '../field-index/position';
import { type Invalid, type TypeNotFound, invalid } from '../result';
import { isStorable } from '../storable';
import type { Direction } from './scan-sql';
import { type PageRow, pageItems, pageSql } from './page-sql';
import { PageText } from './page-text';

export interface PageInput {
  type: string;
  /** A lifecycle status; without it every status but `deleted`. */
  status?: string;
  limit: number;
  cursor?: string;
}

export type PageResult = { ok: true; page: PageText } | TypeNotFound | Invalid;

export const staleCursor = invalid('cursor', 'cursor is broken or belongs to another query');

/** `deleted` chooses a part of the index, any other status is a condition like those on fields. */
export const statusClauses = (status: string | undefined): Clause[] =>
  status === undefined || status === 'deleted' ? [] : [[equals({ kind: 'status' }, status)]];

/** Names that PostgreSQL cannot hold. */
export function unstorableName({ type, status }: { type: string; status?: string }): TypeNotFound | Invalid | null {
  if (!isStorable(type)) return { ok: false, reason: 'type_not_found' };
  return status === undefined || isStorable(status) ? null : invalid('status', 'status contains what cannot be stored');
}

/** A page in the order of creation, by keyset: `query` says what it belongs to, for the cursor. */
export async function listPage(
  db: Queryable,
  scope: Scope,
  input: PageInput & { clauses: readonly Clause[]; query: string; direction: Direction; access?: Access },
): Promise<PageResult> {
  const { type, limit, cursor, direction, query } = input;
  const unstorable = unstorableName(input);
  if (unstorable !== null) return unstorable;
  const clauses = [...input.clauses, ...statusClauses(input.status), ...(input.access?.clauses ?? [])];
  const range = positionRangeOf(clauses);
  if (cursor !== undefined && cursor !== '') {
    const position = decodeCursor(query, cursor)?.[0];
    if (position === undefined || !/^\d{1,19}$/.test(position)) return staleCursor;
    const after = BigInt(position);
    if (direction === 'desc' && after - 1n < range.hi) range.hi = after - 1n;
    if (direction === 'asc' && after + 1n > range.lo) range.lo = after + 1n;
  }
  const { rows } = await db.query<PageRow>(
    pageSql({
      scope,
      type,
      deleted: input.status === 'deleted',
      clauses,
      masks: input.access?.masks ?? [],
      range,
      direction,
      limit,
    }),
  );
  const { no, items, count, last } = rows[0]!;
  if (no === null) return { ok: false, reason: 'type_not_found' };
  const next = last === null ? (cursor ?? '') : encodeCursor(query, [last]);
  return { ok: true, page: new PageText(pageItems(items, count, limit), next, count > limit) };
}
