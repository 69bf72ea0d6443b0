// Step 3 of a query (parse → plan → SQL → run → page): the SQL that reads the field index, for
// `query-sql`, `merge-index-sql` and search. Aliases: `t` is the type, `b` its first and last
// segment, `s` a segment, `f` an index entry, `e` an entity.
import { shapeField } from '../field-index/field-hash';
import { isPoint } from '../field-index/key-ranges';
import type { PositionRange } from '../field-index/position';
import type { FieldRange, Scan } from '../field-index/scans';
import type { Sql } from '../sql';
import type { Direction, QueryRequest } from './plan-query';

/**
 * CTE `t`: the number and part of the type, and where its index ends. No row if the
 * type does not exist.
 */
export function typeSql(
  { scope, type, deleted }: Pick<QueryRequest, 'scope' | 'type' | 'deleted'>,
  sql: Sql,
): string {
  return `t as (select no, ${deleted ? '-no' : 'no'} as part, indexed_to from entity_types
    where tenant = ${sql.tenant} and environment = ${sql.param(scope.environment, '"Environment"')}
      and slug = ${sql.param(type, 'text')})`;
}

/**
 * CTE `b`: the first and last segment with indexed entities between two positions. Segments follow
 * the order of creation, so a scan from either end finds entities in that order and can stop when
 * the page is full (docs/adr/0003-field-indexes.md).
 */
export function segmentsSql({ lo, hi }: PositionRange, sql: Sql): string {
  const indexed = { lo: posSql(lo, sql), hi: `least(${posSql(hi, sql)}, t.indexed_to - 1)` };
  const scan = scanBetweenSql('e', 't.part', indexed, sql);
  const end = (direction: Direction): string =>
    `(select e.segment from entities e where ${scan.within} order by ${scan.order(direction)} limit 1)`;
  return `b as materialized (select t.no, t.part, ${end('asc')} as lo, ${end('desc')} as hi from t)`;
}

/**
 * A scan of the entities of a part in the order of creation. Part and position are compared as a
 * row: for `part = …` PostgreSQL would estimate the entities of an average tenant, and read and
 * sort all entities of a large one.
 */
export const positionScanSql = (
  alias: string,
  part: string,
  { lo, hi }: PositionRange,
  sql: Sql,
): PositionScan => scanBetweenSql(alias, part, { lo: posSql(lo, sql), hi: posSql(hi, sql) }, sql);

/**
 * A scan of the newest entities between two positions, which have no index entries yet. `t`
 * must be in scope.
 */
export const newestScanSql = ({ lo, hi }: PositionRange, sql: Sql): PositionScan =>
  scanBetweenSql(
    'e',
    't.part',
    { lo: `greatest(${posSql(lo, sql)}, t.indexed_to)`, hi: posSql(hi, sql) },
    sql,
  );

interface PositionScan {
  within: string;
  order: (direction: Direction) => string;
}

const posSql = (pos: bigint, sql: Sql): string => sql.param(String(pos), 'bigint');

function scanBetweenSql(
  alias: string,
  part: string,
  { lo, hi }: { lo: string; hi: string },
  sql: Sql,
): PositionScan {
  const position = `(${alias}.part, ${alias}.pos)`;
  return {
    within: `${alias}.tenant = ${sql.tenant} and ${position} >= (${part}, ${lo}) and ${position} <= (${part}, ${hi})`,
    order: (direction) => `${alias}.part ${direction}, ${alias}.pos ${direction}`,
  };
}

/**
 * If the sample of the rarest scan has more entries than this, the scan is intersected with
 * the second rarest.
 */
const fewEntries = 32;
/** Maximum number of entries that are counted of each scan and sampled segment. */
const sampleSize = 250;

/** SQL fragments that read the entries of scans. */
export interface ScansSql {
  /** Common table expressions, after those of `typeSql` and `segmentsSql`. */
  tables: string[];
  /** Query for the positions that the scans find in segment `s`, in order. */
  inSegment: (direction: Direction) => string;
  /** Query for the entries in segment `s`, as (pos, scan). */
  entries: string;
  /** Aggregate condition over the entries of one position: whether all chosen scans find it. */
  isFound: (scan: string) => string;
}

/**
 * Builds the SQL of scans. Single keys and ranges are separate queries, because PostgreSQL finds
 * many single keys in one index descent. Of several scans, the one or two with the fewest entries
 * are read. PostgreSQL has no statistics of values inside JSON, so the entries of each scan are
 * counted in a sample of four segments. `f.pos + 0` excludes the condition from the index scan:
 * behind a range of values it would make PostgreSQL look up every value of the range.
 */
