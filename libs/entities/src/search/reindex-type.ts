import type { JsonObject, Scope } from '@parley/contracts';
import { type Db, type Queryable, type RowOf, column, scopeColumns, scopeRow, statement } from '@parley/db';
import { firstPosition } from '../field-index/position';
import { lockOutWriters } from '../write/segments';
import { searchVector } from './search-vector';

export interface ReindexOptions {
  /** Entities of one transaction; 500 by default. */
  batchSize?: number;
  /** After every batch: the number of entities done since the reindexing began, and their approximate share of all. */
  onProgress?: (done: number, share: number) => void | Promise<void>;
  signal?: AbortSignal;
}

interface Progress {
  /** The search fields it works for. */
  fields: string[];
  /** All entities up to this position are done. */
  pos: string;
  done: number;
  /** About which share of all that is. */
  share: number;
}

const stale = statement(
  'stale-entity-types',
  `select id as "typeId", ${scopeColumns()} from entity_types
   where search_fields <> indexed_fields order by updated_at limit 100`,
  { typeId: column.text, ...scopeRow },
);

/** Types whose entities are not all indexed for their present search fields, the longest waiting first, at most 100. */
export async function staleTypes(db: Queryable): Promise<(Scope & { typeId: string })[]> {
  return (await db.acrossTenants('sweep', stale)).rows;
}

/** What searches of a type are answered from: all of it, or still the fields of before for what is not done yet. */
export interface SearchState {
  slug: string;
  name: string;
  searchFields: string[];
  /** Null when every entity is indexed for these fields. */
  reindexing: { done: number; share: number } | null;
}

const statesOfEnvironment = statement(
  'search-states',
  `select slug, name, search_fields as "searchFields", search_fields <> indexed_fields as "isStale", reindex
   from entity_types where tenant = $1 and environment = $2::"Environment" order by slug collate "C"`,
  {
    slug: column.text,
    name: column.text,
    searchFields: column.textArray,
    isStale: column.bool,
    reindex: column.jsonb<Progress>().nullable,
  },
);

/** The types of an environment by slug, with the progress of the reindexing of each. */
export async function searchStates(db: Queryable, scope: Scope): Promise<SearchState[]> {
  const { rows } = await db.query(scope, statesOfEnvironment, [scope.tenant, scope.environment]);
  return rows.map(({ slug, name, searchFields, isStale, reindex }) => ({
    slug,
    name,
    searchFields,
    reindexing: isStale ? { done: reindex?.done ?? 0, share: reindex?.share ?? 0 } : null,
  }));
}

/**
 * Brings the search vectors of a type's entities to its present search fields, in batches. Progress is kept on the type,
 * so an interrupted run continues where it stopped; a change of the fields begins again. Searches
 * continue: an entity is found by the old fields until its batch is done. True when all are done.
 */
export async function reindexType(db: Db, typeId: string, options: ReindexOptions = {}): Promise<boolean> {
  const { batchSize = 500, onProgress = () => {}, signal } = options;
  const [type] = (await db.acrossTenants('due work', typeById, [typeId])).rows;
  if (type === undefined) return true;
  while (!signal?.aborted) {
    const step = await db.transaction((tx) => reindexBatch(tx, type, batchSize, false));
    if (step === null) return true;
    await onProgress(step.done, step.share);
    if (step.moved === batchSize) continue;
    // Writers that began with the old fields end first, then what they have written since is indexed as well.
    const rest = await db.transaction((tx) => reindexBatch(tx, type, batchSize, true));
    if (rest === null || rest.finished) return true;
  }
  return false;
}

const typeRow = { tenant: column.int4, no: column.int4 };
const typeById = statement('entity-type-by-id', 'select tenant, no from entity_types where id = $1', typeRow);

const lockType = statement(
  'lock-type-to-reindex',
  `select segment, search_fields, reindex from entity_types
   where tenant = $1 and no = $2 and search_fields <> indexed_fields for no key update`,
  { segment: column.int4, search_fields: column.textArray, reindex: column.jsonb<Progress>().nullable },
);

// Two index ranges, each in order: live and deleted entities. Rows are locked inside the union, as a union cannot lock.
const lockBatch = statement(
  'lock-entities-to-reindex',
  `select id, part, segment, pos::text, data from (
     select * from (select * from entities where tenant = $1 and part = $2 and pos > $3 order by pos limit $4 for update) living
     union all
     select * from (select * from entities where tenant = $1 and part = -$2::int and pos > $3 order by pos limit $4 for update) dead) e
   order by e.pos limit $4`,
  { id: column.text, part: column.int4, segment: column.int4, pos: column.text, data: column.jsonb<JsonObject>() },
);

const indexBatch = statement(
  'reindex-entities',
  `update entities e set search = x.search::tsvector from unnest($2::text[], $3::text[]) x(id, search)
   where e.tenant = $1 and e.id = x.id`,
);

/** `$3` is null until all entities are indexed for these fields, and `$4` from then on. */
const keepProgress = statement(
  'keep-reindex-progress',
  `update entity_types set indexed_fields = coalesce($3, indexed_fields), reindex = $4::jsonb
   where tenant = $1 and no = $2`,
);

/** One batch, or null when there is nothing to do. With `closing` no writer is under way, so an end is the end. */
async function reindexBatch(tx: Queryable, type: RowOf<typeof typeRow>, batchSize: number, closing: boolean) {
  const values = [type.tenant, type.no];
  if (closing) await tx.query(type, lockOutWriters, [...values, '5s']);
  const [locked] = (await tx.query(type, lockType, values)).rows;
  if (locked === undefined) return null;
  const { segment, search_fields: fields, reindex } = locked;
  const progress: Progress =
    reindex !== null && reindex.fields.join('\n') === fields.join('\n')
      ? reindex
      : { fields, pos: String(firstPosition), done: 0, share: 0 };
  const { rows } = await tx.query(type, lockBatch, [...values, progress.pos, batchSize]);
  await tx.query(type, indexBatch, [
    type.tenant,
    rows.map(({ id }) => id),
    rows.map(({ part, data }) => searchVector(part, data, fields)),
  ]);
  const done = progress.done + rows.length;
  // Segments follow the order of creation and are about as large as each other.
  const last = rows.at(-1);
  const share = last === undefined ? progress.share : (last.segment + 1) / (segment + 1);
  const finished = closing && rows.length < batchSize;
  const reached: Progress = { fields, pos: last?.pos ?? progress.pos, done, share };
  await tx.query(type, keepProgress, finished ? [...values, fields, null] : [...values, null, JSON.stringify(reached)]);
  return { moved: rows.length, done, share, finished };
}
