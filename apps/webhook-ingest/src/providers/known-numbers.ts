import { setTimeout as sleep } from 'node:timers/promises';
import { type KnownNumber, findNumbers } from '@parley/channels';
import type { Queryable } from '@parley/db';
import { LRUCache } from 'lru-cache';

export type { KnownNumber };

const keptMs = 2_000;
const maxKept = 10_000;
/** After this time the next statement starts although the previous one is still running. */
const maxWaitMs = 1_000;

/**
 * Finds the connection of a phone number and caches it for 2 s. An unverified request can cause a look-up, so all numbers
 * requested while one statement runs share the next statement: a flood occupies one connection of the pool.
 */
export function createKnownNumbers() {
  const kept = new LRUCache<string, KnownNumber>({ max: maxKept, ttl: keptMs });
  let next: { numbers: Set<string>; found: Promise<Map<string, KnownNumber>> } | undefined;
  let running: Promise<unknown> = Promise.resolve();

  async function lookUp(db: Queryable, previous: Promise<unknown>, numbers: Set<string>) {
    await previous;
    next = undefined;
    return findNumbers(db, [...numbers]);
  }

  function ask(db: Queryable, phoneNumberId: string): Promise<Map<string, KnownNumber>> {
    if (next === undefined) {
      const numbers = new Set<string>();
      const found = lookUp(db, running, numbers);
      next = { numbers, found };
      running = Promise.race([found.catch(() => {}), sleep(maxWaitMs, undefined, { ref: false })]);
    }
    next.numbers.add(phoneNumberId);
    return next.found;
  }

  return {
    kept: (phoneNumberId: string): KnownNumber | undefined => kept.get(phoneNumberId),
    /** Reads the database; undefined when no connection has the number. */
    async find(db: Queryable, phoneNumberId: string): Promise<KnownNumber | undefined> {
      const known = (await ask(db, phoneNumberId)).get(phoneNumberId);
      kept.set(phoneNumberId, known); // undefined removes it
      return known;
    },
  };
}
