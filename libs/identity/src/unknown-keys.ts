import { LRUCache } from 'lru-cache';
import { reportRefusal } from '@parley/contracts';

interface Address {
  /** Keys that were not found in this window. */
  unknown: number;
  running: Set<Promise<void>>;
}

const windowMs = 60_000;
const maxAddresses = 10_000;

/**
 * Limits the look-ups of keys that do not exist, for each address and minute of one process. Only such look-ups count, so any
 * number of existing keys may share an address. Look-ups that could exceed the limit wait for the ones that run. `refusal`: the
 * error for an address that may look up no further keys before this time, in Unix milliseconds.
 */
export function createUnknownKeyLimit(perMinute: number, refusal: (retryAtMs: number) => Error, clock: () => number) {
  const addresses = new LRUCache<string, Address>({
    max: maxAddresses,
    ttl: windowMs,
    ttlResolution: 0,
    perf: { now: clock },
  });

  /** Runs a look-up, which resolves with null for an unknown key. */
  return async function lookUp<T>(address: string, query: () => Promise<T | null>): Promise<T | null> {
    const state = addresses.get(address) ?? { unknown: 0, running: new Set() };
    if (!addresses.has(address)) addresses.set(address, state);
    while (state.unknown + state.running.size >= perMinute) {
      if (state.unknown >= perMinute) {
        reportRefusal('too_many_unknown_keys');
        throw refusal(Date.now() + Math.ceil(addresses.getRemainingTTL(address)));
      }
      await Promise.race(state.running);
    }
    const found = query();
    const counted: Promise<void> = found
      .then(
        (key) => void (key === null && (state.unknown += 1)),
        () => {},
      )
      .then(() => void state.running.delete(counted));
    state.running.add(counted);
    return found;
  };
}
