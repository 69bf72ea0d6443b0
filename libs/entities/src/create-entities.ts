import type pg from 'pg';
import type { EntityTypeView, Scope } from '@parley/contracts';
import type { Queryable } from '@parley/db';
import { listEntityTypes } from './entity-types';
import { type GetInput, type GetResult, getEntity } from './read/get-entity';
import { type PageInput, type PageResult, type QueryInput, listEntities, queryEntities } from './read/query-entities';
import { type Relation, linkEntities, relatedIds, unlinkEntities } from './relations';
import { type Access } from './access';
import { type SearchInput, type SearchResult, searchEntities } from './search/search-entities';
import type { ConditionFailed, MaskedField, NotFound } from './result';
import { type CreateInput, type CreateResult, createEntity } from './write/create-entity';
import { type DeleteInput, type DeleteResult, deleteEntity } from './write/delete-entity';
import { createSegments } from './write/segments';
import { createTypeCache } from './write/type-cache';
import {
  type ConditionalUpdateInput,
  type UpdateInput,
  type UpdateResult,
  updateEntity,
  updateEntityIf,
} from './write/update-entity';

/**
 * The records of all tenants. Every call names its scope first; `tx`, a client inside a transaction, makes a call part of
 * that transaction. Failures that a caller can cause are members of the results, see `result.ts`.
 */
export interface Entities {
  types(scope: Scope): Promise<EntityTypeView[]>;
  get(scope: Scope, input: GetInput, tx?: Queryable): Promise<GetResult>;
  /** Newest first. */
  list(scope: Scope, input: PageInput & { access?: Access }, tx?: Queryable): Promise<PageResult>;
  query(scope: Scope, input: QueryInput, tx?: Queryable): Promise<PageResult | MaskedField>;
  search(scope: Scope, input: SearchInput, tx?: Queryable): Promise<SearchResult>;
  create(scope: Scope, input: CreateInput, tx?: Queryable): Promise<CreateResult>;
  update(scope: Scope, input: UpdateInput, tx?: Queryable): Promise<UpdateResult>;
  /** Changes nothing when the entity is not as `onlyIf` says. */
  updateIf(scope: Scope, input: ConditionalUpdateInput, tx?: Queryable): Promise<UpdateResult | ConditionFailed>;
  remove(scope: Scope, input: DeleteInput, tx?: Queryable): Promise<DeleteResult>;
  link(scope: Scope, relation: Relation, tx?: Queryable): Promise<{ ok: true } | NotFound>;
  unlink(scope: Scope, relation: Relation, tx?: Queryable): Promise<void>;
  relatedIds(
    scope: Scope,
    input: { entityId: string; relation?: string; type?: string },
    tx?: Queryable,
  ): Promise<string[]>;
  /** Ends when the upkeep that writes have begun is done: before the pool is closed. */
  settled(): Promise<void>;
}

export interface EntitiesOptions {
  pool: pg.Pool;
  /** Entities of a segment of the field index (docs/adr/0003); tests make it small. */
  segmentSize?: number;
}

export function createEntities({ pool, segmentSize = 1_000 }: EntitiesOptions): Entities {
  const deps = { types: createTypeCache(), segments: createSegments(pool, segmentSize) };
  return {
    types: (scope) => listEntityTypes(pool, scope),
    get: (scope, input, tx = pool) => getEntity(tx, scope, input),
    list: (scope, input, tx = pool) => listEntities(tx, scope, input),
    query: (scope, input, tx = pool) => queryEntities(tx, scope, input),
    search: (scope, input, tx = pool) => searchEntities(tx, scope, input),
    create: (scope, input, tx) => createEntity(pool, deps, scope, input, tx),
    update: (scope, input, tx) => updateEntity(pool, deps, scope, input, tx),
    updateIf: (scope, input, tx) => updateEntityIf(pool, deps, scope, input, tx),
    remove: (scope, input, tx) => deleteEntity(pool, deps, scope, input, tx),
    link: (scope, relation, tx = pool) => linkEntities(tx, scope, relation),
    unlink: (scope, relation, tx = pool) => unlinkEntities(tx, scope, relation),
    relatedIds: (scope, input, tx = pool) => relatedIds(tx, scope, input),
    settled: () => deps.segments.settled(),
  };
}
