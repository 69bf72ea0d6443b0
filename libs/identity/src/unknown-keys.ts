import { LRUCache } from 'lru-cache';
import { reportRefusal } from '@parley/contracts';

interface Address {
  /** Look-ups of this window that found nothing. */
  unknown: number;
  running: Set<Promise<void>>;
}

const windowMs = 60_000;
const maxAddresses = 10_000;

/**
 * What is looked up before the client is known. `links`: the tokens of links that
 * are sent to people.
 */
export type UnknownKind = 'keys' | 'sessions' | 'links';

export interface LookUpLimit {
  /**
   * Maximum number of unknown keys that are looked up for an address in a minute; the same for
   * sessions and links.
   */
  unknownKeysPerMinute: number;
  /**
   * The error for an address that may look up no further ones of this kind before this time, in
   * Unix milliseconds.
   */
  refusal: (retryAtMs: number, kind: UnknownKind) => Error;
}

export interface KeyLimit<R> extends LookUpLimit {
  /** The address of the client of a request. */
  addressOf: (request: R) => string;
}

export const noLimit: LookUpLimit = { unknownKeysPerMinute: Infinity, refusal: () => new Error() };

/**
 * Limits the look-ups of keys, sessions or links that do not exist, for each address and minute of
 * one process. Only such look-ups count, so any number of existing ones may share an address.
 * Look-ups that could exceed the limit wait for the ones that run.
 */
export function createUnknownKeyLimit(
  kind: UnknownKind,
  { unknownKeysPerMinute: perMinute, refusal }: LookUpLimit,
  clock: () => number = () => performance.now(),
) {
  const addresses = new LRUCache<string, Address>({
    max: maxAddresses,
    ttl: windowMs,
    ttlResolution: 0,
    perf: { now: clock },
  });

  /** Runs a look-up, which resolves with null when there is none. */
  return async function lookUp<T>(
    address: string,
    query: () => Promise<T | null>,
  ): Promise<T | null> {
    const state = addresses.get(address) ?? { unknown: 0, running: new Set() };
    if (!addresses.has(address)) addresses.set(address, state);
    while (state.unknown + state.running.size >= perMinute) {
      if (state.unknown >= perMinute) {
        report(kind);
        throw refusal(Date.now() + Math.ceil(addresses.getRemainingTTL(address)), kind);
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

/** The labels are literals, because a test compares them with the reference. */
function report(kind: UnknownKind): void {
  if (kind === 'keys') reportRefusal('too_many_unknown_keys');
  else if (kind === 'sessions') reportRefusal('too_many_unknown_sessions');
  else reportRefusal('too_many_unknown_links');
}
