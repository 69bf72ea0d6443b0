import type { EntityTypeView, Scope } from '@parley/contracts';
import type { Db, Queryable } from '@parley/db';
import { listEntityTypes } from './entity-types';
import { type GetInput, type GetResult, createGetEntity } from './read/get-entity';
import { type RelationsInput, type RelationsResult, listRelations } from './read/list-relations';
import {
  type PageInput,
  type PageResult,
  type QueryInput,
  listEntities,
  queryEntities,
} from './read/query-entities';
import { type Relation, linkEntities, relatedIds, unlinkEntities } from './relations';
import { type Access } from './access';
import { type SearchInput, type SearchResult, searchEntities } from './search/search-entities';
import type { ConditionFailed, MaskedField, NotFound } from './result';
import {
  type CreateInput,
  type CreateManyInput,
  type CreateResult,
  createMany,
  creator,
} from './write/create-entity';
import { type DeleteInput, type DeleteResult, deleteEntity } from './write/delete-entity';
import { lockEntities } from './write/change-entity';
import { isStorable } from './storable';
import { type EntitiesLog, createSegments } from './write/segments';
import { createTypeCache } from './write/type-cache';
import {
  type ConditionalUpdateInput,
  type UpdateInput,
  type UpdateResult,
  updateEntity,
  updateEntityIf,
} from './write/update-entity';

/**
 * The entities of all tenants. The first argument of every call is its scope. With `tx`, the client
 * of a transaction, a call is part of that transaction. Failures that a caller can cause are
 * returned as results (`result.ts`).
 */
export interface Entities {
  types(scope: Scope): Promise<EntityTypeView[]>;
  get(scope: Scope, input: GetInput, tx?: Queryable): Promise<GetResult>;
  /** Newest first. */
  list(scope: Scope, input: PageInput & { access?: Access }, tx?: Queryable): Promise<PageResult>;
  query(scope: Scope, input: QueryInput, tx?: Queryable): Promise<PageResult | MaskedField>;
  search(scope: Scope, input: SearchInput, tx?: Queryable): Promise<SearchResult>;
  create(scope: Scope, input: CreateInput, tx?: Queryable): Promise<CreateResult>;
  /**
   * Creates entities in this order, in one statement. An entity that is refused does not
   * affect the others.
   */
  createMany(scope: Scope, input: CreateManyInput, tx?: Queryable): Promise<CreateResult[]>;
  /**
   * Resolves when creates of this type may begin: at once, unless the index is far behind.
   * Creates without a transaction wait themselves. Call it before a transaction with many
   * creates, not in it.
   */
  untilIndexed(scope: Scope, type: string): Promise<void>;
  update(scope: Scope, input: UpdateInput, tx?: Queryable): Promise<UpdateResult>;
  /** Updates the entity if it matches `onlyIf`. */
  updateIf(
    scope: Scope,
    input: ConditionalUpdateInput,
    tx?: Queryable,
  ): Promise<UpdateResult | ConditionFailed>;
  remove(scope: Scope, input: DeleteInput, tx?: Queryable): Promise<DeleteResult>;
  /**
   * Locks entities until the transaction `tx` ends. Call it before several changes in
   * one transaction.
   */
  lock(scope: Scope, input: { type: string; ids: readonly string[] }, tx: Queryable): Promise<void>;
  link(scope: Scope, relation: Relation, tx?: Queryable): Promise<{ ok: true } | NotFound>;
  unlink(scope: Scope, relation: Relation, tx?: Queryable): Promise<void>;
  /** Newest first. */
  relations(scope: Scope, input: RelationsInput): Promise<RelationsResult>;
  relatedIds(
    scope: Scope,
    input: { entityId: string; relation?: string; type?: string },
    tx?: Queryable,
  ): Promise<string[]>;
  /**
   * Resolves when the background work that writes have started has ended. Await it before
   * closing the database.
   */
  settled(): Promise<void>;
}

export interface EntitiesOptions {
  db: Db;
  /** Number of entities in a segment of the field index (docs/adr/0003-field-indexes.md). */
  segmentSize?: number;
  /**
   * Wakes the relays after a commit whose event waits for them. Without it, relays find the event
   * at their next poll.
   */
  wakeRelay?: () => void;
  /**
   * Reports that the newest entities of a type could not be indexed. Reads then scan them, and a
   * later create tries again.
   */
  log?: EntitiesLog;
}

/** Creates the store of entities on a database. */
export function createEntities({
  db,
  segmentSize = 1_000,
  wakeRelay = () => {},
  log,
}: EntitiesOptions): Entities {
  const deps = {
    types: createTypeCache(),
    segments: createSegments(db, segmentSize, log),
    wakeRelay,
  };
  return {
    types: (scope) => listEntityTypes(db, scope),
    get: createGetEntity(db),
    list: (scope, input, tx = db) => listEntities(tx, scope, input),
    query: (scope, input, tx = db) => queryEntities(tx, scope, input),
    search: (scope, input, tx = db) => searchEntities(tx, scope, input),
    create: creator(db, deps),
    createMany: (scope, input, tx) => createMany(db, deps, scope, input, tx),
    async untilIndexed(scope, slug) {
      const type = isStorable(slug) ? await deps.types.get(db, scope, slug) : null;
      if (type !== null) await deps.segments.untilIndexed(type.no);
    },
    update: (scope, input, tx) => updateEntity(db, deps, scope, input, tx),
    updateIf: (scope, input, tx) => updateEntityIf(db, deps, scope, input, tx),
    remove: (scope, input, tx) => deleteEntity(db, deps, scope, input, tx),
    lock: (scope, input, tx) => lockEntities(tx, scope, input),
    link: (scope, relation, tx = db) => linkEntities(tx, scope, relation),
    unlink: (scope, relation, tx = db) => unlinkEntities(tx, scope, relation),
    relations: (scope, input) => listRelations(db, scope, input),
    relatedIds: (scope, input, tx = db) => relatedIds(tx, scope, input),
    settled: () => deps.segments.settled(),
  };
}
