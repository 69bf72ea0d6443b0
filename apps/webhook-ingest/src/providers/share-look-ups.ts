import { setTimeout as sleep } from 'node:timers/promises';
import type { Queryable } from '@parley/db';

/** After this time the next statement starts although the previous one is still running. */
const maxWaitMs = 1_000;

/**
 * Returns a function that looks a key up. An unverified request can cause a look-up, so all keys
 * that are requested while one statement runs share the next statement: a flood occupies one
 * connection of the pool.
 */
export function shareLookUps<T>(find: (db: Queryable, keys: string[]) => Promise<T>) {
  let next: { keys: Set<string>; found: Promise<T> } | undefined;
  let running: Promise<unknown> = Promise.resolve();

  async function lookUp(db: Queryable, previous: Promise<unknown>, keys: Set<string>): Promise<T> {
    await previous;
    next = undefined;
    return find(db, [...keys]);
  }

  /** Resolves with the result for this key and others. */
  return (db: Queryable, key: string): Promise<T> => {
    if (next === undefined) {
      const keys = new Set<string>();
      const found = lookUp(db, running, keys);
      next = { keys, found };
      running = Promise.race([found.catch(() => {}), sleep(maxWaitMs, undefined, { ref: false })]);
    }
    next.keys.add(key);
    return next.found;
  };
}
