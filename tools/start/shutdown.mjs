import { complain, say } from './output.mjs';

/** One Ctrl-C can arrive several times: from the terminal, through npm and through the bootstrap. */
const sameSignalMs = 500;
const deadlineMs = 30_000;

/**
 * Collects what must be stopped, and stops it in reverse order on a signal, or when `stop` is called. A second signal
 * forces it.
 */
export function createShutdown() {
  const closings = [];
  let firstSignalAt = 0;
  let stopping;
  let force = () => {};

  function stop(exitCode) {
    stopping ??= closeAll().finally(() => {
      if (firstSignalAt) say('Stopped.');
      process.exit(exitCode);
    });
    return stopping;
  }

  async function closeAll() {
    setTimeout(() => leaveNow(`Not stopped after ${deadlineMs / 1000} s: forcing it.`), deadlineMs).unref();
    for (const { name, close } of closings.reverse()) {
      await close().catch((error) => complain(`Stopping ${name} failed: ${error.message}`));
    }
  }

  function leaveNow(message) {
    complain(message);
    force();
    process.exit(1);
  }

  function onSignal() {
    if (!firstSignalAt) {
      firstSignalAt = Date.now();
      say('\nStopping (Ctrl-C again forces it)');
      void stop(0);
    } else if (Date.now() - firstSignalAt > sameSignalMs) {
      leaveNow('Forced.');
    }
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, onSignal);
  process.on('disconnect', onSignal); // the bootstrap is gone, which npm's shell does not tell us
  process.stdout.on('error', () => {}); // a closed terminal must not keep us from stopping

  return {
    add: (name, close) => void closings.push({ name, close }),
    onForce: (work) => void (force = work),
    stop,
    isStopping: () => stopping !== undefined,
    /** Ends a start that a signal has overtaken. */
    checkpoint() {
      if (stopping) throw new Error('stopping');
    },
  };
}
