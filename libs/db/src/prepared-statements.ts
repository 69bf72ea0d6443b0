import { LRUCache } from 'lru-cache';
import type pg from 'pg';

/**
 * Maximum length of the texts of a connection's prepared statements. A character takes about 140
 * bytes of the server's memory (docs/adr/0003), so this is 28 MB: a service's own statements and
 * some twenty queries with filters.
 */
const maxChars = 200_000;
/** Beyond it, this much is deallocated at once, so that it happens rarely. */
const evictedChars = maxChars / 4;
/** Maximum number of statements whose last use is known. The others are deallocated first. */
const maxKnown = 2_000;

export type NoteUse = (name: string, text: string) => void;

/**
 * Bounds the memory of prepared statements, all of which the driver would keep. Beyond the limit, a
 * connection that is released deallocates those that no connection has used for the longest time:
 * the statements of one tenant's many different queries, not those that all repeat. A connection to
 * PgBouncer (`isPooled`) is closed instead: there, statements have other names, and PgBouncer
 * bounds those of PostgreSQL itself. Returns a function to call with each statement that runs.
 */
export function limitPreparedStatements(
  pool: pg.Pool,
  { isPooled }: { isPooled: boolean },
): NoteUse {
  /**
   * The names of statements in the order of their last use. Their size is the length
   * of their texts.
   */
  const known = new LRUCache<string, true>({ max: maxKnown, maxSize: Number.MAX_SAFE_INTEGER });
  pool.on('release', (error, client) => {
    if (error || known.calculatedSize <= maxChars) return;
    // The driver's own record of prepared statements, for which it has no public interface.
    const { parsedStatements } = (
      client as unknown as { connection: { parsedStatements: Record<string, string> } }
    ).connection;
    let excess = -maxChars;
    for (const text of Object.values(parsedStatements)) excess += text.length;
    if (excess <= 0) return;
    // The pool removes a connection that ends, and opens another one when it needs one.
    if (isPooled) return void client.end();
    excess += evictedChars;
    // The most recently used first.
    const order = new Map([...known.keys()].map((name, index) => [name, index]));
    const rank = (name: string) => order.get(name) ?? maxKnown;
    const byUse = Object.keys(parsedStatements).sort((a, b) => rank(b) - rank(a));
    const evicted = byUse.filter((name) => {
      const isEvicted = excess > 0;
      excess -= parsedStatements[name]!.length;
      return isEvicted;
    });
    const text = evicted.map((name) => `deallocate ${client.escapeIdentifier(name)}`).join('; ');
    client.query(text, (failure: Error | null) => {
      if (!failure) for (const name of evicted) delete parsedStatements[name];
    });
  });
  return (name, text) => void known.set(name, true, { size: text.length });
}
