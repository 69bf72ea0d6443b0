// Step 3 of a query (parse → plan → SQL → run → page): the statements that sort by
// merging index entries.
import { type RowOf, column } from '@parley/db';
import { dataPathSql, filterSql, storedEntity } from '../filter/filter-sql';
import { shapeField } from '../field-index/field-hash';
import { indexedField } from '../field-index/scans';
import { type Built, Sql } from '../sql';
import { entityJsonSql, firstRowsSql } from './entity-json';
import type { Merge, QueryPlan, SortField, SortPlan } from './plan-query';
import { newestScanSql, scansSql, segmentsSql, typeSql } from './scan-sql';

/**
 * No rows if the type does not exist. An empty page is one row in which `json`, `key`
 * and `pos` are null.
 */
export const sortedRow = {
  no: column.int4,
  json: column.text.nullable,
  key: column.text.nullable,
  pos: column.text.nullable,
};

const mergedRow = {
  ...sortedRow,
  /** The entry up to which the index was read. Null if it was read to its end. */
  boundary_key: column.text.nullable,
  boundary_pos: column.text.nullable,
};
export type MergedRow = RowOf<typeof mergedRow>;

/**
 * The statement of a sorted page that merges the index entries of several segments. `heads` are the
 * entries, and `boundary` is the first one behind which a segment may have unread entries: up to it
 * the merged order is that of all entities. Each entry is checked against its entity until the page
 * is full. The newest entities have no entries, so those that match are sorted here, and the first
 * ones, as many as a page has rows, are merged too.
 */
export function mergeSql(
  plan: QueryPlan,
  { field, keys }: SortPlan,
  merge: Merge,
): Built<MergedRow> {
  const sql = new Sql();
  const { after, direction, positions } = plan;
  const start =
    after === null
      ? 'true'
      : `(f.value, f.pos) ${direction === 'desc' ? '<' : '>'} (${sql.param(Buffer.from(after.key!, 'hex'), 'bytea')}, ${sql.param(after.pos, 'bigint')})`;
  // `+ 0` keeps the condition out of the index scan: see `scansSql`.
  const within = `f.pos + 0 between ${sql.param(String(positions.lo), 'bigint')} and ${sql.param(String(positions.hi), 'bigint')}`;
  // Filters on the sorted field bound the scan.
  const between =
    keys === null
      ? 'true'
      : `f.value >= ${sql.param(keys.lo, 'bytea')} and f.value < ${sql.param(keys.hi, 'bytea')}`;
  const order = (alias: string): string => `${alias}.value ${direction}, ${alias}.pos ${direction}`;
  const isEntry = `f.tenant = ${sql.tenant} and f.part = b.part and f.segment = s and f.field = ${sql.param(indexedField(field), 'int')} and ${between} and ${start} and ${within}`;
  const key = keySql(field, sql);
  const matches = filterSql(plan.clauses, storedEntity('e'), sql);
  const newest = newestScanSql(positions, sql);
  const heads =
    merge === 'matching'
      ? matchingHeads(plan, isEntry, order, sql)
      : segmentHeads(plan, merge, isEntry, order, sql);
  const ctes = [
    typeSql(plan, sql),
    segmentsSql(positions, sql),
    ...heads,
    // Entities that are not fully indexed may lack their entry, so it is computed here. The union
    // removes duplicates.
    `unindexed as (select f.value, f.pos from b cross join lateral generate_series(b.lo, b.hi) s
      cross join lateral (select f.pos from entity_fields f
        where f.tenant = ${sql.tenant} and f.part = b.part and f.segment = s and f.field = ${shapeField} and f.value = '\\x01' and ${within} offset 0) o
      cross join lateral (select ${key} as value, e.pos from entities e
        where e.tenant = ${sql.tenant} and e.part = b.part and e.pos = o.pos) f
      where exists (select from entity_shapes x
        where x.tenant = ${sql.tenant} and x.type_no = b.no and x.shape = '\\x01') and f.value is not null and ${start})`,
    // The boundary may be the first entry of a segment that was not read, and the next statement
    // starts behind it.
    `newest as (select f.value, f.pos from t cross join lateral (select ${key} as value, e.pos from entities e
        where ${newest.within} and ${matches} offset 0) f
      where f.value is not null and ${start} order by ${order('f')} limit ${sql.param(plan.limit + 1, 'int')})`,
    `entries as (select value, pos from heads union select value, pos from unindexed union select value, pos from boundary
      union select value, pos from newest)`,
    `merged as (select f.value, f.pos from entries f
      where not exists (select from boundary) or (f.value, f.pos) ${direction === 'desc' ? '>=' : '<='} (select boundary.value, boundary.pos from boundary)
      order by ${order('f')} offset 0)`,
    `page as (select e.json, m.value as key, m.pos from merged m cross join t cross join lateral
      (select ${entityJsonSql('e', plan.type, plan.masks, sql)} as json from entities e
       where e.tenant = ${sql.tenant} and e.part = t.part and e.pos = m.pos and ${key} = m.value and ${matches} offset 0) e
      limit ${sql.param(plan.limit + 1, 'int')})`,
  ];
  const inOrder = `order by page.key ${direction}, page.pos ${direction}`;
  const text = `with ${ctes.join(',\n')}
    select t.no, page.json, page.key, page.pos, encode(boundary.value, 'hex') as boundary_key, boundary.pos::text as boundary_pos
    from t left join boundary on true left join
      (select json, encode(key, 'hex') as key, pos::text from ${firstRowsSql('page', 'key, pos', plan.maxBytes, sql)} page ${inOrder}) page on true`;
  return sql.build('query-merged', text, mergedRow, { isLong: true });
}

