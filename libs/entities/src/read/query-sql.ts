// Step 3 of a query (parse → plan → SQL → run → page): builds its statements. `scan-sql`
// reads the index, `merge-index-sql` sorts by merging, and `filter/filter-sql` is the exact
// check of each entity.
import { type RowOf, column } from '@parley/db';
import { filterSql, storedEntity } from '../filter/filter-sql';
import { updatedAtField } from '../field-index/field-hash';
import { type Built, Sql } from '../sql';
import type { PageStart } from './cursor';
import { entityJsonSql, firstRowsSql, rowSeparatorSql } from './entity-json';
import { keySql, sortedRow } from './merge-index-sql';
import type { Direction, QueryPlan, SortPlan } from './plan-query';
import { newestScanSql, positionScanSql, scansSql, segmentsSql, typeSql } from './scan-sql';

/** The statement always returns one row. `no` is null if the type does not exist. */
const pageRow = {
  no: column.int4.nullable,
  /** JSON texts of the entities of the page, joined by `rowSeparator`. */
  items: column.text.nullable,
  /** Position of the last entity of the page. */
  last: column.text.nullable,
  hasMore: column.bool,
  /**
   * Whether an entity is too large for the statement of small ones, whose page is then incomplete.
   */
  isLarge: column.bool,
};

/**
 * Larger stored values, which PostgreSQL may have compressed, are not even read by the statement
 * of small entities.
 */
const maxSmallStored = 16_384;

/**
 * The statement of a page in the order of creation. It reads a bounded number of index entries for
 * any filter. The one for small entities, which are usual, does not add up their sizes.
 */
export function pageSql(
  plan: QueryPlan,
  size: 'small' | 'any' = 'small',
): Built<RowOf<typeof pageRow>> {
  const sql = new Sql();
  const { direction, limit, maxBytes } = plan;
  const whole = entityJsonSql('e', plan.type, plan.masks, sql);
  const json =
    size === 'any'
      ? whole
      : `case when pg_column_size(e.data) <= ${maxSmallStored} then ${whole} end`;
  const ctes = matchesSql(plan, `${json} as json, e.pos`, limit + 1, sql);
  if (size === 'small') {
    const limitParam = sql.param(limit, 'int');
    // Entities up to this size fit in any page.
    const maxSmall = sql.param(Math.floor(maxBytes / 102), 'int');
    const text = `with ${ctes.join(',\n')}
    select (select no from t) as no, string_agg(json, ${rowSeparatorSql} order by pos ${direction}) filter (where octet_length(json) <= ${maxSmall}) as items,
      (array_agg(pos order by pos ${direction}))[least(count(*), ${limitParam})]::text as last, count(*) > ${limitParam} as "hasMore",
      coalesce(bool_or(json is null or octet_length(json) > ${maxSmall}), false) as "isLarge"
    from page`;
    return sql.build('query-page', text, pageRow, { isLong: plan.clauses.length > 0 });
  }
  // The rows of `page` are in order, so the window needs no sort.
  const text = `with ${ctes.join(',\n')}
    select (select no from t) as no, string_agg(json, ${rowSeparatorSql} order by pos ${direction}) filter (where shown) as items,
      ${direction === 'desc' ? 'min' : 'max'}(pos) filter (where shown)::text as last, coalesce(not bool_and(shown), false) as "hasMore", false as "isLarge"
    from (select json, pos, n <= ${sql.param(limit, 'int')} and (n = 1 or bytes <= ${sql.param(maxBytes, 'int')}) as shown
      from (select json, pos, row_number() over w as n, sum(octet_length(json)) over w as bytes from ${firstRowsSql('page', 'pos', maxBytes, sql)} p
        window w as (rows unbounded preceding)) p) p`;
  return sql.build('query-large-page', text, pageRow, { isLong: true });
}

/**
 * The CTEs of a plan in the order of creation. The last one, `page`, has these columns of up to
 * `limit` matching entities `e`.
 */
function matchesSql(
  plan: Pick<
    QueryPlan,
    'scope' | 'type' | 'deleted' | 'clauses' | 'direction' | 'listed' | 'positions' | 'scans'
  >,
  columns: string,
  limit: number,
  sql: Sql,
): string[] {
  const { direction, listed, positions, scans } = plan;
  const maxFound = sql.param(limit, 'int');
  const matches = filterSql(plan.clauses, storedEntity('e'), sql);
  const type = typeSql(plan, sql);
  if (listed !== null) {
    return [
      type,
      `page as (select ${columns} from t cross join entities e
        where e.tenant = ${sql.tenant} and e.part = t.part and e.pos = any(${sql.param(listed.map(String), 'bigint[]')}) and ${matches}
          and e.pos between ${sql.param(String(positions.lo), 'bigint')} and ${sql.param(String(positions.hi), 'bigint')}
        order by e.pos ${direction} limit ${maxFound})`,
    ];
  }
  if (scans.length === 0) {
    const scan = positionScanSql('e', 't.part', positions, sql);
    return [
      type,
      `page as (select e.* from t cross join lateral (select ${columns} from entities e
        where ${scan.within} and ${matches} order by ${scan.order(direction)} limit ${maxFound}) e)`,
    ];
  }
  const { tables, inSegment } = scansSql(scans, positions, sql);
  const series = direction === 'desc' ? 'b.hi, b.lo, -1' : 'b.lo, b.hi, 1';
  const newest = newestScanSql(positions, sql);
  const sources = [
    `select e.* from t cross join lateral (select ${columns} from entities e
      where ${newest.within} and ${matches} order by ${newest.order(direction)} limit ${maxFound}) e`,
    `select e.* from b cross join lateral generate_series(${series}) s
      cross join lateral (${inSegment(direction)} offset 0) c
      cross join lateral (select ${columns} from entities e
        where e.tenant = ${sql.tenant} and e.part = b.part and e.pos = c.pos and ${matches} offset 0) e`,
  ];
  // PostgreSQL reads the second one only if the first one does not fill the page.
  const [first, second] = direction === 'desc' ? sources : sources.toReversed();
  return [
    type,
    segmentsSql(positions, sql),
    ...tables,
    `page as (select * from ((${first}) union all (${second})) e limit ${maxFound})`,
  ];
}

