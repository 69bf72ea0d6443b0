export interface RelayOptions {
  /** Starts listening. Each notification wakes the relay at once. */
  listen: (onNotify: () => void) => { stop(): void };
  /** The longest that it sleeps: a notification may be lost, and nobody notifies of a time that has come. */
  everyMs: number;
  /** Does what there is to do; never runs twice at a time. Says in how many milliseconds it wants to be called again. */
  work: () => Promise<number>;
  onError: (error: unknown) => void;
}

export interface Relay {
  close(): Promise<void>;
}

const retryMs = 250;

/** Calls `work` on each notification, and at least every `everyMs`. */
export function createRelay({ listen, everyMs, work, onError }: RelayOptions): Relay {
  let isClosed = false;
  let isRung = false;
  let running: Promise<void> | null = null;
  let timer: NodeJS.Timeout | undefined;

  function sleep(ms: number): void {
    clearTimeout(timer);
    if (!isClosed) timer = setTimeout(wake, Math.max(0, ms));
  }

  function wake(): void {
    if (running !== null || isClosed) return;
    isRung = false;
    running = work().then(
      (wantedMs) => rest(Math.min(everyMs, wantedMs)),
      (error: unknown) => {
        onError(error);
        rest(retryMs);
      },
    );
  }

  function rest(ms: number): void {
    running = null;
    if (isRung) wake();
    else sleep(ms);
  }

  function ring(): void {
    isRung = true;
    wake();
  }

  const listening = listen(ring);
  sleep(0);
  return {
    async close() {
      isClosed = true;
      clearTimeout(timer);
      listening.stop();
      await running;
    },
  };
}
