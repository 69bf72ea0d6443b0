import { LRUCache } from 'lru-cache';
import type { Scope } from '@parley/contracts';
import { type Db, type Queryable, column, statement } from '@parley/db';
import { createdAtSql } from '../field-index/position';
import { addEntries, entityColumns, entityRow, removeEntries, writeEntries } from './index-entries';
import { maxShapes } from './type-cache';
import { indexLockSpace, lockOutWriters } from './writer-lock';

export type EntitiesLog = { warn(fields: object, message: string): void };

export type Segments = ReturnType<typeof createSegments>;

/** A segment is also full at this many times its size in bytes, because scans read whole `data`. */
const weightBytes = 4_096;

/** How much a segment is filled by an entity whose `data` has this size: 1 for a small one. */
export const weightOf = (bytes: number): number => 1 + Math.floor(bytes / weightBytes);

/** Segments that may wait to be indexed. Creates of a process then wait for the index. */
const maxWaiting = 4;
/** A type that is forgotten is unchecked again. */
const maxTypes = 10_000;

/**
 * What this process knows of the newest segment of a type (docs/adr/0073):
 *
 * - `unchecked`: nothing. Other processes may have filled it, so the first weight is
 *   followed by a check.
 * - `filling`: the segment was not full. It is checked again when a tenth of a segment was added.
 * - `checking`: the segment is being weighed. When it is full, the next one begins.
 * - `indexing`: the index entries of full segments are being written. The next state is `checking`
 *   if a tenth of a segment was added meanwhile, otherwise `filling`.
 */
interface Newest {
  state: 'unchecked' | 'filling' | 'checking' | 'indexing';
  /** The weight that was added since the last check began. */
  added: number;
  /** The segment to which it was added last. */
  segment: number;
  /** Resolves when the check or the index ends. */
  ended: Promise<void>;
}

/**
 * Begins a new segment when one is full, and indexes the entities of the full one. That only
 * affects speed, so after a failure a later create tries again. A new segment waits for
 * running writers. Later writers use it with a later time, so segments strictly follow the
 * order of creation.
 */
export function createSegments(db: Db, size: number, log?: EntitiesLog) {
  const types = new LRUCache<number, Newest>({ max: maxTypes });
  const running = new Set<Promise<void>>();
  const checkEvery = Math.max(1, Math.floor(size / 10));
  /** Soon, but not with the next create: a failed attempt may have made writers wait for a lock. */
  const addedAfterFailure = checkEvery - Math.ceil(checkEvery / 10);

  async function work(scope: Scope, no: number, newest: Newest): Promise<void> {
    // A burst may end while entries are written, and then no later create would close its segment.
    do {
      newest.state = 'checking';
      newest.added = 0;
      const isBehind = await closeIfFull(db, scope, { no, segment: newest.segment, size });
      if (isBehind) {
        newest.state = 'indexing';
        await indexNewest(db, scope, no);
      }
    } while (newest.added >= checkEvery);
  }

  function begin(scope: Scope, no: number, newest: Newest): void {
    newest.ended = work(scope, no, newest)
      .catch((err: unknown) => {
        newest.added = addedAfterFailure;
        log?.warn({ err, tenant: scope.tenant, type: no }, 'newest entities were not indexed');
      })
      .finally(() => {
        newest.state = 'filling';
        running.delete(newest.ended);
      });
    running.add(newest.ended);
  }

  return {
    /** Call after entities of this weight were added, or have grown by it. */
    added(scope: Scope, no: number, segment: number, weight: number): void {
      const newest: Newest = types.get(no) ?? {
        state: 'unchecked',
        added: 0,
        segment,
        ended: Promise.resolve(),
      };
      types.set(no, newest);
      newest.added += weight;
      newest.segment = segment;
      const isDue = newest.state === 'filling' && newest.added >= checkEvery;
      if (newest.state === 'unchecked' || isDue) begin(scope, no, newest);
    },
    /** Resolves when a create of this type may begin: at once, unless the index is far behind. */
    async untilIndexed(no: number): Promise<void> {
      const newest = types.get(no);
      const isRunning = newest?.state === 'checking' || newest?.state === 'indexing';
      if (isRunning && newest.added > maxWaiting * size) await newest.ended;
    },
    /** Resolves when the work that `added` has started has ended. */
    async settled(): Promise<void> {
      while (running.size > 0) await Promise.all(running);
    },
  };
}

/**
 * The order makes PostgreSQL use the index of lists. Without it, entities of all tenants are read
 * until the limit is reached.
 */
const entitiesOfSegment = (part: string): string =>
  `(select data from entities where tenant = $tenant and part = ${part} and segment = $segment
     and pos >= (select segment_floor << 21 from entity_types where tenant = $tenant and no = $no) order by pos
       limit $full)`;

const weighSegment = statement(
  'weigh-segment',
  `select coalesce(sum(1 + octet_length(data::text) / ${weightBytes}), 0)::int as weight,
     coalesce((select indexed_to < segment_floor << 21 from entity_types where tenant = $tenant and no = $no), false) as "isBehind"
   from (${entitiesOfSegment('$no')} union all ${entitiesOfSegment('-$no::int')}) e`,
  { weight: column.int4, isBehind: column.bool },
);

