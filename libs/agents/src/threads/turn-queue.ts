import type { AgentLog } from '../log';
import type { HistoryRow, Turn } from './turn';
import { leaseSeconds } from './turn-sql';
import type { TurnStore } from './turn-store';

interface Waiter {
  turn: Turn;
  wake: () => void;
}

interface ThreadQueue {
  /** Turns of the thread that run in this process. */
  running: Set<Turn>;
  /** Ordered by their ids. */
  waiting: Waiter[];
}

export type Admission =
  { ok: true; history: HistoryRow[] } | { ok: false; reason: 'timeout' | 'aborted' | 'overtaken' };

const firstPollMs = 8;
const slowestPollMs = 120;

/**
 * Runs the turns of a thread one after the other, in the order of their ids, across processes. The
 * database decides which turn runs. This queue reduces the load of the database: in each process
 * only the first waiting turn of a thread polls, and no connection is held between polls. A turn
 * that ends wakes the next turn of its process immediately. Other processes detect the end within
 * 120 ms, or after the lease has expired if the process was killed.
 */
export function createTurnQueue({ store, log }: { store: TurnStore; log: AgentLog }) {
  const queues = new Map<string, ThreadQueue>();
  const owned = new Set<Turn>();

  const heartbeat = setInterval(
    () => {
      if (owned.size === 0) return;
      store
        .renew(owned)
        .catch((error: unknown) => log.warn({ err: error }, 'turn leases could not be renewed'));
    },
    (leaseSeconds * 1000) / 4,
  );
  heartbeat.unref();

  const queueOf = (threadId: string): ThreadQueue => {
    const queue = queues.get(threadId) ?? { running: new Set(), waiting: [] };
    queues.set(threadId, queue);
    return queue;
  };

  function wakeNext(threadId: string, queue: ThreadQueue): void {
    if (queue.running.size === 0 && queue.waiting.length === 0) queues.delete(threadId);
    else if (queue.running.size === 0) queue.waiting[0]!.wake();
  }

  return {
    /** Adds a turn that runs immediately, because all earlier turns of its thread have ended. */
    start(turn: Turn): void {
      owned.add(turn);
      queueOf(turn.threadId).running.add(turn);
    },

    /**
     * Waits until a queued turn may run. If the result is not ok, the turn is still queued and the
     * caller must end it, unless a takeover has ended it.
     */
    async admit(
      turn: Turn,
      { signal, waitMs }: { signal?: AbortSignal; waitMs: number },
    ): Promise<Admission> {
      owned.add(turn);
      const queue = queueOf(turn.threadId);
      const waiter: Waiter = { turn, wake: () => {} };
      const at = queue.waiting.findIndex((other) => BigInt(other.turn.id) > BigInt(turn.id));
      queue.waiting.splice(at === -1 ? queue.waiting.length : at, 0, waiter);
      const deadlineMs = performance.now() + waitMs;
      try {
        for (let pollMs = firstPollMs; ;) {
          const isFirst = queue.waiting[0] === waiter && queue.running.size === 0;
          if (isFirst) {
            const history = await store.claim(turn);
            if (history === 'overtaken') return { ok: false, reason: 'overtaken' };
            if (history !== null) {
              queue.running.add(turn);
              return { ok: true, history };
            }
          }
          if (signal?.aborted) return { ok: false, reason: 'aborted' };
          const leftMs = deadlineMs - performance.now();
          if (leftMs <= 0) return { ok: false, reason: 'timeout' };
          // Other waiters are woken when they become first. They check once a second in case the
          // order has changed.
          await waitForWake(waiter, Math.min(leftMs, isFirst ? pollMs : 1_000), signal);
          pollMs = Math.min(pollMs * 1.5, slowestPollMs);
        }
      } finally {
        queue.waiting.splice(queue.waiting.indexOf(waiter), 1);
        if (!queue.running.has(turn)) wakeNext(turn.threadId, queue);
      }
    },

    /** Removes a turn after it has ended in the store. */
    leave(turn: Turn): void {
      owned.delete(turn);
      const queue = queues.get(turn.threadId);
      if (queue === undefined) return;
      queue.running.delete(turn);
      wakeNext(turn.threadId, queue);
    },

    close(): void {
      clearInterval(heartbeat);
    },
  };
}

export type TurnQueue = ReturnType<typeof createTurnQueue>;

function waitForWake(waiter: Waiter, ms: number, signal?: AbortSignal): Promise<void> {
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
