import type { Filters, SortField } from './filter-types';
import type { JsonObject } from './json';

/** An entity. `D` is the type of its `data`. */
export interface Entity<D = JsonObject> {
  id: string;
  type: string;
  status: string;
  data: D;
  /** Unix milliseconds. */
  createdAt: number;
  /** Unix milliseconds. */
  updatedAt: number;
}

export interface EntityPage<D = JsonObject> {
  data: Entity<D>[];
  /** Pass it as `cursor` to get the next page. */
  cursor: string;
  hasMore: boolean;
  /** With `count`: the number of all matching entities. */
  total?: number;
}

export interface RelationPage {
  data: {
    relation: string;
    /** `outgoing`: the relation leads from the entity to the other one. */
    direction: 'outgoing' | 'incoming';
    /** The other entity. */
    entity: { type: string; id: string };
    /** Unix milliseconds. */
    createdAt: number;
  }[];
  /** Pass it as `cursor` to get the next page. */
  cursor: string;
  hasMore: boolean;
}

export interface EntityTypeView {
  slug: string;
  name: string;
  /** Type name of each field. */
  schema: Record<string, string>;
  searchFields: string[];
}

export interface Deleted {
  success: true;
}

export interface CreateInput<D> {
  data: D;
  /** `active` by default. */
  status?: string;
}

export interface UpdateInput<D> {
  /** Merged into the stored `data` at the top level. `null` sets a field to null. */
  data: { [K in keyof D]?: D[K] | null };
  /** A new lifecycle status. Restores a deleted entity. */
  status?: string;
}

export interface BulkInput<D> {
  /** 1 to 500 changes, which are made in this order. */
  operations: (
    | ({ action: 'create' } & CreateInput<D>)
    | ({ action: 'update'; id: string } & UpdateInput<D>)
    | { action: 'delete'; id: string }
  )[];
  /** Whether the first operation that fails undoes all others. */
  atomic?: boolean;
  /** Returns the results, and changes nothing. Ids of created entities are then of no use. */
  dryRun?: boolean;
}

export interface BulkResult {
  /** The results of the operations, in their order. */
  results: (
    | { ok: true; id: string }
    | { ok: false; error: string; code: string; details?: { path: string; message: string }[] }
  )[];
}

export interface ListInput {
  /** Maximum number of entities, 1 to 100; 50 by default. */
  limit?: number;
  /** The `cursor` of the previous page. */
  cursor?: string;
  /** Lifecycle status. By default every status but `deleted`. */
  status?: string;
  /**
   * Adds `total`, the number of all matching entities, to the page. `estimated` is
   * exact up to 10,000.
   */
  count?: 'exact' | 'estimated';
}

export interface QueryInput<D> extends ListInput {
  filters?: Filters<D>;
  sort?: { field: SortField<D>; direction?: 'asc' | 'desc' };
}

export interface SearchInput {
  query: string;
  /** Maximum number of entities, 1 to 100; 20 by default. */
  limit?: number;
  status?: string;
}
