/** Values that `$gt`, `$gte`, `$lt` and `$lte` compare. */
export type Comparable = string | number;

type Element<V> = V extends readonly (infer E)[] ? E : V extends string ? string : never;

/** The operators of a filter on a field of type `V`. `$neq` is a synonym of `$ne`. */
export interface Operators<V> {
  $eq?: V | null;
  $ne?: V | null;
  $neq?: V | null;
  $in?: readonly (V | null)[];
  $nin?: readonly (V | null)[];
  $gt?: Extract<V, Comparable>;
  $gte?: Extract<V, Comparable>;
  $lt?: Extract<V, Comparable>;
  $lte?: Extract<V, Comparable>;
  /** A substring of a string, or an element of an array. */
  $contains?: Element<V>;
  /** Whether the field must be present (`true`) or absent (`false`). */
  $exists?: boolean;
}

/** A literal for an exact match (`null` matches null and absent fields), or operators. */
export type Condition<V> = V | null | Operators<V>;

/**
 * Filters by field: `id`, `createdAt`, `updatedAt`, and fields of `data` as
 * `data.<field>`, at any depth.
 */
export type Filters<D> = {
  id?: Condition<string>;
  createdAt?: Condition<number>;
  updatedAt?: Condition<number>;
} & { [K in keyof D & string as `data.${K}`]?: Condition<NonNullable<D[K]>> } & {
  [nested: `data.${string}.${string}`]: unknown;
};

/** A field to sort by. The same fields are accepted in filters. */
export type SortField<D> =
  'id' | 'createdAt' | 'updatedAt' | `data.${keyof D & string}` | `data.${string}.${string}`;
