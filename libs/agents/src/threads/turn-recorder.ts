import type { CallResult, Progress, Turn, TurnOutcome } from './turn';
import type { SentPrompt } from './sent-prompt';
import type { TurnStore } from './turn-store';

/**
 * Time for which a result waits for others, so that one statement stores them. If the process
 * crashes in this time, the model later reads that the call was interrupted.
 */
const batchMs = 2;

export type TurnRecorder = ReturnType<typeof createTurnRecorder>;

/** Stores the steps of one turn in as few statements as crash safety allows. */
export function createTurnRecorder(store: TurnStore, turn: Turn) {
  let waiting: CallResult[] = [];
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<unknown> = Promise.resolve();
  let prompt: SentPrompt | undefined;

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
    // The next step rethrows the error. Until then it must not end the process as unhandled.
    writing.catch(() => {});
  }

  return {
    /** Takes the prompt of the turn. It is stored with the next step. */
    sends(sent: SentPrompt): void {
      prompt = sent;
    },
    /** Stores the calls of a reply before they run. False: this process has lost the turn. */
    async recordCalls(
      step: Omit<Parameters<TurnStore['recordCalls']>[1], 'results' | 'prompt'>,
    ): Promise<boolean> {
      await writing;
      return store.recordCalls(turn, { ...step, prompt, results: take() });
    },
    /** Stores the result of a call within a few milliseconds. */
    addResult(result: CallResult): void {
      waiting.push(result);
      timer ??= setTimeout(flush, batchMs);
    },
    async finish(outcome: TurnOutcome): Promise<boolean> {
      await writing;
      return store.finish(turn, outcome, take(), prompt);
    },
    /**
     * Stores the usage of a lost turn if a takeover has ended it. False: the turn
     * was lost otherwise.
     */
    recordOvertaken: (progress: Progress): Promise<boolean> =>
      store.recordOvertaken(turn, progress),
    /** Waits until all results are stored. Results of a lost turn are stored too. */
    async settle(): Promise<void> {
      flush();
      await writing;
    },
  };
}
