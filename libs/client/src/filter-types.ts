/** What `$gt`, `$gte`, `$lt` and `$lte` compare. */
export type Comparable = string | number;

type Element<V> = V extends readonly (infer E)[] ? E : V extends string ? string : never;

/** Both documented sets of operators. */
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
  /** A part of a text, or an element of a list. */
  $contains?: Element<V>;
  /** Present, or absent. */
  $exists?: boolean;
}

/** A literal to match exactly (`null`: null or absent), or operators. */
export type Condition<V> = V | null | Operators<V>;

/** Of a query: the entity's own columns, and its fields as `data.<field>`, at any depth. */
export type Filters<D> = {
  id?: Condition<string>;
  createdAt?: Condition<number>;
  updatedAt?: Condition<number>;
} & { [K in keyof D & string as `data.${K}`]?: Condition<NonNullable<D[K]>> } & {
  [nested: `data.${string}.${string}`]: unknown;
};

export type SortField<D> = 'id' | 'createdAt' | 'updatedAt' | `data.${keyof D & string}` | `data.${string}.${string}`;
