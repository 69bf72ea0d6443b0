import { setTimeout as sleep } from 'node:timers/promises';
import { reportRefusal } from '@parley/contracts';
import { rateLimited } from './errors';

/** Answers up to this size are not counted. */
const smallBytes = 256 * 1024;
const maxBytesPerSecond = 8 * 1_048_576;
/** Longest wait. Answers that were sent together do not make the next one wait longer. */
const maxWaitMs = 5_000;

interface Pace {
  /** When the answers before have had their time. */
  freeAtMs: number;
  /** Size of the last large answer: what the next one is expected to have. */
  lastBytes: number;
}

interface AnswerPaceOptions {
  bytesPerSecond?: number;
  /** As of `performance.now`. */
  nowMs?: () => number;
  /** Rejects when the signal is aborted. */
  wait?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

const waitFor = (ms: number, signal: AbortSignal) => sleep(ms, undefined, { signal, ref: false });

/**
 * The rate at which a process gives large answers to each of its keys, such as one endpoint of one
 * organization. A client that asks for pages of megabytes one after the other would otherwise keep
 * PostgreSQL and the process busy, and every other organization would wait (docs/adr/0085). A key
 * that has had nothing large for a moment does not wait.
 */
export function createAnswerPace({
  bytesPerSecond = maxBytesPerSecond,
  nowMs = () => performance.now(),
  wait = waitFor,
}: AnswerPaceOptions = {}) {
  const paces = new Map<string, Pace>();
  const msOf = (bytes: number) => (bytes * 1_000) / bytesPerSecond;

  function spend(key: string, bytes: number): Pace {
    let pace = paces.get(key);
    if (pace === undefined) {
      removeEnded();
      pace = { freeAtMs: 0, lastBytes: 0 };
      paces.set(key, pace);
    }
    const freeAtMs = Math.max(pace.freeAtMs, nowMs()) + msOf(bytes);
    pace.freeAtMs = Math.min(freeAtMs, nowMs() + maxWaitMs);
    return pace;
  }

  function removeEnded(): void {
    for (const [key, { freeAtMs }] of paces) if (freeAtMs <= nowMs()) paces.delete(key);
  }

  return {
    /**
     * Waits until the key's answers before have had their time. Resolves with the bytes that it has
     * reserved for this one, which `answered` gives back. Rejects with 429 when others wait that
     * take more than 5 s, and when the signal is aborted.
     */
    async reserve(key: string, signal: () => AbortSignal): Promise<number> {
      const pace = paces.get(key);
      const waitMs = pace === undefined ? 0 : pace.freeAtMs - nowMs();
      if (pace === undefined || waitMs <= 0) return 0;
      if (waitMs > maxWaitMs) {
        reportRefusal('large_answers');
        throw tooMany(waitMs);
      }
      const reserved = pace.lastBytes;
      pace.freeAtMs += msOf(reserved);
      try {
        await wait(waitMs, signal());
      } catch {
        pace.freeAtMs -= msOf(reserved);
        throw tooMany(waitMs);
      }
      return reserved;
    },
    /** Counts an answer with its real size. */
    answered(key: string, bytes: number, reserved: number): void {
      const isLarge = bytes > smallBytes;
      if (!isLarge && reserved === 0) return;
      const pace = spend(key, (isLarge ? bytes : 0) - reserved);
      if (isLarge) pace.lastBytes = bytes;
    },
    /** Waits until a piece of a long answer may be sent. Rejects when the signal is aborted. */
    async piece(key: string, bytes: number, signal: AbortSignal): Promise<void> {
      const waitMs = spend(key, bytes).freeAtMs - msOf(bytes) - nowMs();
      if (waitMs > 0) await wait(waitMs, signal);
    },
  };
}

const tooMany = (waitMs: number) =>
  rateLimited(
    Date.now() + waitMs,
    'too_many_large_answers',
    'Other large answers of the organization are sent first',
  );
