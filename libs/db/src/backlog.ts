import type { Scope } from '@parley/contracts';
import type { Queryable } from './client';
import { column, statement } from './statement';

/** The largest number that a backlog counts to. */
const maxCounted = 1_000;

/** Rows of an environment that wait for a person. */
export interface Backlog {
  /** At most `maxCounted`. */
  count: number;
  isCapped: boolean;
  oldestAt: Date | null;
}

const ofEnvironment = 'environment = $environment::"Environment"';

/**
 * Counts the rows of a table that fulfil a condition, which must be that of an index.
 * `inEnvironment`: the condition for `$environment`, by default that of a row that has one.
 */
export function backlog(
  name: string,
  table: string,
  where: string,
  { at = 'created_at', inEnvironment = ofEnvironment } = {},
) {
  const count = statement(
    name,
    `select count(*)::int as count, min(at) as "oldestAt"
     from (select ${at} as at from ${table} where tenant = $tenant and ${inEnvironment} and ${where}
           order by ${at} limit ${maxCounted + 1}) b`,
    { count: column.int4, oldestAt: column.timestamptz.nullable },
  );
  return async (db: Queryable, { tenant, environment }: Scope): Promise<Backlog> => {
    const { count: found, oldestAt } = (await db.query({ tenant }, count, { environment }))
      .rows[0]!;
    return { count: Math.min(found, maxCounted), isCapped: found > maxCounted, oldestAt };
  };
}
