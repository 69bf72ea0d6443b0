// Step 2 of a query (parse → plan → SQL → run → page): decides which positions and index entries
// its statements read.
import type { Scope } from '@parley/contracts';
import type { Mask } from '../access';
import type { Clause, Field } from '../filter/condition';
import { type KeyRange, boundsOf } from '../field-index/key-ranges';
import { type PositionRange, listedPositions, positionRangeOf } from '../field-index/position';
import { type Scan, indexedField, scansOf } from '../field-index/scans';
import type { PageStart } from './cursor';

export type Direction = 'asc' | 'desc';
export type SortField = Extract<Field, { kind: 'data' | 'updatedAt' }>;

/** A parsed query with the scope and the masks of its caller. */
export interface QueryRequest {
  scope: Scope;
  type: string;
  /** Whether to read the deleted entities, which have their own part. */
  deleted: boolean;
  /** Every entity that the index finds is checked against all of these. */
  clauses: readonly Clause[];
  masks: readonly Mask[];
  /** Null sorts by creation. */
  sort: SortField | null;
  direction: Direction;
  after: PageStart | null;
  limit: number;
  /** Maximum size of the page's JSON texts. */
  maxBytes: number;
}

/** The plan of a query: the data that its statements read (docs/adr/0003-field-indexes.md). */
export interface QueryPlan extends Omit<QueryRequest, 'sort'> {
  /**
   * A range that contains all matching entities, from filters on `createdAt` and `id` and
   * from the cursor.
   */
  positions: PositionRange;
  /** The positions of the ids that a filter lists. Null without such a filter. */
  listed: bigint[] | null;
  /**
   * Index scans, each of which finds all matching entities. Empty: the entities are read in the
   * order of creation.
   */
  scans: readonly Scan[];
  sort: SortPlan | null;
}

export interface SortPlan {
  field: SortField;
  /**
   * The range of keys that the filters on the field allow. Null if they also allow entities
   * without the field.
   */
  keys: KeyRange | null;
  /**
   * Whether to try first to collect and sort everything that the scans find. That fails if
   * they find too much.
   */
  collects: boolean;
  /**
   * The merges to run after that, in turn. The last one is repeated until the page is full
   * or the index ends.
   */
  merges: readonly Merge[];
}

/**
 * The entries of the sorted field that one statement merges:
 * - `few`: the first entries, as many as a page has rows, of the segments with the
 *   least first entries.
 * - `all`: the first entries of all segments, for values that do not correlate with the
 *   order of creation.
 * - `deep`: all entries of a few segments, for values that correlate with the order of creation.
 * - `matching`: the entries of the entities that the scans find, in all segments.
 */
export type Merge = 'few' | 'all' | 'deep' | 'matching';

/** Derives the positions, the scans and the sort of a query from its clauses. */
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
  const fieldScan = scans.find((scan) => scan.field === indexed);
  const keys =
    fieldScan === undefined || fieldScan.absent.length > 0 ? null : boundsOf(fieldScan.keyRanges);
  // A single key range of the sorted field is read in its order. Any further filter makes it worth
  // trying to collect first.
  const collects = scans.length > (keys !== null && fieldScan!.keyRanges.length <= 1 ? 1 : 0);
  return {
    field,
    keys,
    collects,
    merges: collects ? ['few', 'all', 'deep', 'matching'] : ['few', 'all'],
  };
}

/**
 * Plans the end of a sorted query: the entities without the sorted field, in the order of creation.
 */
export function planAbsent(
  plan: QueryPlan,
  field: SortField,
  after: PageStart | null,
  limit: number,
): QueryPlan {
  const clauses: Clause[] = [...plan.clauses, [{ field, operator: '$exists', operand: false }]];
  return planQuery({ ...plan, clauses, sort: null, after, limit });
}
