import type pg from 'pg';

export interface Listener {
  /** Called for each notification, and after each connect, as notifications may have been missed. */
  onNotify: () => void;
  onError: (error: unknown) => void;
}

const reconnectMs = 500;

/** Listens to a channel on a dedicated connection and reconnects when it breaks, until it is stopped. */
export function listen(pool: pg.Pool, channel: string, { onNotify, onError }: Listener): { stop(): void } {
  let isStopped = false;
  let reconnect: NodeJS.Timeout | undefined;
  let release: ((error?: Error) => void) | undefined;

  async function connect(): Promise<void> {
    try {
      const client = await pool.connect();
      let isOver = false;
      release = (error) => {
        if (isOver) return;
        isOver = true;
        client.removeAllListeners('notification');
        client.release(error ?? true);
      };
      client.on('error', (error: Error) => {
        release?.(error);
        connectLater(error);
      });
      client.on('notification', onNotify);
      if (isStopped) return release();
      await client.query(`listen ${channel}`);
      onNotify(); // for notifications missed while disconnected
    } catch (error) {
      release?.();
      connectLater(error);
    }
  }

  function connectLater(error: unknown): void {
    if (isStopped) return;
    onError(error);
    clearTimeout(reconnect);
    reconnect = setTimeout(() => void connect(), reconnectMs);
  }

  void connect();
  return {
    stop() {
      isStopped = true;
      clearTimeout(reconnect);
      release?.();
    },
  };
}
