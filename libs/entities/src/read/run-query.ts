import type { Entity } from '@parley/contracts';
import type { Queryable } from '@parley/db';
import { positionOfId } from '../field-index/position';
import type { PageStart } from './cursor';
import { rowSeparator } from './entity-json';
import { type QueryPlan, type SortPlan, planAbsent } from './query-plan';
import { type CollectedRow, type MergedRow, type PageRow, type SortedRow, querySql } from './query-sql';

export interface QueryPage {
  /** A JSON array of entities. */
  itemsJson: string;
  last: PageStart | null;
  hasMore: boolean;
}

/** Runs the statements of a plan; null when there is no such type. */
export async function runQuery(db: Queryable, plan: QueryPlan): Promise<QueryPage | null> {
  const { sort, limit } = plan;
  if (sort !== null) {
    const rows = await sortedRows(db, plan, sort);
    if (rows === null) return null;
    const shown = rows.slice(0, limit);
    const itemsJson = `[${shown.map(({ json }) => json).join(rowSeparator)}]`;
    return { itemsJson, last: shown.at(-1) ?? null, hasMore: rows.length > limit };
  }
  const { no, items, count, last } = await pageRow(db, plan);
  if (no === null) return null;
  const hasMore = count > limit;
  const shown = hasMore ? items?.slice(0, items.lastIndexOf(rowSeparator)) : items;
  return { itemsJson: `[${shown ?? ''}]`, last: last === null ? null : { key: null, pos: last }, hasMore };
}

const pageRow = async (db: Queryable, plan: QueryPlan): Promise<PageRow> =>
  (await db.raw<PageRow>(querySql(plan, 'page'))).rows[0]!;

/** Up to `limit` + 1 rows in order; entities that lack the field of the sort follow all others. */
async function sortedRows(db: Queryable, plan: QueryPlan, sort: SortPlan): Promise<SortedRow[] | null> {
  if (sort.collects) {
    const { rows } = await db.raw<CollectedRow>(querySql(plan, 'collect'));
    if (rows[0] === undefined) return null;
    if (rows[0].complete) return rows.filter(({ json }) => json !== null);
  }
  const most = plan.limit + 1;
  const found: SortedRow[] = [];
  let { after } = plan;
  for (let round = 0; after?.key !== null; round += 1) {
    const merge = sort.merges[round] ?? sort.merges.at(-1)!;
    const missing = most - found.length;
    const limit = merge === 'matching' ? missing - 1 : plan.limit;
    const { rows } = await db.raw<MergedRow>(querySql({ ...plan, after, limit }, merge));
    const [first] = rows;
    if (first === undefined) return null;
    found.push(...rows.filter(({ json }) => json !== null).slice(0, missing));
    if (found.length === most) return found;
    if (first.boundary_key === null) break;
    after = { key: first.boundary_key, pos: first.boundary_pos! };
  }
  if (sort.field.kind !== 'data' || sort.keys !== null) return found;
  const missing = most - found.length;
  const { no, items } = await pageRow(db, planAbsent(plan, sort.field, after?.key === null ? after : null, missing));
  if (no === null) return null;
  const absent = items === null ? [] : items.split(rowSeparator).slice(0, missing);
  for (const json of absent)
    found.push({ no, json, key: null, pos: String(positionOfId((JSON.parse(json) as Entity).id)) });
  return found;
}
