import type { Field } from '../filter/condition';
import { dataPathSql, filterSql, storedEntity } from '../filter/filter-sql';
import { boundsOf, scansOf } from '../field-index/scans';
import { fieldHash, shapeField, updatedAtField } from '../field-index/field-hash';
import { Sql, type Statement, statement } from '../sql';
import { type Direction, candidatesFor, segmentsSql, typeSql } from './scan-sql';
import { entityJsonSql } from './entity-json';
import type { PageRequest } from './page-sql';

export type SortField = Extract<Field, { kind: 'data' | 'updatedAt' }>;

/** After which entity a page starts: its key in hexadecimal (null: it lacks the field), and its place. */
export interface SortPosition {
  key: string | null;
  pos: string;
}

export type SortedRequest = Omit<PageRequest, 'limit'> & {
  field: SortField;
  after: SortPosition | null;
  /** Rows to return at most. */
  count: number;
};

/** `no` is null when there is no such type; `json` is null in the row of a page without entities. */
export interface SortedRow {
  no: number | null;
  json: string | null;
  key: string | null;
  pos: string;
}

/** As many candidates as are fetched and sorted; more are better read in the order of the sort. */
const maxCollected = 6_500;

/** Page from all candidates of the filters, when they are not too many: `complete` says whether it is one. */
export function collectSql(request: SortedRequest): Statement {
  const sql = new Sql();
  const { direction, range } = request;
  const candidates = candidatesFor(scansOf(request.clauses), range, sql);
  const most = sql.param(maxCollected, 'int');
  const parts = [
    typeSql(request.scope, request.type, request.deleted, sql),
    segmentsSql(range, sql),
    ...candidates.tables,
    `found as materialized (select c.pos from b cross join lateral generate_series(b.lo, b.hi) s
      cross join lateral (${candidates.inSegment(direction)} offset 0) c limit ${most} + 1)`,
    `sorted as (select e.*, ${keySql(request.field, sql)} as key from found cross join b
      cross join lateral (select * from entities e where e.part = b.part and e.pos = found.pos offset 0) e
      where (select count(*) from found) <= ${most} and ${filterSql(request.clauses, storedEntity('e'), sql)})`,
    `page as (select * from sorted where ${afterSql(request.after, direction, sql)}
      order by key is null, key ${direction}, pos ${direction} limit ${sql.param(request.count, 'int')})`,
  ];
  return statement(
    `with ${parts.join(',\n')}
    select t.no, page.json, page.key, page.pos, (select count(*) from found) <= ${most} as complete from t left join
      (select ${entityJsonSql('page', request.type, request.masks, sql)} as json, encode(key, 'hex') as key, pos::text from page
       order by page.key is null, page.key ${direction}, page.pos ${direction}) page on true`,
    sql.values,
  );
}

export interface MergedRow extends SortedRow {
  /** Up to where the index was read: there may be more beyond. Null when it was read to its end. */
  boundary_key: string | null;
  boundary_pos: string | null;
}

/**
 * What a walk reads: of the segments that begin first, as many entries as a page has rows; the same of all segments, for
 * values that have nothing to do with the order of creation; or a few segments to their end, for those that follow it.
 */
export type Reach = 'few' | 'all' | 'deep';

/**
 * Page in the order of the field: the first entries of the segments that begin first are merged, which is the order of
 * all entities up to the least entry that was not read; those are checked until the page is full. Without filters the
 * few segments that a page can come from are enough.
 */
export function mergedSql(request: SortedRequest, reach: Reach): Statement {
  const walk = mergeParts(request);
  const { sql, order, field } = walk;
  const deep = sql.param(reach === 'deep' ? 2_000 : request.count, 'int');
  const wide = sql.param(reach === 'all' ? 1_000_000 : reach === 'deep' ? 4 : request.count, 'int');
  return finish(walk, request, [
    `firsts as materialized (select s, f.value, f.pos from b cross join lateral generate_series(b.lo, b.hi) s
      cross join lateral (select f.value, f.pos from entity_fields f where ${field} order by ${order('f')} limit 1) f
      order by ${order('f')} limit ${wide} + 1)`,
    `heads as materialized (select f.* from b cross join (select s from firsts order by ${order('firsts')} limit ${wide}) s
      cross join lateral (select f.*, row_number() over () as depth from (select f.value, f.pos from entity_fields f
        where ${field} order by ${order('f')} limit ${deep}) f offset 0) f)`,
    `boundary as materialized (select value, pos from (
        select value, pos from heads where depth = ${deep}
        union all (select value, pos from firsts order by ${order('firsts')} offset ${wide})) c
      order by ${order('c')} limit 1)`,
  ]);
}

/** So many matching entries are checked in one statement. */
const maxMatched = 2_000;

