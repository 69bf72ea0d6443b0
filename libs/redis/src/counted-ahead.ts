import { LRUCache } from 'lru-cache';

/** Time in which a process uses the requests that were counted ahead. */
const usableMs = 100;
/** Maximum number of requests of a key that are counted ahead, and the share of a limit that they may be. */
const maxAhead = 32;
const maxShare = 0.01;
/** A key is busy when each of so many calls of Redis followed the one before within `usableMs`. */
const busyAfterCalls = 8;

/** What a call of Redis counts besides its own request, and what it takes back: requests counted at `countedAtMs` by Redis' clock. */
export interface Ahead {
  wanted: number;
  unused: number;
  countedAtMs: number;
}
const nothing: Ahead = { wanted: 0, unused: 0, countedAtMs: 0 };

interface Counted {
  /** Calls of Redis since the key became busy. */
  calls: number;
  /** How many the last call counted because there was room, how many in all, and how many of all calls are left. */
  size: number;
  last: number;
  left: number;
  /** The time of `clock` until which they are used. */
  untilMs: number;
  /** The time of Redis at which the last call counted. */
  countedAtMs: number;
  /** A call that counts ahead has not been answered yet. */
  isAsking: boolean;
}

/**
 * The requests of busy keys that Redis has counted before they arrive, so that most of them need no round trip (docs/adr/0005). A key
 * that uses its requests in time gets twice as many the next time; one that pauses begins again with none. `key`: the name of its list.
 */
export function createCountedAhead(
  smallestLimit: number,
  { windowMs, maxKeys, clock }: { windowMs: number; maxKeys: number; clock: () => number },
) {
  const max = Math.min(maxAhead, Math.floor(smallestLimit * maxShare));
  const keys = new LRUCache<string, Counted>({ max: maxKeys });
  return {
    /** Uses one request that has been counted. False when there is none; `low` when more should be counted now. */
    use(key: string): boolean | 'low' {
      const counted = max === 0 ? undefined : keys.get(key);
      if (counted === undefined || counted.left === 0 || clock() >= counted.untilMs) return false;
      counted.left -= 1;
      return counted.left < counted.size / 2 && !counted.isAsking ? 'low' : true;
    },
    /** What the next call of Redis asks for. Only one call of a key asks at a time. */
    next(key: string): Ahead {
      if (max === 0) return nothing;
      const nowMs = clock();
      const counted = keys.get(key);
      if (counted === undefined) {
        const untilMs = nowMs + usableMs;
        keys.set(key, {
          calls: 1,
          size: 0,
          last: 0,
          left: 0,
          untilMs,
          countedAtMs: 0,
          isAsking: false,
        });
        return nothing;
      }
      const { calls, size, last, left, untilMs, countedAtMs, isAsking } = counted;
      if (isAsking) return nothing;
      counted.untilMs = nowMs + usableMs;
      if (nowMs < untilMs) {
        counted.calls += 1;
        const wanted = calls < busyAfterCalls ? 0 : Math.min(2 * size + 1, max - left);
        counted.isAsking = wanted > 0;
        return { wanted, unused: 0, countedAtMs };
      }
      Object.assign(counted, { calls: 1, size: 0, last: 0, left: 0 });
      // Not more than were counted at this time, and not after Redis may have dropped them: it would search the whole list.
      return {
        wanted: 0,
        unused: nowMs < untilMs + windowMs / 2 ? Math.min(left, last) : 0,
        countedAtMs,
      };
    },
    /** Ends a call with `wanted` above 0, which has counted `size` requests, if there was room, and `more` ahead. */
    answered(
      key: string,
      { size, more, countedAtMs }: { size: number; more: number; countedAtMs: number },
    ): void {
      const [counted, last] = [keys.get(key), size + more];
      if (counted === undefined) return;
      Object.assign(counted, {
        isAsking: false,
        size,
        last,
        left: counted.left + last,
        countedAtMs,
      });
    },
  };
}