type OrderSql = (alias: string) => string;

/**
 * The first entries of the segments with the least first entries. The rows of a page come from at
 * most as many segments.
 */
function segmentHeads(
  plan: QueryPlan,
  merge: Exclude<Merge, 'matching'>,
  isEntry: string,
  order: OrderSql,
  sql: Sql,
): string[] {
  const count = plan.limit + 1;
  const depth = sql.param(merge === 'deep' ? 2_000 : count, 'int');
  const width = sql.param(merge === 'all' ? 1_000_000 : merge === 'deep' ? 4 : count, 'int');
  return [
    `firsts as materialized (select s, f.value, f.pos from b cross join lateral generate_series(b.lo, b.hi) s
      cross join lateral (select f.value, f.pos from entity_fields f where ${isEntry} order by ${order('f')} limit 1) f
      order by ${order('f')} limit ${width} + 1)`,
    `heads as materialized (select f.* from b cross join (select s from firsts order by ${order('firsts')} limit ${width}) s
      cross join lateral (select f.*, row_number() over () as depth from (select f.value, f.pos from entity_fields f
        where ${isEntry} order by ${order('f')} limit ${depth}) f offset 0) f)`,
    `boundary as materialized (select value, pos from (
        select value, pos from heads where depth = ${depth}
        union all (select value, pos from firsts order by ${order('firsts')} offset ${width})) c
      order by ${order('c')} limit 1)`,
  ];
}

/** Maximum number of matching entries that one statement checks. */
const maxMatched = 2_000;

/**
 * The first entries of the entities that the scans find. Reads all of their entries, so it is the
 * last merge to try.
 */
function matchingHeads(plan: QueryPlan, isEntry: string, order: OrderSql, sql: Sql): string[] {
  const scans = scansSql(plan.scans, plan.positions, sql);
  const maxParam = sql.param(maxMatched, 'int');
  return [
    ...scans.tables,
    `heads as materialized (select f.value, f.pos from b cross join lateral generate_series(b.lo, b.hi) s
      cross join lateral (select c.pos, string_agg(c.value, '') as value
        from (select c.pos, c.scan, null::bytea as value from (${scans.entries}) c
          union all select f.pos, null, f.value from entity_fields f where ${isEntry}) c
        group by c.pos having ${scans.isFound('c.scan')} and bool_or(c.scan is not null) and bool_or(c.value is not null) offset 0) f
      order by ${order('f')} limit ${maxParam})`,
    `boundary as materialized (select value, pos from heads order by ${order('heads')} offset ${maxParam} - 1)`,
  ];
}

/** SQL of the index key of a field of the entity `e`. */
export const keySql = (field: SortField, sql: Sql): string =>
  `entity_index_key(${field.kind === 'data' ? dataPathSql('e.data', field.path, sql) : 'to_jsonb(e.updated_at)'})`;
