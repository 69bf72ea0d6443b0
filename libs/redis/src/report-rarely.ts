const everyMs = 5_000;

/**
 * Returns a function that takes errors and reports the first one at once, and further ones at most
 * every 5 s: the latest, with the number of errors since the last report.
 */
export function reportRarely(
  report: (error: Error, count: number) => void,
): (error: Error) => void {
  let latest: Error | undefined;
  let count = 0;
  let timer: NodeJS.Timeout | undefined;
  function flush(): void {
    timer = undefined;
    if (latest === undefined) return;
    const [error, reported] = [latest, count];
    [latest, count] = [undefined, 0];
    timer = setTimeout(flush, everyMs).unref();
    report(error, reported);
  }
  return (error) => {
    latest = error;
    count += 1;
    if (timer === undefined) flush();
  };
}
