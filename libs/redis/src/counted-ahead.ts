import { LRUCache } from 'lru-cache';

/** Time in which a process uses the requests that were counted ahead. Those that are left are given back. */
const usableMs = 100;
/** Maximum number of requests that are counted ahead at a time, and the share of a limit that they may be. */
const maxAhead = 32;
const maxShare = 0.01;

/** What a call of Redis counts besides its own request, and what it takes back: requests counted at `countedAtMs` by Redis' clock. */
export interface Ahead {
  wanted: number;
  unused: number;
  countedAtMs: number;
}
const nothing: Ahead = { wanted: 0, unused: 0, countedAtMs: 0 };

interface Counted {
  /** How many were counted ahead by the last call, and how many in all are left. */
  size: number;
  left: number;
  /** The time of this process until which they are used. */
  untilMs: number;
  /** The time of Redis at which they were counted. */
  countedAtMs: number;
  /** A call that counts ahead has not been answered yet. */
  isAsking: boolean;
}

/**
 * The requests of busy keys that Redis has counted before they arrive, so that most of them need no round trip (docs/adr/0005). A key
 * that uses its requests in time gets twice as many the next time; one that pauses begins again with none.
 */
export function createCountedAhead(
  smallestLimit: number,
  { windowMs, maxKeys }: { windowMs: number; maxKeys: number },
) {
  const max = Math.min(maxAhead, Math.floor(smallestLimit * maxShare));
  const keys = new LRUCache<string, Counted>({ max: maxKeys });
  return {
    /** Uses one request that has been counted. False when there is none; `low` when more should be counted now. */
    use(id: string): boolean | 'low' {
      const counted = max === 0 ? undefined : keys.get(id);
      if (counted === undefined || counted.left === 0 || performance.now() >= counted.untilMs) return false;
      counted.left -= 1;
      return counted.left < counted.size / 2 && !counted.isAsking ? 'low' : true;
    },
    /** What the next call of Redis asks for. Only one call of a key asks at a time. */
    next(id: string): Ahead {
      if (max === 0) return nothing;
      const nowMs = performance.now();
      const counted = keys.get(id);
      if (counted === undefined) {
        keys.set(id, { size: 0, left: 0, untilMs: nowMs + usableMs, countedAtMs: 0, isAsking: false });
        return nothing;
      }
      const { size, left, untilMs, countedAtMs, isAsking } = counted;
      if (isAsking) return nothing;
      counted.untilMs = nowMs + usableMs;
      if (nowMs < untilMs) {
        counted.isAsking = true;
        return { wanted: Math.min(2 * size + 1, max), unused: 0, countedAtMs };
      }
      Object.assign(counted, { size: 0, left: 0 });
      // Redis may have dropped requests that were counted a window ago, and would search all others for them.
      return { wanted: 0, unused: nowMs < untilMs + windowMs / 2 ? left : 0, countedAtMs };
    },
    /** Ends a call with `wanted` above 0, which has counted `size` requests, if there was room, and `more` ahead. */
    answered(id: string, { size, more, countedAtMs }: { size: number; more: number; countedAtMs: number }): void {
      const counted = keys.get(id);
      if (counted === undefined) return;
      Object.assign(counted, { isAsking: false, size, left: counted.left + size + more });
      if (size > 0) counted.countedAtMs = countedAtMs;
    },
  };
}
