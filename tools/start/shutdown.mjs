import { printError, print } from './output.mjs';

/**
 * Signals within this time count as one: a Ctrl-C may arrive from the terminal, npm and
 * the parent process.
 */
const sameSignalMs = 500;
const deadlineMs = 30_000;

/**
 * Collects what must be stopped, and stops it in reverse order on a signal or when `stop` is
 * called. A second signal kills the services.
 */
export function createShutdown() {
  const closings = [];
  let firstSignalAt = 0;
  let stopping;
  let force = () => {};

  function stop(exitCode) {
    stopping ??= closeAll().finally(() => {
      if (firstSignalAt) print('Stopped.');
      process.exit(exitCode);
    });
    return stopping;
  }

  async function closeAll() {
    setTimeout(
      () => exitNow(`Not stopped after ${deadlineMs / 1000} s. The services were killed.`),
      deadlineMs,
    ).unref();
    for (const { name, close } of closings.reverse()) {
      await close().catch((error) => printError(`Stopping ${name} failed: ${error.message}`));
    }
  }

  function exitNow(message) {
    printError(message);
    force();
    process.exit(1);
  }

  function onSignal() {
    if (!firstSignalAt) {
      firstSignalAt = Date.now();
      print('\nStopping. Press Ctrl-C again to kill the services.');
      void stop(0);
    } else if (Date.now() - firstSignalAt > sameSignalMs) {
      exitNow('The services were killed.');
    }
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, onSignal);
  // The parent process has exited; npm's shell does not forward signals.
  process.on('disconnect', onSignal);
  process.stdout.on('error', () => {}); // a closed terminal must not prevent the shutdown

  return {
    add: (name, close) => void closings.push({ name, close }),
    onForce: (work) => void (force = work),
    stop,
    isStopping: () => stopping !== undefined,
    /** Throws when a signal has arrived during the start. */
    checkpoint() {
      if (stopping) throw new Error('stopping');
    },
  };
}
