import { LRUCache } from 'lru-cache';

/** How many failures in a row open the circuit, and how long it then stays open, doubling while the provider is dead. */
const failuresToOpen = 8;
const firstPauseMs = 5_000;
const longestPauseMs = 60_000;
const maxCircuits = 10_000;

interface Circuit {
  failures: number;
  pauseMs: number;
  openUntilMs: number;
}

export interface Circuits {
  /** Whether a call may be tried. After the pause one call at a time is let through to see. */
  allows(key: string): boolean;
  succeeded(key: string): void;
  failed(key: string): void;
}

/** Stops asking a provider that has failed many times in a row; one circuit a provider, address and key. */
export function createCircuits(nowMs: () => number = () => performance.now()): Circuits {
  const circuits = new LRUCache<string, Circuit>({ max: maxCircuits });
  return {
    allows(key) {
      const circuit = circuits.get(key);
      if (circuit === undefined || circuit.failures < failuresToOpen) return true;
      if (nowMs() < circuit.openUntilMs) return false;
      // The probe: others wait for its outcome as long as they would have waited for a failure.
      circuit.openUntilMs = nowMs() + circuit.pauseMs;
      return true;
    },
    succeeded(key) {
      circuits.delete(key);
    },
    failed(key) {
      const circuit = circuits.get(key) ?? { failures: 0, pauseMs: firstPauseMs / 2, openUntilMs: 0 };
      circuit.failures += 1;
      if (circuit.failures >= failuresToOpen) {
        circuit.pauseMs = Math.min(circuit.pauseMs * 2, longestPauseMs);
        circuit.openUntilMs = nowMs() + circuit.pauseMs;
      }
      circuits.set(key, circuit);
    },
  };
}
