import { LRUCache } from 'lru-cache';

/**
 * Consecutive failures that open a breaker. It stays open for a pause, which doubles with each
 * failure that follows.
 */
const failuresToOpen = 8;
const firstPauseMs = 5_000;
const longestPauseMs = 60_000;
const maxBreakers = 10_000;

interface Breaker {
  failures: number;
  pauseMs: number;
  openUntilMs: number;
}

/**
 * Stops calls to a model that keeps failing. The key identifies an organization, a
 * credential and a model.
 */
export function createCircuitBreakers(nowMs: () => number = () => performance.now()) {
  const breakers = new LRUCache<string, Breaker>({ max: maxBreakers });
  return {
    /** Whether a call may be made. After the pause one call is allowed, to test the provider. */
    allows(key: string): boolean {
      const breaker = breakers.get(key);
      if (breaker === undefined || breaker.failures < failuresToOpen) return true;
      if (nowMs() < breaker.openUntilMs) return false;
      // While this call tests the provider, the breaker stays open for other calls.
      breaker.openUntilMs = nowMs() + breaker.pauseMs;
      return true;
    },
    succeeded: (key: string): void => void breakers.delete(key),
    failed(key: string): void {
      const breaker = breakers.get(key) ?? {
        failures: 0,
        pauseMs: firstPauseMs / 2,
        openUntilMs: 0,
      };
      breaker.failures += 1;
      if (breaker.failures >= failuresToOpen) {
        breaker.pauseMs = Math.min(breaker.pauseMs * 2, longestPauseMs);
        breaker.openUntilMs = nowMs() + breaker.pauseMs;
      }
      breakers.set(key, breaker);
    },
  };
}