const nextSegment = statement(
  'next-segment',
  `update entity_types set segment = segment + 1, segment_floor = 1 + greatest(segment_floor,
     (extract(epoch from now()) * 1000)::bigint,
     (select ${createdAtSql('max(pos)')} from entities where tenant = $tenant and part = $no),
     (select ${createdAtSql('max(pos)')} from entities where tenant = $tenant and part = -$no::int))
   where tenant = $tenant and no = $no and segment = $segment`,
);

/**
 * Begins the next segment if this one is full. Returns whether full segments wait to be indexed.
 */
async function closeIfFull(
  db: Db,
  scope: Scope,
  { no, segment, size }: { no: number; segment: number; size: number },
): Promise<boolean> {
  // Larger types get larger segments, so that their number grows more slowly than that of entities.
  const full = Math.round(size * (1 + segment / 256));
  const { rows } = await db.query(scope, weighSegment, { no, segment, full });
  const { weight, isBehind } = rows[0]!;
  if (weight < full) return isBehind;
  await beginNext(db, scope, { no, segment });
  return true;
}

export const beginNext = (
  db: Db,
  scope: Scope,
  { no, segment }: { no: number; segment: number },
): Promise<void> =>
  db.transaction(async (tx) => {
    await tx.query(scope, lockOutWriters, { no, timeout: '200ms' });
    await tx.query(scope, nextSegment, { no, segment });
  });

/** Entities of one transaction. */
const batchSize = 2_000;
/** Stored size of their data at which a batch ends, in bytes. */
const maxBatchBytes = 4 * 1_048_576;

/**
 * Indexes the entities of full segments, in batches. `indexed_to` of the type moves with the
 * entries in one transaction, so that an interrupted run continues where it stopped, and two runs
 * cannot index an entity twice.
 */
export async function indexNewest(db: Db, scope: Scope, no: number): Promise<void> {
  while (await db.transaction((tx) => indexBatch(tx, scope, no)));
}

const nextBatch = statement(
  'next-batch-to-index',
  `select indexed_to::text as "from", (segment_floor << 21)::text as end,
     array(select encode(shape, 'hex') from entity_shapes s where s.tenant = $tenant and s.type_no = t.no
       limit ${2 * maxShapes}) as shapes
   from entity_types t where tenant = $tenant and no = $no and indexed_to < segment_floor << 21
     and pg_try_advisory_xact_lock(${indexLockSpace}, no)`,
  { from: column.text, end: column.text, shapes: column.textArray },
);

const readBatch = statement(
  'entities-to-index',
  `select ${entityColumns} from (
     select *, sum(pg_column_size(data)) over (order by pos rows unbounded preceding) - pg_column_size(data) as bytes from (
       (select * from entities where tenant = $tenant and part = $no and pos >= $from and pos < $end order by pos
         limit ${batchSize})
       union all
       (select * from entities where tenant = $tenant and part = -$no::int and pos >= $from and pos < $end
         order by pos limit ${batchSize})) e
     order by pos limit ${batchSize}) e
   where bytes < ${maxBatchBytes} order by e.pos`,
  entityRow,
);

/** To the first entity from `$next` on that is not indexed, or to the end of the full segments. */
const advance = statement(
  'advance-index',
  `update entity_types set indexed_to = least($end,
     (select min(pos) from entities where tenant = $tenant and part = $no and pos >= $next and pos < $end),
     (select min(pos) from entities where tenant = $tenant and part = -$no::int and pos >= $next and pos < $end))
   where tenant = $tenant and no = $no and indexed_to = $from`,
);

const changedSince = statement(
  'entities-changed-since',
  `select ${entityColumns} from unnest($positions::bigint[], $parts::int[], $seen::bigint[]) x(at, was, seen)
   cross join lateral (select * from entities e where e.tenant = $tenant and e.part in ($no, -$no::int)
     and e.pos = x.at offset 0) e
   where (e.part, e.updated_at) <> (x.was, x.seen)`,
  entityRow,
);

/** Indexes one batch. Returns whether there may be more. */
async function indexBatch(tx: Queryable, scope: Scope, no: number): Promise<boolean> {
  const [batch] = (await tx.query(scope, nextBatch, { no })).rows;
  if (batch === undefined) return false;
  const { from, end } = batch;
  const entities = (await tx.query(scope, readBatch, { no, from, end })).rows;
  const shapes = new Set(batch.shapes);
  await writeEntries(tx, scope, addEntries, { no, entities, shapes });
  // Writers are locked out only from here to the commit: later ones see that these
  // entities are indexed.
  await tx.query(scope, lockOutWriters, { no, timeout: '500ms' });
  const next = BigInt(entities.at(-1)?.pos ?? from) + 1n;
  const { rowCount } = await tx.query(scope, advance, { no, from, next, end });
  if (rowCount === 0) throw new Error('Another process has indexed these entities');
  // Others may have changed while their entries were written.
  const changed = (
    await tx.query(scope, changedSince, {
      no,
      positions: entities.map(({ pos }) => pos),
      parts: entities.map(({ part }) => part),
      seen: entities.map(({ updatedAt }) => updatedAt),
    })
  ).rows;
  if (changed.length > 0) {
    const seen = new Set(changed.map(({ pos }) => pos));
    const before = entities.filter(({ pos }) => seen.has(pos));
    await writeEntries(tx, scope, removeEntries, { no, entities: before, shapes });
    await writeEntries(tx, scope, addEntries, { no, entities: changed, shapes });
  }
  return true;
}
