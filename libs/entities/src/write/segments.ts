import type { Scope } from '@parley/contracts';
import { type Db, column, statement } from '@parley/db';
import { createdAtSql } from '../field-index/position';
import { indexNewest } from './index-newest';
import { lockOutWriters } from './writer-lock';

export type EntitiesLog = { warn(fields: object, message: string): void };

export type Segments = ReturnType<typeof createSegments>;

/** Segments that may wait to be indexed. Creates of a process then wait for the index, so that scans of the newest entities stay short. */
const maxWaiting = 4;

/** A segment is also full at this many times its size in bytes, because scans of the newest entities read their whole `data`. */
const weightBytes = 4_096;

/** How much a segment is filled by an entity whose `data` has this size: 1 for a small one. */
export const weightOf = (bytes: number): number => 1 + Math.floor(bytes / weightBytes);

/**
 * Begins a new segment when one is full, and indexes the entities of the full one. That only affects speed, so after a failure the
 * next create tries again. A new segment waits for running writers. Later writers use it with a later time, so segments
 * strictly follow the order of creation.
 */
export function createSegments(db: Db, size: number, log?: EntitiesLog) {
  /** Attempts by type. `added`: what was added since the attempt began, most recently to `segment`. */
  const running = new Map<number, { ended: Promise<void>; added: number; segment: number }>();
  const checkEvery = Math.max(1, Math.floor(size / 10));
  /** Call after entities of this weight were added, or have grown by it. Checks at random whether the segment is full. */
  const added = (scope: Scope, no: number, segment: number, weight: number): void => {
    const attempt = running.get(no);
    if (attempt !== undefined) Object.assign(attempt, { added: attempt.added + weight, segment });
    else if (Math.random() * checkEvery < weight) {
      const ended = beginNext(db, scope, { no, segment, size })
        .then(() => indexNewest(db, scope, no))
        .catch((err: unknown) =>
          log?.warn({ err, tenant: scope.tenant, type: no }, 'newest entities were not indexed'),
        )
        .finally(() => {
          const { added: meanwhile, segment: last } = running.get(no)!;
          running.delete(no);
          // A burst may end before the attempt does, and then no later create would close its segment.
          added(scope, no, last, meanwhile);
        });
      running.set(no, { ended, added: 0, segment });
    }
  };
  return {
    added,
    /** Resolves when a create of this type may begin: at once, unless the index is far behind. */
    async untilIndexed(no: number): Promise<void> {
      const attempt = running.get(no);
      if (attempt !== undefined && attempt.added > maxWaiting * size) await attempt.ended;
    },
    /** Resolves when the work that `added` has started has ended. */
    async settled(): Promise<void> {
      while (running.size > 0) await Promise.all([...running.values()].map(({ ended }) => ended));
    },
  };
}

/** The order makes PostgreSQL use the index of lists. Without it, entities of all tenants are read until the limit is reached. */
const entitiesOfSegment = (part: string): string =>
  `(select data from entities where tenant = $1 and part = ${part} and segment = $3
     and pos >= (select segment_floor << 21 from entity_types where tenant = $1 and no = $2) order by pos limit $4)`;

const weighSegment = statement(
  'weigh-segment',
  `select coalesce(sum(1 + octet_length(data::text) / ${weightBytes}), 0)::int as weight
   from (${entitiesOfSegment('$2')} union all ${entitiesOfSegment('-$2::int')}) e`,
  { weight: column.int4 },
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
  const { rows } = await db.query(scope, weighSegment, [scope.tenant, no, segment, full]);
  if (rows[0]!.weight < full) return;
  await db.transaction(async (tx) => {
    await tx.query(scope, lockOutWriters, [scope.tenant, no, '200ms']);
    await tx.query(scope, nextSegment, [scope.tenant, no, segment]);
  });
}
