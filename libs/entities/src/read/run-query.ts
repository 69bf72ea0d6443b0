// Step 4 of a query (parse → plan → SQL → run → page): runs its statements until the page is full.
import type { Entity } from '@parley/contracts';
import type { Queryable, RowOf } from '@parley/db';
import { positionOfId } from '../field-index/position';
import type { PageStart } from './cursor';
import { rowSeparator } from './entity-json';
import { mergeSql, type sortedRow } from './merge-index-sql';
import { type QueryPlan, type SortPlan, planAbsent } from './plan-query';
import { collectSql, countSql, estimateSql, pageSql } from './query-sql';

export interface QueryPage {
  /** A JSON array of entities. */
  itemsJson: string;
  last: PageStart | null;
  hasMore: boolean;
}

/** Runs the statements of a plan. Null if the type does not exist. */
export async function runQuery(db: Queryable, plan: QueryPlan): Promise<QueryPage | null> {
  const { sort, limit } = plan;
  if (sort !== null) {
    const found = await sortedEntities(db, plan, sort);
    if (found === null) return null;
    const shown = fitting(found.slice(0, limit), plan.maxBytes);
    const itemsJson = `[${shown.map(({ json }) => json).join(rowSeparator)}]`;
    return { itemsJson, last: shown.at(-1) ?? null, hasMore: found.length > shown.length };
  }
  const { no, items, last, hasMore } = await pageRow(db, plan);
  if (no === null) return null;
  return {
    itemsJson: `[${items ?? ''}]`,
    last: last === null ? null : { key: null, pos: last },
    hasMore,
  };
}

async function pageRow(db: Queryable, plan: QueryPlan) {
  const { statement, values } = pageSql(plan);
  const row = (await db.query(plan.scope, statement, values)).rows[0]!;
  if (row.isLarge) {
    const large = pageSql(plan, 'any');
    return (await db.query(plan.scope, large.statement, large.values)).rows[0]!;
  }
  // The statement also returns the entity after the page.
  return row.hasMore
    ? { ...row, items: row.items!.slice(0, row.items!.lastIndexOf(rowSeparator)) }
    : row;
}

interface SortedEntity extends PageStart {
  json: string;
}

const entitiesOf = (rows: RowOf<typeof sortedRow>[]): SortedEntity[] =>
  rows.filter(({ json }) => json !== null) as SortedEntity[];

/** The first entities that fit in a page, at least one. An empty text does not. */
function fitting(found: SortedEntity[], maxBytes: number): SortedEntity[] {
  let bytes = 0;
  const end = found.findIndex(({ json }, index) => {
    bytes += json === '' ? Infinity : Buffer.byteLength(json);
    return index > 0 && bytes > maxBytes;
  });
  return end === -1 ? found : found.slice(0, end);
}

/**
 * Up to `limit` + 1 entities in the order of a field, or more than fit in a page. Entities without
 * the field follow all others.
 */
async function sortedEntities(
  db: Queryable,
  plan: QueryPlan,
  sort: SortPlan,
): Promise<SortedEntity[] | null> {
  if (sort.collects) {
    const { statement, values } = collectSql(plan, sort);
    const { rows } = await db.query(plan.scope, statement, values);
    if (rows[0] === undefined) return null;
    if (rows[0].complete) return entitiesOf(rows);
  }
  const count = plan.limit + 1;
  const found: SortedEntity[] = [];
  let { after } = plan;
  for (let round = 0; after?.key !== null; round += 1) {
    const merge = sort.merges[round] ?? sort.merges.at(-1)!;
    const missing = count - found.length;
    const limit = merge === 'matching' ? missing - 1 : plan.limit;
    const { statement, values } = mergeSql({ ...plan, after, limit }, sort, merge);
    const { rows } = await db.query(plan.scope, statement, values);
    const [first] = rows;
    if (first === undefined) return null;
    found.push(...entitiesOf(rows).slice(0, missing));
    if (found.length === count || fitting(found, plan.maxBytes).length < found.length) return found;
    if (first.boundary_key === null) break;
    after = { key: first.boundary_key, pos: first.boundary_pos! };
  }
  if (sort.field.kind !== 'data' || sort.keys !== null) return found;
  const missing = count - found.length;
  const { no, items, hasMore } = await pageRow(
    db,
    planAbsent(plan, sort.field, after?.key === null ? after : null, missing),
  );
  if (no === null) return null;
  const absent = items === null ? [] : items.split(rowSeparator).slice(0, missing);
  for (const json of absent)
    found.push({ json, key: null, pos: String(positionOfId((JSON.parse(json) as Entity).id)) });
  if (hasMore && absent.length < missing) found.push({ json: '', key: null, pos: '' });
  return found;
}

export const maxExactCount = 1_000_000;
/** Up to this number an estimate counts. */
const maxCountedForEstimate = 10_000;

/**
 * The number of all entities that match a plan. Null if an exact count would exceed
 * `maxExactCount`.
 */
export async function countMatches(
  db: Queryable,
  plan: QueryPlan,
  count: 'exact' | 'estimated',
): Promise<number | null> {
  const run = async ({ statement, values }: ReturnType<typeof countSql>) =>
    (await db.query(plan.scope, statement, values)).rows[0]!.count;
  const max = count === 'exact' ? maxExactCount : maxCountedForEstimate;
  const counted = await run(countSql(plan, max + 1));
  if (counted <= max) return counted;
  return count === 'exact' ? null : Math.max(counted, await run(estimateSql(plan)));
}
