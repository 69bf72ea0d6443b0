import type { Environment } from '@parley/contracts';
import type { Queryable } from './client';
import { type RowOf, column, unprepared } from './statement';

/**
 * SQL: a time that never comes. Rows without a status are held by a time from which they
 * may be processed.
 */
export const heldUntil = `'9999-01-01T00:00:00Z'::timestamptz`;

const heldGroup = {
  /** Slug of the organization; null for deliveries without one. */
  organization: column.text.nullable,
  environment: column.oneOf<Environment>().nullable,
  count: column.int4,
  oldest: column.timestamptz,
};
export type HeldGroup = RowOf<typeof heldGroup>;

/**
 * One kind of work that a restore holds, because it may have been done since the backup
 * (docs/adr/0052).
 */
export interface HeldWork {
  kind: string;
  /** Holds all open work, in the transaction of a restore. Returns how much. */
  hold(tx: Queryable): Promise<number>;
  /** The held work by organization and environment. */
  list(db: Queryable): Promise<HeldGroup[]>;
  /** Makes held work that is older than `olderThanMs` due. Returns how much. */
  release(db: Queryable, olderThanMs: number): Promise<number>;
  /** Ends held work without doing it; null where that could lose money or data. */
  drop: ((db: Queryable, olderThanMs: number) => Promise<number>) | null;
}

interface HeldRows {
  kind: string;
  table: string;
  /** SQL conditions: the row is open work; the row is held. */
  isOpen: string;
  isHeld: string;
  /** SQL assignments that hold, release and drop a row. */
  hold: string;
  release: string;
  drop: string | null;
  /** SQL: when the work was created. */
  since?: string;
  environment?: string;
}

/**
 * Work that is a row of a table. Its owner says which rows are open, and how they are held,
 * released and dropped.
 */
export function heldWork({
  kind,
  table,
  isOpen,
  isHeld,
  hold,
  release,
  drop,
  since = 'created_at',
  environment = 'environment::text',
}: HeldRows): HeldWork {
  const holdAll = unprepared('hold-work', `update ${table} set ${hold} where ${isOpen}`);
  const groups = unprepared(
    'list-held-work',
    `select (select slug from organizations where no = tenant) as organization, ${environment} as environment,
       count(*)::int as count, min(${since}) as oldest
     from ${table} where ${isHeld} group by tenant, 2 order by 1, 2`,
    heldGroup,
  );
  const isOld = `${since} <= now() - make_interval(secs => $olderThanMs::float8 / 1000)`;
  const ending = (text: string) => async (db: Queryable, olderThanMs: number) =>
    (await db.acrossTenants('operator command', unprepared('end-held-work', text), { olderThanMs }))
      .rowCount;
  return {
    kind,
    hold: async (tx) => (await tx.acrossTenants('operator command', holdAll)).rowCount,
    list: async (db) => (await db.acrossTenants('operator command', groups)).rows,
    release: ending(`update ${table} set ${release} where ${isHeld} and ${isOld}`),
    drop: drop === null ? null : ending(`update ${table} set ${drop} where ${isHeld} and ${isOld}`),
  };
}

/** The reason that dropped work has. */
export const droppedReason = `'Dropped after a restore'`;
