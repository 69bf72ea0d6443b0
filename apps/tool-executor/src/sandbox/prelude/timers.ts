import type { PreludeHost } from './host';

/** Installs timers. The process outside measures the time and reports when a timer is due. */
export function installTimers(host: PreludeHost): void {
  type Timer = { callback: (...args: unknown[]) => void; args: unknown[]; everyMs: number | null };
  const timers = new Map<number, Timer>();
  let lastId = 0;

  const start = (
    callback: unknown,
    delayMs: unknown,
    args: unknown[],
    isRepeating: boolean,
  ): number => {
    if (typeof callback !== 'function') throw new TypeError('The callback must be a function');
    const id = ++lastId;
    const waitMs = Math.min(Math.max(Number(delayMs) || 0, 1), 2 ** 31 - 1);
    host.call('timer', [id, waitMs]);
    timers.set(id, {
      callback: callback as Timer['callback'],
      args,
      everyMs: isRepeating ? waitMs : null,
    });
    return id;
  };
  const clear = (id: unknown): void => {
    if (timers.delete(id as number)) host.call('clear', id);
  };

  host.on('timer', (id) => {
    const timer = timers.get(id);
    if (!timer) return;
    if (timer.everyMs === null) timers.delete(id);
    else host.call('timer', [id, timer.everyMs]);
    timer.callback(...timer.args);
  });
  host.define({
    setTimeout: (callback: unknown, delayMs?: unknown, ...args: unknown[]) =>
      start(callback, delayMs, args, false),
    setInterval: (callback: unknown, delayMs?: unknown, ...args: unknown[]) =>
      start(callback, delayMs, args, true),
    clearTimeout: clear,
    clearInterval: clear,
    queueMicrotask: (callback: () => void) => {
      if (typeof callback !== 'function') throw new TypeError('The callback must be a function');
      void Promise.resolve().then(callback);
    },
  });
}
