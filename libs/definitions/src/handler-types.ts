import type { Json, JsonObject } from '@parley/contracts';

declare global {
  /**
   * The types of an environment: a file that `parley types generate` writes adds `entityTypes` and
   * `tools` to this interface.
   */
  // eslint-disable-next-line @typescript-eslint/no-empty-object-type -- the generated file adds the members
  interface ParleyTypes {}
}

type EntityTypes = ParleyTypes extends { entityTypes: infer E } ? E : Record<never, never>;
type ToolArguments = ParleyTypes extends { tools: infer T } ? T : Record<never, never>;

/** The slug of an entity type. Editors offer those of the generated file; others may exist. */
type Slug = (keyof EntityTypes & string) | (string & {});
/**
 * The type of `data`. It is `any` for a type that the generated file lacks, so that a
 * handler needs no casts.
 */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- see above
type DataOf<S> = S extends keyof EntityTypes ? EntityTypes[S] : any;

/** An entity as the tools return it. `createdAt` and `updatedAt` are Unix milliseconds. */
export interface ToolEntity<S = string> {
  id: string;
  type: S;
  status: string;
  data: DataOf<S>;
  createdAt: number;
  updatedAt: number;
}

/** The tools of entities. Each throws an error with an `errorType` when it fails. */
interface EntityTools {
  /** Returns one entity. With `type`, its `data` has the type of that entity type. */
  get<S extends Slug = string>(args: { id: string; type?: S }): Promise<ToolEntity<S>>;
  /** Creates an entity. `status` is `active` by default. */
  create<S extends Slug>(args: {
    type: S;
    data: DataOf<S>;
    status?: string;
  }): Promise<ToolEntity<S>>;
  /** Replaces the given fields of an entity; `null` sets a field to null. */
  update<S extends Slug = string>(args: {
    id: string;
    type?: S;
    data?: { [K in keyof DataOf<S>]?: DataOf<S>[K] | null };
    status?: string;
  }): Promise<ToolEntity<S>>;
  /**
   * Returns a page of the entities that match all filters, newest first. `limit` is at most
   * 100, by default 50.
   */
  query<S extends Slug>(args: {
    type: S;
    filters?: { [field: string]: Json };
    status?: string;
    sort?: { field: string; direction?: 'asc' | 'desc' };
    limit?: number;
    cursor?: string;
  }): Promise<{ data: ToolEntity<S>[]; cursor: string; hasMore: boolean }>;
  /** Returns the entities that best match words. `limit` is at most 100, by default 20. */
  search<S extends Slug>(args: {
    type: S;
    query: string;
    status?: string;
    limit?: number;
  }): Promise<{ data: ToolEntity<S>[] }>;
  /** Deletes an entity: it no longer appears in results. */
  delete(args: { id: string; type?: Slug }): Promise<{ success: true }>;
  /** Relates two entities. */
  link(args: { fromId: string; relation: string; toId: string }): Promise<{ success: true }>;
  /** Ends a relation of two entities. */
  unlink(args: { fromId: string; relation: string; toId: string }): Promise<{ success: true }>;
}

type ToolCaller = (args?: JsonObject) => Promise<unknown>;

/** The custom tools of the generated file: `'shop.discount'` is `shop: { discount }`. */
type ByNamespace<T> = {
  [N in HeadOf<keyof T & string>]: (N extends keyof T ? CallerOf<T[N]> : unknown) &
    ByNamespace<TailOf<T, N>>;
};
type HeadOf<Name> = Name extends `${infer Head}.${string}` ? Head : Name;
type TailOf<T, N extends string> = {
  [K in keyof T as K extends `${N}.${infer Tail}` ? Tail : never]: T[K];
};
type CallerOf<Args> = object extends Args
  ? (args?: Args) => Promise<unknown>
  : (args: Args) => Promise<unknown>;

/**
 * The tools that a handler may call, such as `parley.entity.query({ … })`. They run with the
 * permissions of its caller, or those of `runAs`.
 */
export type ToolHandlerParley = { entity: EntityTools } & ByNamespace<ToolArguments> & {
    [namespace: string]: Record<string, ToolCaller>;
  };

/** What a handler knows about its call. */
export interface ToolHandlerContext {
  organizationId: string;
  environment: 'development' | 'production';
  /**
   * Whose call it is. `userId` and `entityId` are those of the contact or user of the conversation,
   * when there is one.
   */
  actor: {
    type: 'system' | 'agent' | 'user' | 'webhook' | 'tool';
    userId?: string;
    entityId?: string;
  };
  /** The thread and the agent of the conversation, when there is one. */
  threadId?: string;
  agentSlug?: string;
  /** `api`, `whatsapp` or another channel of the conversation. */
  channel?: string;
  /** The `threadContext.params` of the conversation. */
  params?: JsonObject;
  /** The values of the secrets that the tool declares in `secrets`, by name. */
  secrets: Record<string, string>;
}

interface SimpleTypes {
  string: string;
  number: number;
  integer: number;
  boolean: boolean;
  null: null;
  object: JsonObject;
  array: Json[];
}
type SimpleOf<N> = N extends keyof SimpleTypes ? SimpleTypes[N] : Json;
type RequiredOf<S> = S extends { required: readonly (infer N)[] } ? N : never;
type Flat<T> = { [K in keyof T]: T[K] };

/** The type of the values that fit a JSON Schema. What TypeScript cannot express is left out. */
type ValueOf<S> = S extends { const: infer C }
  ? C
  : S extends { enum: readonly (infer V)[] }
    ? V
    : S extends { type: 'array'; items: infer I }
      ? ValueOf<I>[]
      : S extends { properties: infer P }
        ? Flat<
            { -readonly [K in keyof P as K extends RequiredOf<S> ? K : never]: ValueOf<P[K]> } & {
              -readonly [K in keyof P as K extends RequiredOf<S> ? never : K]?: ValueOf<P[K]>;
            }
          >
        : S extends { type: infer N }
          ? SimpleOf<N extends readonly (infer M)[] ? M : N>
          : Json;

/** The arguments of a tool with the parameters `P`, a JSON Schema. */
export type ArgsOf<P> = P extends { properties: object } ? ValueOf<P> : JsonObject;
