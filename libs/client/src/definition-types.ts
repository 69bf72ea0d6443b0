import type { Json, JsonObject } from './json';

interface Names {
  string: string;
  text: string;
  email: string;
  url: string;
  phone: string;
  uuid: string;
  id: string;
  enum: string;
  reference: string;
  date: string | number;
  datetime: string | number;
  timestamp: string | number;
  number: number;
  integer: number;
  float: number;
  decimal: number;
  money: number;
  boolean: boolean;
  object: JsonObject;
  array: Json[];
  null: null;
}

type OfName<N> = N extends keyof Names ? Names[N] : Json;
type OfField<F> = F extends string
  ? OfName<F>
  : F extends { enum: readonly (infer V)[] }
    ? V
    : F extends { type: 'array'; items: infer I }
      ? OfField<I>[]
      : F extends { properties: infer P; required: infer R }
        ? WithRequired<P, R>
        : F extends { properties: infer P }
          ? { [K in keyof P]?: OfField<P[K]> | null }
          : F extends { type: infer N }
            ? OfName<N extends readonly (infer M)[] ? M : N>
            : Json;

type WithRequired<P, R> = R extends readonly (infer N)[]
  ? { [K in keyof P as K extends N ? K : never]: OfField<P[K]> } & {
      [K in keyof P as K extends N ? never : K]?: OfField<P[K]> | null;
    }
  : { [K in keyof P]?: OfField<P[K]> | null };

/** The type of `data` for a definition that `defineData` returned: `DataOf<typeof product>`. */
export type DataOf<D extends { schema: unknown }> = D['schema'] extends { properties: object }
  ? OfField<D['schema']>
  : { [K in keyof D['schema']]?: OfField<D['schema'][K]> | null };

/**
 * The type parameter of a client, from definitions:
 * `new ParleyClient<EntityTypes<typeof product | typeof order>>(…)`.
 */
export type EntityTypes<D extends { slug: string; schema: unknown }> = {
  [Slug in D['slug']]: DataOf<Extract<D, { slug: Slug }>>;
};

declare global {
  /**
   * The types of an environment: a file that `parley types generate` writes adds `entityTypes`
   * to this interface.
   */
  // eslint-disable-next-line @typescript-eslint/no-empty-object-type -- the generated file adds the members
  interface ParleyTypes {}
}

/** The entity types of the generated file of a project; without one, `data` is any JSON object. */
export type KnownEntityTypes = ParleyTypes extends { entityTypes: infer E }
  ? E
  : Record<string, JsonObject>;
