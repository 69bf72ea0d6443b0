import type { Scope } from '@parley/contracts';
import type { Mask } from '../access';
import type { Clause, Field } from '../filter/condition';
import { type KeyRange, boundsOf } from '../field-index/key-ranges';
import { type PositionRange, listedPositions, positionRangeOf } from '../field-index/position';
import { type Scan, indexedField, scansOf } from '../field-index/scans';
import type { PageStart } from './cursor';

export type Direction = 'asc' | 'desc';
export type SortField = Extract<Field, { kind: 'data' | 'updatedAt' }>;

/** A checked query with the scope and the masks of its caller's role. */
export interface QueryRequest {
  scope: Scope;
  type: string;
  /** Deleted entities have a part of the index of their own. */
  deleted: boolean;
  /** Every entity of the page is checked against these, whatever the index has found. */
  clauses: readonly Clause[];
  masks: readonly Mask[];
  /** Null: the order of creation. */
  sort: SortField | null;
  direction: Direction;
  after: PageStart | null;
  limit: number;
}

/** What is known of a query before its first statement (docs/adr/0003). */
export interface QueryPlan extends Omit<QueryRequest, 'sort'> {
  /** All matching entities lie here: by `createdAt` and `id`, and by the cursor in the order of creation. */
  positions: PositionRange;
  /** The positions of the entities that `id` lists; null when it lists none. */
  listed: bigint[] | null;
  /** Matching entities are found by all of these; without one, entities are scanned in the order of creation. */
  scans: readonly Scan[];
  sort: SortPlan | null;
}

export interface SortPlan {
  field: SortField;
  /** The keys of the field that its filters let through; null when they let through entities without the field. */
  keys: KeyRange | null;
  /** Whether all that the scans find is collected first: a page at once, unless it is too much. */
  collects: boolean;
  /** Merges to try in turn after that, the last one until the page is full or the index is read. */
  merges: readonly Merge[];
}

/**
 * Which entries of the sort's field a statement merges:
 * - `few`: of the segments that begin first, as many entries as a page has rows.
 * - `all`: the same of all segments, for values that have nothing to do with the order of creation.
 * - `deep`: a few segments to their end, for values that follow the order of creation.
 * - `matching`: of all segments, the entries of what the scans find.
 */
export type Merge = 'few' | 'all' | 'deep' | 'matching';

/** All that a query's statements are made from, in one pass over its clauses. */
export function planQuery(request: QueryRequest): QueryPlan {
  const { clauses, sort } = request;
  const positions = positionRangeOf(clauses);
  if (sort === null && request.after !== null) {
    const after = BigInt(request.after.pos);
    if (request.direction === 'desc' && after <= positions.hi) positions.hi = after - 1n;
    if (request.direction === 'asc' && after >= positions.lo) positions.lo = after + 1n;
  }
  const scans = scansOf(clauses);
  return {
    ...request,
    positions,
    listed: listedPositions(clauses),
    scans,
    sort: sort === null ? null : planSort(sort, scans),
  };
}

function planSort(field: SortField, scans: readonly Scan[]): SortPlan {
  const indexed = indexedField(field);
  const own = scans.find((scan) => scan.field === indexed);
  const keys = own === undefined || own.absent.length > 0 ? null : boundsOf(own.keyRanges);
  // One range of the field itself is read from its end, and without other filters there is nothing to collect.
  const collects = scans.length > (keys !== null && own!.keyRanges.length <= 1 ? 1 : 0);
  return { field, keys, collects, merges: collects ? ['few', 'all', 'deep', 'matching'] : ['few', 'all'] };
}

/** The entities that lack the field of a sort, which come last, in the order of creation. */
export function planAbsent(plan: QueryPlan, field: SortField, after: PageStart | null, limit: number): QueryPlan {
  const clauses: Clause[] = [...plan.clauses, [{ field, operator: '$exists', operand: false }]];
  return planQuery({ ...plan, clauses, sort: null, after, limit });
}
