import type { Scope } from '@parley/contracts';
import { type Db, column, statement } from '@parley/db';
import { createdAtSql } from '../field-index/position';

/** First half of the advisory locks that writers of a type share and the change of its segments takes alone. */
const lockSpace = 7_290_316;

/**
 * SQL that waits for its turn to write entities of a type; held to the end of the transaction. The type's row must be
 * read `for share` beside it: a weaker lock would return the row as it was before the wait, with the old segment.
 */
export const writerLockSql = (no: string): string => `pg_advisory_xact_lock_shared(${lockSpace}, ${no}) is not null`;

/**
 * Waits until no writer of the type `$2` is under way, and keeps others out to the end of the transaction. Fails when it has
 * waited for `$3`, as does what follows in the transaction: a writer that keeps its own open must not hold up the others.
 */
export const lockOutWriters = statement(
  'lock-out-writers',
  `select from entity_types where tenant = $1 and no = $2
     and case when set_config('lock_timeout', $3, true) <> '' then pg_advisory_xact_lock(${lockSpace}, $2) end is not null`,
);

export interface Segments {
  /** Call after an entity was created: now and then it looks whether its segment is full and begins the next. */
  created(scope: Scope, no: number, segment: number): void;
  /** Ends when what `created` has begun is done. */
  settled(): Promise<void>;
}

/**
 * Begins a new segment when one is full. Not needed for any answer, only for speed, so a failure is left to the next
 * attempt. Running writers finish first: later writers are in the new segment with a later time, so
 * that segments follow the order of creation exactly.
 */
export function createSegments(db: Db, size: number): Segments {
  const running = new Map<number, Promise<void>>();
  const checkEvery = Math.max(1, Math.floor(size / 10));
  return {
    created(scope, no, segment) {
      if (running.has(no) || Math.random() * checkEvery >= 1) return;
      const attempt = beginNext(db, scope, { no, segment, size })
        .catch(() => {})
        .finally(() => running.delete(no));
      running.set(no, attempt);
    },
    async settled() {
      await Promise.all(running.values());
    },
  };
}

const countSegment = statement(
  'count-segment',
  `select count(*)::int as count from (select from entities where tenant = $1 and part = $2 and segment = $3
     and pos >= (select segment_floor << 21 from entity_types where tenant = $1 and no = $2) limit $4) e`,
  { count: column.int4 },
);

const nextSegment = statement(
  'next-segment',
  `update entity_types set segment = segment + 1, segment_floor = 1 + greatest(segment_floor,
     (extract(epoch from now()) * 1000)::bigint,
     (select ${createdAtSql('max(pos)')} from entities where tenant = $1 and part = $2),
     (select ${createdAtSql('max(pos)')} from entities where tenant = $1 and part = -$2::int))
   where tenant = $1 and no = $2 and segment = $3`,
);

async function beginNext(
  db: Db,
  scope: Scope,
  { no, segment, size }: { no: number; segment: number; size: number },
): Promise<void> {
  // Larger types get larger segments, so that their number grows slower than the entities.
  const full = Math.round(size * (1 + segment / 256));
  const { rows } = await db.query(scope, countSegment, [scope.tenant, no, segment, full]);
  if (rows[0]!.count < full) return;
  await db.transaction(async (tx) => {
    await tx.query(scope, lockOutWriters, [scope.tenant, no, '200ms']);
    await tx.query(scope, nextSegment, [scope.tenant, no, segment]);
  });
}
