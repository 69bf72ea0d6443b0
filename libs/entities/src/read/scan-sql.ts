import type { Scope } from '@parley/contracts';
import { type Scan, isPoint } from '../field-index/scans';
import { shapeField } from '../field-index/field-hash';
import type { PositionRange } from '../field-index/position';
import { type Sql, byteaArray } from '../sql';

export type Direction = 'asc' | 'desc';

/** `t`: the type, or no row when there is none; its part, with the deleted ones apart. Starts every read. */
export function typeSql(scope: Scope, type: string, deleted: boolean, sql: Sql): string {
  return `t as (select no, ${deleted ? '-no' : 'no'} as part from entity_types
    where organization_id = ${sql.param(scope.organizationId, 'text')}
      and environment = ${sql.param(scope.environment, '"Environment"')} and slug = ${sql.param(type, 'text')})`;
}

/**
 * `b`: the first and last segment that hold entities between two places. Segments follow the order of creation, so a
 * walk over them from one end gives entities in that order and may stop as soon as a page is full (docs/adr/0003).
 */
export function segmentsSql(range: PositionRange, sql: Sql): string {
  const walk = positionScanSql('e', 't.part', range, sql);
  const end = (direction: Direction): string =>
    `(select e.segment from entities e where ${walk.within} order by ${walk.order(direction)} limit 1)`;
  return `b as materialized (select t.no, t.part, ${end('asc')} as lo, ${end('desc')} as hi from t)`;
}

/**
 * A walk over a part's entities in the order of creation. Part and place are compared together: from `part = …` PostgreSQL
 * would expect as many entities as a tenant has on average, and fetch and sort all of a large one's.
 */
export function positionScanSql(
  alias: string,
  part: string,
  { lo, hi }: PositionRange,
  sql: Sql,
): { within: string; order: (direction: Direction) => string } {
  const bound = (pos: bigint): string => `(${part}, ${sql.param(String(pos), 'bigint')})`;
  const place = `(${alias}.part, ${alias}.pos)`;
  return {
    within: `${place} >= ${bound(lo)} and ${place} <= ${bound(hi)}`,
    order: (direction) => `${alias}.part ${direction}, ${alias}.pos ${direction}`,
  };
}

/** Of the least numerous scan; from this many in the looked-at segments on, a second one is intersected. */
const fewEntries = 32;
const sampleSize = 250;

/** Where the entries of some scans are found, as parts of one statement. */
export interface Candidates {
  /** Common table expressions, after those of `typeSql` and `segmentsSql`. */
  tables: string[];
  /** The places in segment `s`, in order. */
  inSegment: (direction: Direction) => string;
  /** Entries in segment `s` as (pos, scan), and when an entity's scans are enough. */
  entries: string;
  enough: (scan: string) => string;
}

/**
 * Turns scans into SQL. `f.pos + 0`: as an index condition behind a range of values it would make PostgreSQL look up
 * every single value of the range. Single keys and key ranges are looked up apart, since PostgreSQL finds many keys in one descent.
 * With several scans one or two of them are read, the least numerous: PostgreSQL knows nothing of values inside JSON,
 * so a few entries of each are counted in four segments.
 */
