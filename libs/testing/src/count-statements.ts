import type { Pool } from 'pg';

/**
 * Counts the statements that a pool sends to PostgreSQL while `work` runs, including `begin` and
 * `commit`. Only one count may run at a time. Statements of the checks in tests (libs/db
 * testing/check-statements) are not counted.
 */
export async function countStatements(pool: Pool, work: () => Promise<unknown>): Promise<number> {
  let count = 0;
  const watched = new Map<object, unknown>();
  const watch = (client: { query: unknown }) => {
    const { query } = client;
    watched.set(client, query);
    client.query = function (this: unknown, ...given: unknown[]) {
      const [first] = given as [string | { text?: string }];
      const text = typeof first === 'string' ? first : (first.text ?? '');
      if (!/^select( typname from pg_type| part::text|$)/.test(text)) count += 1;
      return Reflect.apply(query as () => unknown, client, given);
    };
  };
  const onAcquire = (client: object) => {
    if (!watched.has(client)) watch(client as { query: unknown });
  };
  pool.on('acquire', onAcquire);
  try {
    await work();
    return count;
  } finally {
    pool.off('acquire', onAcquire);
    for (const [client, query] of watched) Object.assign(client, { query });
  }
}

/**
 * Returns the lowest of three counts. A cached API key is looked up again by the next request after
 * 800 ms, so that a single count may be too high by one.
 */
export async function countStatementsRepeatedly(
  pool: Pool,
  work: () => Promise<unknown>,
): Promise<number> {
  const counts: number[] = [];
  while (counts.length < 3) counts.push(await countStatements(pool, work));
  return Math.min(...counts);
}
