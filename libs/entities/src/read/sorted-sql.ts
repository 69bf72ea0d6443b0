import type { Field } from '../filter/condition';
import { dataPathSql, filterSql, storedEntity } from '../filter/filter-sql';
import { coversOf } from '../index/cover';
import { fieldHash, shapeField, updatedAtField } from '../index/field-hash';
import { Sql, type Statement, statement } from '../sql';
import { type Direction, candidatesSql, chosenSql, intervalsSql, segmentsSql, typeSql } from './candidates-sql';
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
const maxCollected = 3_000;

/** Page from all candidates of the filters; `candidates` above `maxCollected` means that there is no page. */
export function collectSql(request: SortedRequest): Statement {
  const sql = new Sql();
  const { direction, range } = request;
  const covers = coversOf(request.clauses);
  const parts = [
    typeSql(request.scope, request.type, request.deleted, sql),
    segmentsSql(range, sql),
    intervalsSql(covers, sql),
  ];
  if (covers.length > 1) parts.push(chosenSql(covers.length, sql));
  const most = sql.param(maxCollected, 'int');
  parts.push(
    `found as materialized (select c.pos from b cross join lateral generate_series(b.lo, b.hi) s
      cross join lateral (${candidatesSql(covers.length, range, direction, sql)} offset 0) c limit ${most} + 1)`,
    `sorted as (select e.*, ${keySql(request.field, sql)} as key from found cross join b
      cross join lateral (select * from entities e where e.part = b.part and e.pos = found.pos offset 0) e
      where (select count(*) from found) <= ${most} and ${filterSql(request.clauses, storedEntity('e'), sql)})`,
    `page as (select * from sorted where ${afterSql(request.after, direction, sql)}
      order by key is null, key ${direction}, pos ${direction} limit ${sql.param(request.count, 'int')})`,
  );
  return statement(
    `with ${parts.join(',\n')}
    select t.no, page.json, page.key, page.pos, (select count(*) from found) <= ${most} as complete from t left join
      (select ${entityJsonSql('page', request.type, request.masks, sql)} as json, encode(key, 'hex') as key, pos::text from page
       order by page.key is null, page.key ${direction}, page.pos ${direction}) page on true`,
    sql.values,
  );
}

export interface WalkRow extends SortedRow {
  /** Up to where the index was read: there may be more beyond. Null when it was read to its end. */
  cut_key: string | null;
  cut_pos: string | null;
}

/**
 * Page in the order of the index: the first `depth` entries of every segment are merged, which is the order of all
 * entities up to the least of the segments' last entries; those are checked until the page is full.
 */
export function sortedWalkSql(request: SortedRequest, depth: number): Statement {
  const sql = new Sql();
  const { direction, range, field, after } = request;
  const order = (alias: string): string => `${alias}.value ${direction}, ${alias}.pos ${direction}`;
  const beyond = direction === 'desc' ? '<' : '>';
  const start =
    after === null
      ? 'true'
      : `(f.value, f.pos) ${beyond} (${sql.param(Buffer.from(after.key!, 'hex'), 'bytea')}, ${sql.param(after.pos, 'bigint')})`;
  const within = `f.pos between ${sql.param(String(range.lo), 'bigint')} and ${sql.param(String(range.hi), 'bigint')}`;
  const deep = sql.param(depth, 'int');
  const key = keySql(field, sql);
  const entry = sql.param(field.kind === 'data' ? fieldHash(field.path) : updatedAtField, 'int');
  const parts = [
    typeSql(request.scope, request.type, request.deleted, sql),
    segmentsSql(range, sql),
    `heads as materialized (select f.* from b cross join lateral generate_series(b.lo, b.hi) s
      cross join lateral (select f.*, row_number() over () as depth from (select f.value, f.pos from entity_fields f
        where f.part = b.part and f.segment = s and f.field = ${entry} and ${start} and ${within}
        order by ${order('f')} limit ${deep}) f offset 0) f)`,
    `cut as materialized (select value, pos from heads where depth = ${deep} order by ${order('heads')} limit 1)`,
    // Entities that are not fully indexed have no entry, or the same as is computed here: union leaves one.
    `loose as (select f.value, f.pos from b cross join lateral generate_series(b.lo, b.hi) s
      cross join lateral (select f.pos from entity_fields f where f.part = b.part and f.segment = s
        and f.field = ${shapeField} and f.value = '\\x01' and ${within} offset 0) o
      cross join lateral (select ${key} as value, e.pos from entities e where e.part = b.part and e.pos = o.pos) f
      where exists (select from entity_shapes x where x.type_no = b.no and x.shape = '\\x01') and f.value is not null and ${start})`,
    `entries as (select value, pos from heads union select value, pos from loose)`,
    `merged as (select f.value, f.pos from entries f
      where not exists (select from cut) or (f.value, f.pos) ${direction === 'desc' ? '>=' : '<='} (select cut.value, cut.pos from cut)
      order by ${order('f')} offset 0)`,
    `page as (select e.json, m.value as key, m.pos from merged m cross join b cross join lateral
      (select ${entityJsonSql('e', request.type, request.masks, sql)} as json from entities e
       where e.part = b.part and e.pos = m.pos and ${key} = m.value and ${filterSql(request.clauses, storedEntity('e'), sql)} offset 0) e
      limit ${sql.param(request.count, 'int')})`,
  ];
  return statement(
    `with ${parts.join(',\n')}
    select t.no, page.json, page.key, page.pos, encode(cut.value, 'hex') as cut_key, cut.pos::text as cut_pos
    from t left join cut on true left join
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
