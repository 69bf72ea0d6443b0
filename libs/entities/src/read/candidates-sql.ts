import type { Scope } from '@parley/contracts';
import { shapeField } from '../index/field-hash';
import type { Cover } from '../index/cover';
import type { PosRange } from '../index/pos';
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
export function segmentsSql({ lo, hi }: PosRange, sql: Sql): string {
  const from = sql.param(String(lo), 'bigint');
  const to = sql.param(String(hi), 'bigint');
  const end = (direction: Direction): string =>
    `(select e.segment from entities e where e.part = t.part and e.pos between ${from} and ${to} order by e.pos ${direction} limit 1)`;
  return `b as materialized (select t.no, t.part, ${end('asc')} as lo, ${end('desc')} as hi from t)`;
}

/** `iv`: the covers' intervals, with the number of their cover; entities that lack a field are found by their shape. */
export function intervalsSql(covers: readonly Cover[], sql: Sql): string {
  const rows = covers.flatMap(({ intervals }, cover) => intervals.map((interval) => ({ cover, ...interval })));
  const parts = rows.some(({ part }) => part !== undefined)
    ? `array[${rows.map(({ part }) => (part === undefined ? 'null' : sql.param(part, 'bytea'))).join(', ')}]::bytea[]`
    : 'null::bytea[]';
  const given = `select * from unnest(${sql.param(
    rows.map(({ cover }) => cover),
    'int[]',
  )}, ${sql.param(
    rows.map(({ field }) => field),
    'int[]',
  )},
    ${sql.param(byteaArray(rows.map(({ lo }) => lo)), 'bytea[]')}, ${sql.param(byteaArray(rows.map(({ hi }) => hi)), 'bytea[]')}, ${parts}) as iv(cover, field, lo, hi, part)`;
  const absent = covers.flatMap((cover, index) => cover.absent.map((field) => ({ cover: index, field })));
  const everyCover = sql.param(covers.length, 'int');
  // Entities that are not fully indexed may belong to any cover.
  const overflow = `select c, ${shapeField}, s.shape, s.shape || '\\x00', null::bytea
    from entity_shapes s, t, generate_series(0, ${everyCover} - 1) c where s.type_no = t.no and s.shape = '\\x01'`;
  if (absent.length === 0) return `iv as materialized (${given} union all ${overflow})`;
  const lacking = `select a.cover, ${shapeField}, s.shape, s.shape || '\\x00', null::bytea
    from entity_shapes s, t, unnest(${sql.param(
      absent.map(({ cover }) => cover),
      'int[]',
    )}, ${sql.param(
      absent.map(({ field }) => field),
      'int[]',
    )}) a(cover, field)
    where s.type_no = t.no and s.shape <> '\\x01' and not s.fields @> array[a.field]`;
  return `iv as materialized (${given} union all ${overflow} union all ${lacking})`;
}

/** Entries of one interval in one segment, straight from the index. */
const entriesSql = (segment: string, range: string): string =>
  `(select f.pos from entity_fields f
    where f.part = b.part and f.segment = ${segment} and f.field = iv.field and f.value >= iv.lo and f.value < iv.hi ${range}
      and (iv.part is null or position(iv.part in f.value) > 0 or length(f.value) > 100) offset 0)`;

/** Of the least numerous cover; from this many in the looked-at segments on, a second one is intersected. */
const fewEntries = 32;
const sampleSize = 250;

/**
 * `chosen`: with several covers, which to read. PostgreSQL knows nothing of values inside JSON, so the index is asked:
 * a few entries of each cover are counted in four segments.
 */
export function chosenSql(covers: number, sql: Sql): string {
  return `sampled as materialized (
      select iv.cover, count(*) as entries
      from b cross join lateral (select distinct b.lo + (b.hi - b.lo) * x / 3 as segment from generate_series(0, 3) x) s
      cross join iv cross join lateral (select 1 from ${entriesSql('s.segment', '')} f limit ${sampleSize}) f
      group by iv.cover),
    ranked as (select c, coalesce(entries, 0) as entries, row_number() over (order by coalesce(entries, 0)) as rank
      from generate_series(0, ${sql.param(covers, 'int')} - 1) c left join sampled on sampled.cover = c),
    chosen as materialized (select array_agg(c) as covers, count(*) as need
      from ranked where rank = 1 or (rank = 2 and (select entries from ranked where rank = 1) > ${fewEntries}))`;
}

/** The places that the covers give in segment `s`, in order. */
export function candidatesSql(covers: number, { lo, hi }: PosRange, direction: Direction, sql: Sql): string {
  const range = `and f.pos between ${sql.param(String(lo), 'bigint')} and ${sql.param(String(hi), 'bigint')}`;
  if (covers === 1)
    return `select distinct f.pos from iv cross join lateral ${entriesSql('s', range)} f order by f.pos ${direction}`;
  return `select f.pos from iv cross join lateral ${entriesSql('s', range)} f
    where iv.cover = any((select covers from chosen)::int[])
    group by f.pos having (select need from chosen) = 1 or min(iv.cover) <> max(iv.cover) order by f.pos ${direction}`;
}