export function candidatesFor(scans: readonly Scan[], { lo, hi }: PositionRange, sql: Sql): Candidates {
  const points = pointsSql(scans, sql);
  const ranges = rangesSql(scans, sql);
  const tables = [points, ...(ranges === null ? [] : [ranges])];
  const between = `between ${sql.param(String(lo), 'bigint')} and ${sql.param(String(hi), 'bigint')}`;
  const entriesIn = (segment: string, where: string): string => {
    const of = `f.part = b.part and f.segment = ${segment}`;
    const single = `select f.pos, p.scan from points p cross join lateral (select f.pos from entity_fields f
      where ${of} and f.field = p.field and f.value = any(p.keys) and f.pos ${between} offset 0) f ${where.replaceAll('SCAN', 'p.scan')}`;
    if (ranges === null) return single;
    return `${single} union all select f.pos, r.scan from ranges r cross join lateral (select f.pos from entity_fields f
      where ${of} and f.field = r.field and f.value >= r.lo and f.value < r.hi and f.pos + 0 ${between}
        and (r.substring is null or position(r.substring in f.value) > 0 or length(f.value) > 100) offset 0) f ${where.replaceAll('SCAN', 'r.scan')}`;
  };
  if (scans.length === 1) {
    const entries = entriesIn('s', '');
    return {
      tables,
      entries,
      enough: () => 'true',
      inSegment: (direction) => `select distinct f.pos from (${entries}) f order by f.pos ${direction}`,
    };
  }
  tables.push(
    `sampled as materialized (
      select c, (select count(*) from b cross join lateral (select distinct b.lo + (b.hi - b.lo) * x / 3 as segment from generate_series(0, 3) x) s
        cross join lateral (select from (${entriesIn('s.segment', 'where SCAN = c')}) f limit ${sampleSize}) f) as entries
      from generate_series(0, ${sql.param(scans.length, 'int')} - 1) c)`,
    `ranked as (select c, entries, row_number() over (order by entries) as rank from sampled)`,
    `chosen as materialized (select array_agg(c) as scans, count(*) as need
      from ranked where rank = 1 or (rank = 2 and (select entries from ranked where rank = 1) > ${fewEntries}))`,
  );
  const entries = entriesIn('s', 'where SCAN = any((select scans from chosen)::int[])');
  const enough = (scan: string): string =>
    `case (select need from chosen) when 1 then max(${scan}) is not null else min(${scan}) <> max(${scan}) end`;
  // A segment that has nothing of one scan need not be read for the other.
  const any = `(select count(*) from unnest((select scans from chosen)) c
    where exists (select from (${entriesIn('s', 'where SCAN = c')}) f)) = (select need from chosen)`;
  return {
    tables,
    entries,
    enough,
    inSegment: (direction) =>
      `select f.pos from (${entries}) f where ${any} group by f.pos having ${enough('f.scan')} order by f.pos ${direction}`,
  };
}

/** `points`: single keys by scan and field. Entities that lack a field, or that are not fully indexed, have such keys too. */
function pointsSql(scans: readonly Scan[], sql: Sql): string {
  const rows = scans.flatMap(({ keyRanges }, scan) =>
    keyRanges
      .filter((keyRange) => keyRange.substring === undefined && isPoint(keyRange))
      .map((one) => ({ scan, ...one })),
  );
  const given = `select scan, field, array_agg(key) as keys from unnest(${sql.param(
    rows.map(({ scan }) => scan),
    'int[]',
  )}, ${sql.param(
    rows.map(({ field }) => field),
    'int[]',
  )}, ${sql.param(byteaArray(rows.map(({ lo }) => lo)), 'bytea[]')}) as p(scan, field, key) group by scan, field`;
  // Entities that are not fully indexed may belong to any scan.
  const overflow = `select c, ${shapeField}, array[s.shape] from entity_shapes s, t, generate_series(0, ${sql.param(scans.length, 'int')} - 1) c
    where s.type_no = t.no and s.shape = '\\x01'`;
  const absent = scans.flatMap((scan, index) => scan.absent.map((field) => ({ scan: index, field })));
  if (absent.length === 0) return `points as materialized (${given} union all ${overflow})`;
  const lacking = `select a.scan, ${shapeField}, array_agg(s.shape) from entity_shapes s, t, unnest(${sql.param(
    absent.map(({ scan }) => scan),
    'int[]',
  )}, ${sql.param(
    absent.map(({ field }) => field),
    'int[]',
  )}) a(scan, field)
    where s.type_no = t.no and s.shape <> '\\x01' and not s.fields @> array[a.field] group by a.scan, a.field`;
  return `points as materialized (${given} union all ${overflow} union all ${lacking})`;
}

/** `ranges`: key ranges by scan; null when there are none. */
function rangesSql(scans: readonly Scan[], sql: Sql): string | null {
  const rows = scans.flatMap(({ keyRanges }, scan) =>
    keyRanges
      .filter((keyRange) => keyRange.substring !== undefined || !isPoint(keyRange))
      .map((one) => ({ scan, ...one })),
  );
  if (rows.length === 0) return null;
  const substrings = rows.some(({ substring }) => substring !== undefined)
    ? `array[${rows.map(({ substring }) => (substring === undefined ? 'null' : sql.param(substring, 'bytea'))).join(', ')}]::bytea[]`
    : 'null::bytea[]';
  return `ranges as materialized (select * from unnest(${sql.param(
    rows.map(({ scan }) => scan),
    'int[]',
  )}, ${sql.param(
    rows.map(({ field }) => field),
    'int[]',
  )},
    ${sql.param(byteaArray(rows.map(({ lo }) => lo)), 'bytea[]')}, ${sql.param(byteaArray(rows.map(({ hi }) => hi)), 'bytea[]')}, ${substrings}) as r(scan, field, lo, hi, substring))`;
}
