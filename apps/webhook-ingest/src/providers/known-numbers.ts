import { type KnownNumber, findNumbers } from '@parley/channels';
import type { Queryable } from '@parley/db';
import { LRUCache } from 'lru-cache';
import { shareLookUps } from './share-look-ups';

export type { KnownNumber };

const keptMs = 2_000;
const maxKept = 10_000;

/** Finds the connection of a phone number and caches it for 2 s. */
export function createKnownNumbers() {
  const kept = new LRUCache<string, KnownNumber>({ max: maxKept, ttl: keptMs });
  const ask = shareLookUps(findNumbers);
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
