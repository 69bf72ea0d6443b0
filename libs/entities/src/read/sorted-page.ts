import type { Entity, Scope } from '@parley/contracts';
import type { Queryable } from '@parley/db';
import type { Access } from '../access';
import { decodeCursor, encodeCursor } from './cursor';
import type { Clause, Condition } from '../filter/condition';
import { boundsOf, clausesBeyond, scansOf } from '../field-index/scans';
import { positionOfId, positionRangeOf } from '../field-index/position';
import type { Direction } from './scan-sql';
import { type PageInput, type PageResult, staleCursor, statusClauses, unstorableName } from './list-page';
import { pageSql, type PageRow } from './page-sql';
import { rowSeparator } from './entity-json';
import { PageText } from './page-text';
import {
  type Reach,
  type SortField,
  type SortPosition,
  type SortedRequest,
  type SortedRow,
  type MergedRow,
  collectSql,
  matchingSql,
  mergedSql,
} from './sorted-sql';

type SortedInput = PageInput & {
  clauses: readonly Clause[];
  query: string;
  direction: Direction;
  field: SortField;
  access?: Access;
};

/**
 * A page sorted by a field. Selective filters: their candidates are sorted. Otherwise the index is read in the order of
 * the field, deeper each time, until the page is full; entities that lack the field come after all others.
 */
export async function sortedPage(db: Queryable, scope: Scope, input: SortedInput): Promise<PageResult> {
  const unstorable = unstorableName(input);
  if (unstorable !== null) return unstorable;
  const after = input.cursor ? parsePosition(decodeCursor(input.query, input.cursor)) : null;
  if (after === undefined) return staleCursor;
  const clauses = [...input.clauses, ...statusClauses(input.status), ...(input.access?.clauses ?? [])];
  const rows = await readRows(db, {
    scope,
    type: input.type,
    deleted: input.status === 'deleted',
    clauses,
    masks: input.access?.masks ?? [],
    range: positionRangeOf(clauses),
    direction: input.direction,
    field: input.field,
    after,
    count: input.limit + 1,
  });
  if (rows === null) return { ok: false, reason: 'type_not_found' };
  const shown = rows.slice(0, input.limit);
  const last = shown.at(-1);
  const cursor =
    last === undefined
      ? (input.cursor ?? '')
      : encodeCursor(input.query, [last.key === null ? 'absent' : last.key, last.pos]);
  const itemsJson = `[${shown.map(({ json }) => json).join(rowSeparator)}]`;
  return { ok: true, page: new PageText(itemsJson, cursor, rows.length > input.limit) };
}

function parsePosition(position: string[] | null): SortPosition | undefined {
  const [key, pos] = position ?? [];
  if (key === undefined || pos === undefined || !/^\d{1,19}$/.test(pos)) return undefined;
  if (key === 'absent') return { key: null, pos };
  return /^([0-9a-f]{2}){1,150}$/.test(key) ? { key, pos } : undefined;
}

const filteredReaches: readonly (Reach | undefined)[] = ['few', 'all', 'deep'];

/** Up to `count` rows in order, or null when there is no such type. */
async function readRows(db: Queryable, request: SortedRequest): Promise<SortedRow[] | null> {
  const bounds = boundsOf(request.clauses, request.field);
  // A key range of the field itself is scanned from its end: there is nothing to collect.
  const others = bounds?.isWhole ? clausesBeyond(request.clauses, request.field) : request.clauses;
  const filtered = scansOf(others).length > 0;
  if (filtered) {
    const { rows } = await db.query<SortedRow & { complete: boolean }>(collectSql(request));
    if (rows[0] === undefined) return null;
    if (rows[0].complete) return rows.filter(({ json }) => json !== null);
  }
  const found: SortedRow[] = [];
  let { after } = request;
  for (let round = 0; after?.key !== null; round += 1) {
    const rest = { ...request, after, count: request.count - found.length };
    // Filters that many entities match fill the page from the first entries; after that only matching ones are read.
    const reach = filtered ? filteredReaches[round] : round === 0 ? 'few' : 'all';
    const walk = reach === undefined ? matchingSql(rest) : mergedSql({ ...rest, count: request.count }, reach);
    const { rows } = await db.query<MergedRow>(walk);
    const [first] = rows;
    if (first === undefined) return null;
    found.push(...rows.filter(({ json }) => json !== null).slice(0, rest.count));
    if (found.length === request.count) return found;
    if (first.boundary_key === null) break;
    after = { key: first.boundary_key, pos: first.boundary_pos! };
  }
  if (request.field.kind !== 'data' || bounds !== null) return found;
  const absent = await absentRows(db, request, request.field, after?.key === null ? after : null, found.length);
  return absent && [...found, ...absent];
}

/** The entities without the field, in the order of creation. */
async function absentRows(
  db: Queryable,
  request: SortedRequest,
  field: Extract<SortField, { kind: 'data' }>,
  after: SortPosition | null,
  found: number,
): Promise<SortedRow[] | null> {
  const lacksField: Condition = { field, operator: '$exists', operand: false };
  const rows: SortedRow[] = [];
  const range = { ...request.range };
  const limit = request.count - found;
  if (after !== null && request.direction === 'desc' && BigInt(after.pos) <= range.hi)
    range.hi = BigInt(after.pos) - 1n;
  if (after !== null && request.direction === 'asc' && BigInt(after.pos) >= range.lo) range.lo = BigInt(after.pos) + 1n;
  const { rows: pages } = await db.query<PageRow>(
    pageSql({ ...request, clauses: [...request.clauses, [lacksField]], range, limit }),
  );
  const page = pages[0]!;
  if (page.no === null) return null;
  for (const [index, json] of (page.items ?? '').split(rowSeparator).entries()) {
    if (json === '' || index >= limit) continue;
    const { id } = JSON.parse(json) as Entity;
    rows.push({ no: page.no, json, key: null, pos: String(positionOfId(id)) });
  }
  return rows;
}
