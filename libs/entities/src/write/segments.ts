import type { Scope } from '@parley/contracts';
import { type Db, column, statement } from '@parley/db';
import { createdAtSql } from '../field-index/position';

/** First key of the advisory locks of types. Writers of a type share the lock, a change of its segments holds it exclusively. */
const lockSpace = 7_290_316;

/**
 * SQL that takes the shared lock of a type until the end of the transaction. The same statement must read the row of the
 * type `for share`: a weaker row lock would return the row as it was before the wait, with the old segment.
 */
export const writerLockSql = (no: string): string => `pg_advisory_xact_lock_shared(${lockSpace}, ${no}) is not null`;

/**
 * Takes the exclusive lock of the type `$2` until the end of the transaction. Sets `lock_timeout` to `$3`, so that this and
 * the following statements fail if they wait longer: a writer with a long transaction must not block all others.
 */
export const lockOutWriters = statement(
  'lock-out-writers',
  `select from entity_types where tenant = $1 and no = $2
     and case when set_config('lock_timeout', $3, true) <> '' then pg_advisory_xact_lock(${lockSpace}, $2) end is not null`,
);

export type Segments = ReturnType<typeof createSegments>;

/**
 * Begins a new segment when one is full. That only affects speed, so after a failure the next create tries again. It waits for
 * running writers. Later writers use the new segment with a later time, so segments strictly follow the order of creation.
 */
export function createSegments(db: Db, size: number) {
  const running = new Map<number, Promise<void>>();
  const checkEvery = Math.max(1, Math.floor(size / 10));
  return {
    /** Call after an entity was created. Checks at random whether the segment is full, and begins the next one. */
    created(scope: Scope, no: number, segment: number): void {
      if (running.has(no) || Math.random() * checkEvery >= 1) return;
      const attempt = beginNext(db, scope, { no, segment, size })
        .catch(() => {})
        .finally(() => running.delete(no));
      running.set(no, attempt);
    },
    /** Resolves when the work that `created` has started has ended. */
    async settled(): Promise<void> {
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
  // Larger types get larger segments, so that the number of segments grows more slowly than that of entities.
  const full = Math.round(size * (1 + segment / 256));
  const { rows } = await db.query(scope, countSegment, [scope.tenant, no, segment, full]);
  if (rows[0]!.count < full) return;
  await db.transaction(async (tx) => {
    await tx.query(scope, lockOutWriters, [scope.tenant, no, '200ms']);
    await tx.query(scope, nextSegment, [scope.tenant, no, segment]);
  });
}
