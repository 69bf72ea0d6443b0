import type { AgentLog } from '../log';
import type { HistoryRow, Turn } from './turn';
import { leaseSeconds } from './turn-sql';
import type { TurnStore } from './turn-store';

interface Waiter {
  turn: Turn;
  wake: () => void;
}

interface Line {
  /** Turns that run in this process. */
  running: Set<Turn>;
  /** In the order of their ids. */
  waiting: Waiter[];
}

export type Admission = { ok: true; history: HistoryRow[] } | { ok: false; reason: 'timeout' | 'aborted' };

const firstPollMs = 8;
const slowestPollMs = 120;

/**
 * Lets turns of one thread run one after the other, in the order of their ids, across processes. The database decides;
 * this only spares it: of the turns that wait here for one thread, the first one asks, and no connection is held while
 * it waits. The end of a turn in this process wakes the next at once, one elsewhere is noticed within 120 ms, and a
 * killed process within its lease.
 */
export function createTurnLine({ store, log }: { store: TurnStore; log: AgentLog }) {
  const lines = new Map<string, Line>();
  const owned = new Set<Turn>();

  const heartbeat = setInterval(
    () => {
      if (owned.size === 0) return;
      store.renew(owned).catch((error: unknown) => log.warn({ err: error }, 'turn leases could not be renewed'));
    },
    (leaseSeconds * 1000) / 4,
  );
  heartbeat.unref();

  const lineOf = (threadId: string): Line => {
    const line = lines.get(threadId) ?? { running: new Set(), waiting: [] };
    lines.set(threadId, line);
    return line;
  };

  function settle(threadId: string, line: Line): void {
    if (line.running.size === 0 && line.waiting.length === 0) lines.delete(threadId);
    else if (line.running.size === 0) line.waiting[0]!.wake();
  }

  return {
    /** A turn that runs from its beginning: the first of a new thread. */
    start(turn: Turn): void {
      owned.add(turn);
      lineOf(turn.threadId).running.add(turn);
    },

    /** Waits for a queued turn's place. On a failure the turn is still queued: finish it. */
    async admit(turn: Turn, { signal, waitMs }: { signal?: AbortSignal; waitMs: number }): Promise<Admission> {
      owned.add(turn);
      const line = lineOf(turn.threadId);
      const waiter: Waiter = { turn, wake: () => {} };
      const at = line.waiting.findIndex((other) => BigInt(other.turn.id) > BigInt(turn.id));
      line.waiting.splice(at === -1 ? line.waiting.length : at, 0, waiter);
      const deadlineMs = performance.now() + waitMs;
      try {
        for (let pollMs = firstPollMs; ;) {
          const isFirst = line.waiting[0] === waiter && line.running.size === 0;
          if (isFirst) {
            const history = await store.claim(turn);
            if (history !== null) {
              line.running.add(turn);
              return { ok: true, history };
            }
          }
          if (signal?.aborted) return { ok: false, reason: 'aborted' };
          const leftMs = deadlineMs - performance.now();
          if (leftMs <= 0) return { ok: false, reason: 'timeout' };
          // Whoever is not first is woken; the long pause only covers an order that others have changed.
          await pause(waiter, Math.min(leftMs, isFirst ? pollMs : 1_000), signal);
          pollMs = Math.min(pollMs * 1.5, slowestPollMs);
        }
      } finally {
        line.waiting.splice(line.waiting.indexOf(waiter), 1);
        if (!line.running.has(turn)) settle(turn.threadId, line);
      }
    },

    /** After the turn was finished in the store, whatever became of it. */
    leave(turn: Turn): void {
      owned.delete(turn);
      const line = lines.get(turn.threadId);
      if (line === undefined) return;
      line.running.delete(turn);
      settle(turn.threadId, line);
    },

    close(): void {
      clearInterval(heartbeat);
    },
  };
}

export type TurnLine = ReturnType<typeof createTurnLine>;

function pause(waiter: Waiter, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      waiter.wake = () => {};
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end, { once: true });
    waiter.wake = end;
  });
}
