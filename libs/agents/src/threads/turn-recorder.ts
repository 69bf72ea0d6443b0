import type { CallResult, Progress, StoredToolCall, Turn, TurnOutcome } from './turn';
import type { TurnStore } from './turn-store';

/**
 * How long a result may wait for others that are ready at the same time, or for the next step to take it along. A crash
 * within it tells the model that the call may or may not have happened, as one a little earlier would.
 */
const gatherMs = 2;

/** Stores the steps of one turn, in as few statements as can be told apart by a crash. */
export interface TurnRecorder {
  /** What the model asked for, before any of it is done. False: this process has lost the turn. */
  recordCalls(step: {
    position: number;
    text: string;
    calls: readonly StoredToolCall[];
    progress: Progress;
  }): Promise<boolean>;
  /** What a call came to; stored soon. */
  addResult(result: CallResult): void;
  finish(outcome: TurnOutcome): Promise<boolean>;
  /** Waits for what is not stored yet, of a turn that was lost too. */
  settle(): Promise<void>;
}

export function createTurnRecorder(store: TurnStore, turn: Turn): TurnRecorder {
  let waiting: CallResult[] = [];
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<unknown> = Promise.resolve();

  function take(): CallResult[] {
    clearTimeout(timer);
    timer = undefined;
    const taken = waiting;
    waiting = [];
    return taken;
  }

  function flush(): void {
    const results = take();
    if (results.length === 0) return;
    const before = writing;
    writing = store.recordResults(turn, results).then(() => before);
    writing.catch(() => {}); // Told to whoever stores the next step; until then it must not end the process.
  }

  return {
    async recordCalls(step) {
      await writing;
      return store.recordCalls(turn, { ...step, results: take() });
    },
    addResult(result) {
      waiting.push(result);
      timer ??= setTimeout(flush, gatherMs);
    },
    async finish(outcome) {
      await writing;
      return store.finish(turn, outcome, take());
    },
    async settle() {
      flush();
      await writing;
    },
  };
}
