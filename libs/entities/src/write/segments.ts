import type { Scope } from '@parley/contracts';
import { type Db, column, statement } from '@parley/db';
import { createdAtSql } from '../field-index/position';
import { indexNewest } from './index-newest';
import { lockOutWriters } from './writer-lock';

export type Segments = ReturnType<typeof createSegments>;

/** Segments that may wait to be indexed. Creates of a process then wait for the index, so that scans of the newest entities stay short. */
const maxWaiting = 4;

/**
 * Begins a new segment when one is full, and indexes the entities of the full one. That only affects speed, so after a failure the
 * next create tries again. A new segment waits for running writers. Later writers use it with a later time, so segments
 * strictly follow the order of creation.
 */
export function createSegments(db: Db, size: number) {
  const running = new Map<number, { ended: Promise<void>; created: number }>();
  const checkEvery = Math.max(1, Math.floor(size / 10));
  return {
    /** Call after entities were created. Checks at random whether the segment is full. */
    created(scope: Scope, no: number, segment: number, count: number): void {
      const attempt = running.get(no);
      if (attempt !== undefined) attempt.created += count;
      else if (Math.random() * checkEvery < count) {
        const ended = beginNext(db, scope, { no, segment, size })
          .then(() => indexNewest(db, scope, no))
          .catch(() => {})
          .finally(() => running.delete(no));
        running.set(no, { ended, created: 0 });
      }
    },
    /** Resolves when a create of this type may begin: at once, unless the index is far behind. */
    async untilIndexed(no: number): Promise<void> {
      const attempt = running.get(no);
      if (attempt !== undefined && attempt.created > maxWaiting * size) await attempt.ended;
    },
    /** Resolves when the work that `created` has started has ended. */
    async settled(): Promise<void> {
      await Promise.all([...running.values()].map(({ ended }) => ended));
    },
  };
}

const countSegment = statement(
  'count-segment',
  `select count(*)::int as count from (select from entities where tenant = $1 and part = $2 and segment = $3
     and pos >= (select segment_floor << 21 from entity_types where tenant = $1 and no = $2) limit $4) e`,
  { count: column.int4 },
);

export const nextSegment = statement(
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
