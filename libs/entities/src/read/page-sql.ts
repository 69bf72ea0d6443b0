import type { Scope } from '@parley/contracts';
import type { Mask } from '../access';
import type { Clause } from '../filter/condition';
import { filterSql, storedEntity } from '../filter/filter-sql';
import { scansOf } from '../field-index/scans';
import { type PositionRange, listedPositions } from '../field-index/position';
import { Sql, type Statement, statement } from '../sql';
import { type Direction, candidatesFor, segmentsSql, typeSql, positionScanSql } from './scan-sql';
import { entityJsonSql, rowSeparator } from './entity-json';

export interface PageRequest {
  scope: Scope;
  type: string;
  deleted: boolean;
  clauses: readonly Clause[];
  masks: readonly Mask[];
  /** Places that may be on the page: what `createdAt` and `id` ask for, and what is left after the cursor. */
  range: PositionRange;
  direction: Direction;
  limit: number;
}

/** One row always, with `no` null when there is no such type. */
export interface PageRow {
  no: number | null;
  /** JSON texts of up to limit + 1 entities, joined by `rowSeparator`. */
  items: string | null;
  count: number;
  /** Place of the last entity on the page: of the last but one when there are more than `limit`. */
  last: string | null;
}

/** A page in the order of creation as one statement; whatever its filters match, it reads a bounded part of an index. */
export function pageSql(request: PageRequest): Statement {
  const sql = new Sql();
  const { direction, limit, range } = request;
  const scans = scansOf(request.clauses);
  const listed = listedPositions(request.clauses);
  const found = sql.param(limit + 1, 'int');
  const parts = [typeSql(request.scope, request.type, request.deleted, sql)];
  const json = entityJsonSql('e', request.type, request.masks, sql);
  const matches = filterSql(request.clauses, storedEntity('e'), sql);

  if (listed !== null) {
    const positions = sql.param(listed.map(String), 'bigint[]');
    parts.push(`page as (select ${json} as json, e.pos from t cross join entities e
      where e.part = t.part and e.pos = any(${positions}) and ${matches}
        and e.pos between ${sql.param(String(range.lo), 'bigint')} and ${sql.param(String(range.hi), 'bigint')}
      order by e.pos ${direction} limit ${found})`);
  } else if (scans.length === 0) {
    const walk = positionScanSql('e', 't.part', range, sql);
    parts.push(`page as (select e.json, e.pos from t cross join lateral (select ${json} as json, e.pos from entities e
      where ${walk.within} and ${matches} order by ${walk.order(direction)} limit ${found}) e)`);
  } else {
    const candidates = candidatesFor(scans, range, sql);
    parts.push(segmentsSql(range, sql), ...candidates.tables);
    const series = direction === 'desc' ? 'b.hi, b.lo, -1' : 'b.lo, b.hi, 1';
    parts.push(`page as (select e.json, e.pos from b cross join lateral generate_series(${series}) s
      cross join lateral (${candidates.inSegment(direction)} offset 0) c
      cross join lateral (select ${json} as json, e.pos from entities e
        where e.part = b.part and e.pos = c.pos and ${matches} offset 0) e
      limit ${found})`);
  }
  return statement(
    `with ${parts.join(',\n')}
    select (select no from t) as no, string_agg(json, E'${rowSeparator.replace('\n', '\\n')}' order by pos ${direction}) as items,
      count(*)::int as count, (array_agg(pos order by pos ${direction}))[least(count(*), ${sql.param(limit, 'int')})]::text as last
    from page`,
    sql.values,
  );
}

/** The items of a page as a JSON array, without the one that only told that there are more. */
export function pageItems(items: string | null, count: number, limit: number): string {
  if (items === null) return '[]';
  return `[${count > limit ? items.slice(0, items.lastIndexOf(rowSeparator)) : items}]`;
}
