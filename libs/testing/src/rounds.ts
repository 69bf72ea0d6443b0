/**
 * The number of rounds of a test that repeats the same to find what happens rarely: `small` by
 * default, `full` with
 * PARLEY_TEST_ROUNDS=full, which `npm run test:long` sets. Sizes of data and durations of outages
 *    are rounds, too;
 * `rounds(false, true)` says whether a run is full.
 */
export function rounds<T>(small: T, full: T): T {
  const { PARLEY_TEST_ROUNDS: size = 'small' } = process.env;
  if (size !== 'small' && size !== 'full')
    throw new Error(`PARLEY_TEST_ROUNDS is small or full, not ${size}`);
  return size === 'full' ? full : small;
}
