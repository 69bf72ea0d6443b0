import type { Filters, SortField } from './filter-types';
import type { JsonObject } from './json';

/** `D` is what your entity type holds in `data`. */
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
  /** Goes into the next call as `cursor`. */
  cursor: string;
  hasMore: boolean;
}

export interface EntityTypeView {
  slug: string;
  name: string;
  /** Field to type name. */
  schema: Record<string, string>;
  searchFields: string[];
}

export interface Deleted {
  success: true;
}

export interface CreateInput<D> {
  data: D;
  /** `active` unless told. */
  status?: string;
}

export interface UpdateInput<D> {
  /** Merged at its top level into what is there; `null` sets null. */
  data: { [K in keyof D]?: D[K] | null };
  status?: string;
}

export interface ListInput {
  /** 1 to 100; 50 unless told. */
  limit?: number;
  cursor?: string;
  status?: string;
}

export interface QueryInput<D> extends ListInput {
  filters?: Filters<D>;
  sort?: { field: SortField<D>; direction?: 'asc' | 'desc' };
}

export interface SearchInput {
  query: string;
  /** 1 to 100; 20 unless told. */
  limit?: number;
  status?: string;
}
