/** Longer than any global teardown, which begins when the tests have ended. */
const limitMs = 60_000;

/**
 * Jest: ends the process when something that a failed test did not close, such as a connection,
 * keeps it alive. Otherwise one failure would make the whole run wait for ever. A teardown that
 * does not end is a failure, too.
 */
export default class EndReporter {
  onRunComplete() {
    const end = () => {
      console.error(
        `The tests ended ${limitMs / 1000} s ago, but something is still open: the process is ended.`,
      );
      process.exit(1);
    };
    setTimeout(end, limitMs).unref(); // the timer itself does not keep the process alive
  }
}
