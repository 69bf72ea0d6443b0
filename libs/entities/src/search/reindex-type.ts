import type { JsonObject, Scope } from '@parley/contracts';
import {
  type Db,
  type Queryable,
  type RowOf,
  column,
  scopeColumns,
  scopeRow,
  statement,
} from '@parley/db';
import { firstPosition } from '../field-index/position';
import { lockOutWriters } from '../write/writer-lock';
import { searchVector } from './search-vector';

export interface ReindexOptions {
  /** Number of entities per transaction; 500 by default. */
  batchSize?: number;
  /**
   * Called after every batch with the number of reindexed entities and their approximate share
   * of all (0 to 1).
   */
  onProgress?: (done: number, share: number) => void | Promise<void>;
  signal?: AbortSignal;
}

interface Progress {
  /** The search fields for which the entities are being reindexed. */
  fields: string[];
  /** The entities up to this position are reindexed. */
  pos: string;
  done: number;
  /** Approximate share of all entities, 0 to 1. */
  share: number;
}

const stale = statement(
  'stale-entity-types',
  `select id as "typeId", ${scopeColumns()} from entity_types
   where search_fields <> indexed_fields order by updated_at limit 100`,
  { typeId: column.text, ...scopeRow },
);

/**
 * Entity types of all tenants that must be reindexed because their search fields have changed: at
 * most 100, oldest first.
 */
export async function staleTypes(db: Queryable): Promise<(Scope & { typeId: string })[]> {
  return (await db.acrossTenants('sweep', stale)).rows;
}

/** The search fields of a type, and the progress of its reindexing. */
export interface SearchState {
  slug: string;
  name: string;
  searchFields: string[];
  /** Null if every entity is indexed for these fields. */
  reindexing: { done: number; share: number } | null;
}

const statesOfEnvironment = statement(
  'search-states',
  `select slug, name, search_fields as "searchFields", search_fields <> indexed_fields as "isStale", reindex
   from entity_types where tenant = $tenant and environment = $environment::"Environment" order by slug collate "C"`,
  {
    slug: column.text,
    name: column.text,
    searchFields: column.textArray,
    isStale: column.bool,
    reindex: column.jsonb<Progress>().nullable,
  },
);

/** The types of an environment with the progress of their reindexing, ordered by slug. */
export async function searchStates(db: Queryable, scope: Scope): Promise<SearchState[]> {
  const { rows } = await db.query(scope, statesOfEnvironment, { environment: scope.environment });
  return rows.map(({ slug, name, searchFields, isStale, reindex }) => ({
    slug,
    name,
    searchFields,
    reindexing: isStale ? { done: reindex?.done ?? 0, share: reindex?.share ?? 0 } : null,
  }));
}

/**
 * Rebuilds the search vectors of a type's entities for its current search fields, in batches. The
 * progress is stored with the type, so that an interrupted run continues where it stopped; another
 * change of the fields restarts it. Until an entity's batch is done, searches find it by the old
 * fields. Returns whether all entities are done.
 */
export async function reindexType(
  db: Db,
  typeId: string,
  options: ReindexOptions = {},
): Promise<boolean> {
  const { batchSize = 500, onProgress = () => {}, signal } = options;
  const [type] = (await db.acrossTenants('due work', typeById, { typeId })).rows;
  if (type === undefined) return true;
  while (!signal?.aborted) {
    const step = await db.transaction((tx) => reindexBatch(tx, type, batchSize, false));
    if (step === null) return true;
    await onProgress(step.done, step.share);
    if (step.moved === batchSize) continue;
    // Wait for writers that began with the old fields, then reindex the entities that
    // they have written.
    const rest = await db.transaction((tx) => reindexBatch(tx, type, batchSize, true));
    if (rest === null || rest.finished) return true;
  }
  return false;
}

const typeRow = { tenant: column.int4, no: column.int4 };
const typeById = statement(
  'entity-type-by-id',
  'select tenant, no from entity_types where id = $typeId',
  typeRow,
);

const lockType = statement(
  'lock-type-to-reindex',
  `select segment, search_fields, reindex from entity_types
   where tenant = $tenant and no = $no and search_fields <> indexed_fields for no key update`,
  {
    segment: column.int4,
    search_fields: column.textArray,
    reindex: column.jsonb<Progress>().nullable,
  },
);

// Two index ranges, for active and deleted entities. Rows are locked inside the union, because a
// union itself cannot lock.
const lockBatch = statement(
  'lock-entities-to-reindex',
  `select id, part, segment, pos::text, data from (
     select * from (select * from entities where tenant = $tenant and part = $no and pos > $after order by pos
       limit $limit for update) active
     union all
     select * from (select * from entities where tenant = $tenant and part = -$no::int and pos > $after order by pos
       limit $limit for update) deleted) e
   order by e.pos limit $limit`,
  {
    id: column.text,
    part: column.int4,
    segment: column.int4,
    pos: column.text,
    data: column.jsonb<JsonObject>(),
  },
);

const indexBatch = statement(
  'reindex-entities',
  `update entities e set search = x.search::tsvector from unnest($ids::text[], $rows::text[]) x(id, search)
   where e.tenant = $tenant and e.id = x.id`,
);

/** `$indexedFields` is null until all entities are done, and `$progress` is null from then on. */
const keepProgress = statement(
  'keep-reindex-progress',
  `update entity_types set indexed_fields = coalesce($indexedFields, indexed_fields), reindex = $progress::jsonb
   where tenant = $tenant and no = $no`,
);

/**
 * Reindexes one batch. Null if the type needs none. With `closing`, writers are locked out, so the
 * last batch is final.
 */
async function reindexBatch(
  tx: Queryable,
  type: RowOf<typeof typeRow>,
  batchSize: number,
  closing: boolean,
) {
  const values = { no: type.no };
  if (closing) await tx.query(type, lockOutWriters, { ...values, timeout: '5s' });
  const [locked] = (await tx.query(type, lockType, values)).rows;
  if (locked === undefined) return null;
  const { segment, search_fields: fields, reindex } = locked;
  const progress: Progress =
    reindex !== null && reindex.fields.join('\n') === fields.join('\n')
      ? reindex
      : { fields, pos: String(firstPosition), done: 0, share: 0 };
  const { rows } = await tx.query(type, lockBatch, {
    ...values,
    after: progress.pos,
    limit: batchSize,
  });
  await tx.query(type, indexBatch, {
    ids: rows.map(({ id }) => id),
    rows: rows.map(({ part, data }) => searchVector(part, data, fields)),
  });
  const done = progress.done + rows.length;
  // Segments follow the order of creation and have similar sizes, so they measure the share.
  const last = rows.at(-1);
  const share = last === undefined ? progress.share : (last.segment + 1) / (segment + 1);
  const finished = closing && rows.length < batchSize;
  const reached: Progress = { fields, pos: last?.pos ?? progress.pos, done, share };
  await tx.query(type, keepProgress, {
    ...values,
    indexedFields: finished ? fields : null,
    progress: finished ? null : JSON.stringify(reached),
  });
  return { moved: rows.length, done, share, finished };
}