const countRow = { count: column.int4 };

/** The statement that counts the matching entities, up to `max`. */
export function countSql(plan: QueryPlan, max: number): Built<RowOf<typeof countRow>> {
  const sql = new Sql();
  const text = `with ${matchesSql(plan, 'e.pos', max, sql).join(',\n')} select count(*)::int as count from page`;
  return sql.build('count-entities', text, countRow, { isLong: true });
}

/**
 * Minimum number of segments in the sample; the step is rounded down, so up to twice
 * as many are read.
 */
const sampledSegments = 16;

/**
 * The statement that estimates the number of matching entities: those of some segments, which have
 * similar sizes, represent all indexed entities, and the newest ones are counted.
 */
export function estimateSql(plan: QueryPlan): Built<RowOf<typeof countRow>> {
  const sql = new Sql();
  const { positions, scans } = plan;
  // Every entity has an index entry for `updatedAt`.
  const all = `select f.pos from entity_fields f
    where f.tenant = ${sql.tenant} and f.part = b.part and f.segment = s and f.field = ${updatedAtField}`;
  const { tables, inSegment } =
    scans.length === 0 ? { tables: [], inSegment: () => all } : scansSql(scans, positions, sql);
  const within = `e.pos between ${sql.param(String(positions.lo), 'bigint')} and ${sql.param(String(positions.hi), 'bigint')}`;
  const matches = filterSql(plan.clauses, storedEntity('e'), sql);
  const text = `with ${[typeSql(plan, sql), segmentsSql(positions, sql), ...tables].join(',\n')},
    sample as materialized (select s from b
      cross join lateral generate_series(b.lo, b.hi, greatest(1, (b.hi - b.lo + 1) / ${sampledSegments})) s)
    select (count(*) * coalesce((select (hi - lo + 1)::float from b), 0) / greatest(1, (select count(*) from sample)))::int
      + (select count(*) from t cross join lateral (select from entities e where ${newestScanSql(positions, sql).within} and ${matches} offset 0) e)::int as count
    from b cross join sample cross join lateral (${inSegment('asc')} offset 0) c
      cross join lateral (select from entities e where e.tenant = ${sql.tenant} and e.part = b.part and e.pos = c.pos
        and ${within} and ${matches} offset 0) e`;
  return sql.build('estimate-entities', text, countRow, { isLong: true });
}

/**
 * Maximum number of matches of the scans that are fetched and sorted. Merging is faster for more
 * (docs/adr/0003-field-indexes.md).
 */
const maxCollected = 6_500;

const collectedRow = {
  ...sortedRow,
  /** False if the scans found more than `maxCollected` entities. The page is then incomplete. */
  complete: column.bool,
};

/**
 * The statement of a sorted page that fetches and sorts everything that the scans find, up to
 * `maxCollected` entities.
 */
export function collectSql(
  plan: QueryPlan,
  { field }: SortPlan,
): Built<RowOf<typeof collectedRow>> {
  const sql = new Sql();
  const { after, direction, positions } = plan;
  const { tables, inSegment } = scansSql(plan.scans, positions, sql);
  const maxParam = sql.param(maxCollected, 'int');
  const matches = filterSql(plan.clauses, storedEntity('e'), sql);
  const ctes = [
    typeSql(plan, sql),
    segmentsSql(positions, sql),
    ...tables,
    `found as materialized (select pos from (
        (select e.pos from t cross join lateral (select e.pos from entities e where ${newestScanSql(positions, sql).within} and ${matches} offset 0) e)
        union all (select c.pos from b cross join lateral generate_series(b.lo, b.hi) s cross join lateral (${inSegment(direction)} offset 0) c)) f
      limit ${maxParam} + 1)`,
    `sorted as (select e.*, ${keySql(field, sql)} as key from found cross join t
      cross join lateral (select * from entities e where e.tenant = ${sql.tenant} and e.part = t.part and e.pos = found.pos offset 0) e
      where (select count(*) from found) <= ${maxParam} and ${matches})`,
    `page as (select * from sorted where ${afterSql(after, direction, sql)}
      order by key is null, key ${direction}, pos ${direction} limit ${sql.param(plan.limit + 1, 'int')})`,
  ];
  const text = `with ${ctes.join(',\n')}
    select t.no, page.json, page.key, page.pos, (select count(*) from found) <= ${maxParam} as complete from t left join
      (select json, encode(key, 'hex') as key, pos::text from ${firstRowsSql(
        `(select ${entityJsonSql('page', plan.type, plan.masks, sql)} as json, key, pos from page
          order by page.key is null, page.key ${direction}, page.pos ${direction}) page`,
        'key, pos',
        plan.maxBytes,
        sql,
      )} page) page on true`;
  return sql.build('query-collected', text, collectedRow, { isLong: true });
}

function afterSql(after: PageStart | null, direction: Direction, sql: Sql): string {
  if (after === null) return 'true';
  const beyond = direction === 'desc' ? '<' : '>';
  const pos = sql.param(after.pos, 'bigint');
  if (after.key === null) return `key is null and pos ${beyond} ${pos}`;
  return `(key is null or (key, pos) ${beyond} (${sql.param(Buffer.from(after.key, 'hex'), 'bytea')}, ${pos}))`;
}