/** As `mergedSql`, over the entries of the entities only that the filters' scans give, however many they are. */
export function matchingSql(request: SortedRequest): Statement {
  const walk = mergeParts(request);
  const { sql, order, field } = walk;
  const { tables, entries, enough } = candidatesFor(scansOf(request.clauses), request.range, sql);
  const most = sql.param(maxMatched, 'int');
  return finish(walk, request, [
    ...tables,
    `heads as materialized (select f.value, f.pos from b cross join lateral generate_series(b.lo, b.hi) s
      cross join lateral (select c.pos, string_agg(c.value, '') as value
        from (select c.pos, c.scan, null::bytea as value from (${entries}) c
          union all select f.pos, null, f.value from entity_fields f where ${field}) c
        group by c.pos having ${enough('c.scan')} and bool_or(c.scan is not null) and bool_or(c.value is not null) offset 0) f
      order by ${order('f')} limit ${most})`,
    `boundary as materialized (select value, pos from heads order by ${order('heads')} offset ${most} - 1)`,
  ]);
}

interface MergeParts {
  sql: Sql;
  /** The order of the page over an alias with `value` and `pos`. */
  order: (alias: string) => string;
  /** Whether `f` comes after what was shown already. */
  start: string;
  /** Condition on `f`: entries of the field in segment `s` that are still to come. */
  field: string;
  key: string;
  within: string;
}

function mergeParts({ clauses, direction, range, field, after }: SortedRequest): MergeParts {
  const sql = new Sql();
  const start =
    after === null
      ? 'true'
      : `(f.value, f.pos) ${direction === 'desc' ? '<' : '>'} (${sql.param(Buffer.from(after.key!, 'hex'), 'bytea')}, ${sql.param(after.pos, 'bigint')})`;
  // `+ 0`: not an index condition, see `candidatesFor`.
  const within = `f.pos + 0 between ${sql.param(String(range.lo), 'bigint')} and ${sql.param(String(range.hi), 'bigint')}`;
  // Filters on the field itself: the walk begins and ends where they do.
  const bounds = boundsOf(clauses, field);
  const between =
    bounds === null
      ? 'true'
      : `f.value >= ${sql.param(bounds.lo, 'bytea')} and f.value < ${sql.param(bounds.hi, 'bytea')}`;
  const number = sql.param(field.kind === 'data' ? fieldHash(field.path) : updatedAtField, 'int');
  return {
    sql,
    start,
    within,
    order: (alias) => `${alias}.value ${direction}, ${alias}.pos ${direction}`,
    field: `f.part = b.part and f.segment = s and f.field = ${number} and ${between} and ${start} and ${within}`,
    key: keySql(field, sql),
  };
}

/** From `heads` and `boundary` to the page: entries up to the boundary, each checked against its entity. */
function finish({ sql, order, start, key, within }: MergeParts, request: SortedRequest, tables: string[]): Statement {
  const { direction } = request;
  const parts = [
    typeSql(request.scope, request.type, request.deleted, sql),
    segmentsSql(request.range, sql),
    ...tables,
    // Entities that are not fully indexed have no entry, or the same as is computed here: union leaves one.
    `unindexed as (select f.value, f.pos from b cross join lateral generate_series(b.lo, b.hi) s
      cross join lateral (select f.pos from entity_fields f where f.part = b.part and f.segment = s
        and f.field = ${shapeField} and f.value = '\\x01' and ${within} offset 0) o
      cross join lateral (select ${key} as value, e.pos from entities e where e.part = b.part and e.pos = o.pos) f
      where exists (select from entity_shapes x where x.type_no = b.no and x.shape = '\\x01') and f.value is not null and ${start})`,
    // The boundary may be the first entry of a segment that was not read: the next round starts after it.
    `entries as (select value, pos from heads union select value, pos from unindexed union select value, pos from boundary)`,
    `merged as (select f.value, f.pos from entries f
      where not exists (select from boundary) or (f.value, f.pos) ${direction === 'desc' ? '>=' : '<='} (select boundary.value, boundary.pos from boundary)
      order by ${order('f')} offset 0)`,
    `page as (select e.json, m.value as key, m.pos from merged m cross join b cross join lateral
      (select ${entityJsonSql('e', request.type, request.masks, sql)} as json from entities e
       where e.part = b.part and e.pos = m.pos and ${key} = m.value and ${filterSql(request.clauses, storedEntity('e'), sql)} offset 0) e
      limit ${sql.param(request.count, 'int')})`,
  ];
  return statement(
    `with ${parts.join(',\n')}
    select t.no, page.json, page.key, page.pos, encode(boundary.value, 'hex') as boundary_key, boundary.pos::text as boundary_pos
    from t left join boundary on true left join
      (select json, encode(key, 'hex') as key, pos::text from page order by page.key ${direction}, page.pos ${direction}) page on true`,
    sql.values,
  );
}

const keySql = (field: SortField, sql: Sql): string =>
  `entity_index_key(${field.kind === 'data' ? dataPathSql('e.data', field.path, sql) : 'to_jsonb(e.updated_at)'})`;

function afterSql(after: SortPosition | null, direction: Direction, sql: Sql): string {
  if (after === null) return 'true';
  const beyond = direction === 'desc' ? '<' : '>';
  const pos = sql.param(after.pos, 'bigint');
  if (after.key === null) return `key is null and pos ${beyond} ${pos}`;
  return `(key is null or (key, pos) ${beyond} (${sql.param(Buffer.from(after.key, 'hex'), 'bytea')}, ${pos}))`;
}
