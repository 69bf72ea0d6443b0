import type pg from 'pg';

export interface RelayOptions {
  pool: pg.Pool;
  /** Of NOTIFY: wakes the relay at once. */
  channel: string;
  /** The longest that it sleeps: a notification may be lost, and nobody notifies of a time that has come. */
  everyMs: number;
  /** Does what there is to do; never runs twice at a time. Says in how many milliseconds it wants to be called again. */
  work: () => Promise<number>;
  onError: (error: unknown) => void;
}

export interface Relay {
  close(): Promise<void>;
}

const reconnectMs = 500;
const retryMs = 250;

/** Calls `work` when PostgreSQL notifies, and in any case again and again. Listens on a connection of its own. */
export function createRelay({ pool, channel, everyMs, work, onError }: RelayOptions): Relay {
  let isClosed = false;
  let isRung = false;
  let running: Promise<void> | null = null;
  let timer: NodeJS.Timeout | undefined;
  let listening: { stop: () => void } | undefined;
  let reconnect: NodeJS.Timeout | undefined;

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

  async function listen(): Promise<void> {
    try {
      const client = await pool.connect();
      let isOver = false;
      const stop = (error?: Error) => {
        if (isOver) return;
        isOver = true;
        client.removeAllListeners('notification');
        client.release(error ?? true);
      };
      client.on('error', (error: Error) => {
        stop(error);
        listenLater(error);
      });
      client.on('notification', ring);
      listening = { stop };
      if (isClosed) return stop();
      await client.query(`listen ${channel}`);
      ring(); // what was notified of before
    } catch (error) {
      listening?.stop();
      listenLater(error);
    }
  }

  function listenLater(error: unknown): void {
    if (isClosed) return;
    onError(error);
    clearTimeout(reconnect);
    reconnect = setTimeout(() => void listen(), reconnectMs);
  }

  void listen();
  sleep(0);
  return {
    async close() {
      isClosed = true;
      clearTimeout(timer);
      clearTimeout(reconnect);
      listening?.stop();
      await running;
    },
  };
}