export function scansSql(scans: readonly Scan[], { lo, hi }: PositionRange, sql: Sql): ScansSql {
  const points = pointsSql(scans, sql);
  const ranges = rangesSql(scans, sql);
  const tables = [points, ...(ranges === null ? [] : [ranges])];
  const between = `between ${sql.param(String(lo), 'bigint')} and ${sql.param(String(hi), 'bigint')}`;
  const entriesIn = (segment: string, where: (scan: string) => string): string => {
    const of = `f.tenant = ${sql.tenant} and f.part = b.part and f.segment = ${segment}`;
    const single = `select f.pos, p.scan from points p cross join lateral (select f.pos from entity_fields f
      where ${of} and f.field = p.field and f.value = any(p.keys) and f.pos ${between} offset 0) f ${where('p.scan')}`;
    if (ranges === null) return single;
    return `${single} union all select f.pos, r.scan from ranges r cross join lateral (select f.pos from entity_fields f
      where ${of} and f.field = r.field and f.value >= r.lo and f.value < r.hi and f.pos + 0 ${between}
        and (r.substring is null or position(r.substring in f.value) > 0 or length(f.value) > 100) offset 0) f ${where('r.scan')}`;
  };
  if (scans.length === 1) {
    const entries = entriesIn('s', () => '');
    return {
      tables,
      entries,
      isFound: () => 'true',
      inSegment: (direction) =>
        `select distinct f.pos from (${entries}) f order by f.pos ${direction}`,
    };
  }
  tables.push(
    `sampled as materialized (
      select c, (select count(*) from b cross join lateral (select distinct b.lo + (b.hi - b.lo) * x / 3 as segment from generate_series(0, 3) x) s
        cross join lateral (select from (${entriesIn('s.segment', (scan) => `where ${scan} = c`)}) f limit ${sampleSize}) f) as entries
      from generate_series(0, ${sql.param(scans.length, 'int')} - 1) c)`,
    `ranked as (select c, entries, row_number() over (order by entries) as rank from sampled)`,
    `chosen as materialized (select array_agg(c) as scans, count(*) as need
      from ranked where rank = 1 or (rank = 2 and (select entries from ranked where rank = 1) > ${fewEntries}))`,
  );
  const entries = entriesIn(
    's',
    (scan) => `where ${scan} = any((select scans from chosen)::int[])`,
  );
  const isFound = (scan: string): string =>
    `case (select need from chosen) when 1 then max(${scan}) is not null else min(${scan}) <> max(${scan}) end`;
  // A segment without entries of one scan is skipped.
  const any = `(select count(*) from unnest((select scans from chosen)) c
    where exists (select from (${entriesIn('s', (scan) => `where ${scan} = c`)}) f)) = (select need from chosen)`;
  return {
    tables,
    entries,
    isFound,
    inSegment: (direction) =>
      `select f.pos from (${entries}) f where ${any} group by f.pos having ${isFound('f.scan')} order by f.pos ${direction}`,
  };
}

/**
 * CTE `points`: single keys by scan and field, including the shapes of entities that lack a field
 * or are not fully indexed.
 */
function pointsSql(scans: readonly Scan[], sql: Sql): string {
  const rows = rowsOf(scans, isPoint);
  const scan = sql.ints(rows.map((row) => row.scan));
  const field = sql.ints(rows.map((row) => row.field));
  const given = `select scan, field, array_agg(key) as keys from unnest(${scan}, ${field}, ${sql.byteas(rows.map(({ lo }) => lo))}) as p(scan, field, key) group by scan, field`;
  // Every scan finds the entities that are not fully indexed.
  const overflow = `select c, ${shapeField}, array[s.shape] from entity_shapes s, t, generate_series(0, ${sql.param(scans.length, 'int')} - 1) c
    where s.tenant = ${sql.tenant} and s.type_no = t.no and s.shape = '\\x01'`;
  const absent = scans.flatMap((scan, index) =>
    scan.absent.map((lacked) => ({ scan: index, field: lacked })),
  );
  if (absent.length === 0) return `points as materialized (${given} union all ${overflow})`;
  const lacking = `select a.scan, ${shapeField}, array_agg(s.shape) from entity_shapes s, t, unnest(${sql.ints(absent.map((row) => row.scan))}, ${sql.ints(absent.map((row) => row.field))}) a(scan, field)
    where s.tenant = ${sql.tenant} and s.type_no = t.no and s.shape <> '\\x01' and not s.fields @> array[a.field] group by a.scan, a.field`;
  return `points as materialized (${given} union all ${overflow} union all ${lacking})`;
}

/** CTE `ranges`: key ranges by scan. Null if there are none. */
function rangesSql(scans: readonly Scan[], sql: Sql): string | null {
  const rows = rowsOf(scans, (range) => !isPoint(range));
  if (rows.length === 0) return null;
  const substrings = rows.some(({ substring }) => substring !== undefined)
    ? `array[${rows.map(({ substring }) => (substring === undefined ? 'null' : sql.param(substring, 'bytea'))).join(', ')}]::bytea[]`
    : 'null::bytea[]';
  return `ranges as materialized (select * from unnest(${sql.ints(rows.map(({ scan }) => scan))}, ${sql.ints(rows.map(({ field }) => field))},
    ${sql.byteas(rows.map(({ lo }) => lo))}, ${sql.byteas(rows.map(({ hi }) => hi))}, ${substrings}) as r(scan, field, lo, hi, substring))`;
}

/** The key ranges that satisfy a condition, each with the number of its scan. */
const rowsOf = (
  scans: readonly Scan[],
  matches: (range: FieldRange) => boolean,
): (FieldRange & { scan: number })[] =>
  scans.flatMap(({ keyRanges }, scan) =>
    keyRanges.filter(matches).map((range) => ({ scan, ...range })),
  );
