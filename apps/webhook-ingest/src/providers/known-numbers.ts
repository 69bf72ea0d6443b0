import { setTimeout as sleep } from 'node:timers/promises';
import { type KnownNumber, findNumbers } from '@parley/channels';
import type { Queryable } from '@parley/db';
import { LRUCache } from 'lru-cache';

export type { KnownNumber };

const keptMs = 2_000;
const keptNumbers = 10_000;
/** A statement that takes longer no longer holds up the next one. */
const patienceMs = 1_000;

/**
 * Finds the connection that has a phone number, and keeps what it found for 2 s. Whoever posts a body can cause a look-up
 * before anything is proven, so all numbers that are asked for while one statement runs share the next: a flood occupies one
 * connection of the pool.
 */
export function createKnownNumbers() {
  const kept = new LRUCache<string, KnownNumber>({ max: keptNumbers, ttl: keptMs });
  let next: { numbers: Set<string>; found: Promise<Map<string, KnownNumber>> } | undefined;
  let running: Promise<unknown> = Promise.resolve();

  async function lookUp(db: Queryable, before: Promise<unknown>, numbers: Set<string>) {
    await before;
    next = undefined;
    return findNumbers(db, [...numbers]);
  }

  function ask(db: Queryable, phoneNumberId: string): Promise<Map<string, KnownNumber>> {
    if (next === undefined) {
      const numbers = new Set<string>();
      const found = lookUp(db, running, numbers);
      next = { numbers, found };
      running = Promise.race([found.catch(() => {}), sleep(patienceMs, undefined, { ref: false })]);
    }
    next.numbers.add(phoneNumberId);
    return next.found;
  }

  return {
    kept: (phoneNumberId: string): KnownNumber | undefined => kept.get(phoneNumberId),
    /** As it is now; undefined when no connection has the number. */
    async find(db: Queryable, phoneNumberId: string): Promise<KnownNumber | undefined> {
      const known = (await ask(db, phoneNumberId)).get(phoneNumberId);
      kept.set(phoneNumberId, known); // undefined removes it
      return known;
    },
  };
}
