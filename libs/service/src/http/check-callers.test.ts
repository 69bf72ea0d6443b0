import { createCallerChecks } from './check-callers';
import { unauthorized, unavailable } from './errors';

/**
 * A caller whose checks have the given results, one after the other, and then the last one again.
 */
function checked(...results: (Error | null)[]) {
  let nowMs = 10_000;
  const seen = { asked: 0, refused: 0 };
  const check = createCallerChecks({ checkEveryMs: 600_000, clock: () => nowMs })({
    async checkAgain() {
      const result = results[Math.min(seen.asked, results.length - 1)];
      seen.asked += 1;
      if (result) throw result;
    },
    refuse: () => void (seen.refused += 1),
  });
  return { check, seen, pass: (ms: number) => void (nowMs += ms) };
}

test('a caller is checked again when the last check is too old, counted from before its beginning', async () => {
  const { check, seen, pass } = checked(null);
  // The look-up of the request may come from a cache.
  pass(599_199);
  expect(check.whenRecent()).toBeUndefined();
  pass(1);
  await check.whenRecent();
  expect(seen.asked).toBe(1);
  pass(599_999);
  expect(check.whenRecent()).toBeUndefined();
  pass(1);
  // Everyone who waits shares the check.
  await Promise.all([check.whenRecent(), check.whenRecent()]);
  expect(seen).toEqual({ asked: 2, refused: 0 });
  check.remove();
});

test('a caller who may no longer ask is refused once', async () => {
  const { check, seen, pass } = checked(unauthorized());
  for (const _ of [1, 2]) {
    pass(600_000);
    await check.whenRecent();
  }
  expect(seen.refused).toBe(1);
});

test('a caller stays allowed while it cannot be checked, and is checked again later', async () => {
  const { check, seen, pass } = checked(
    unavailable(),
    new Error('the database is away'),
    unauthorized(),
  );
  for (const refused of [0, 0, 1]) {
    pass(600_000);
    await check.whenRecent();
    expect(seen.refused).toBe(refused);
  }
});

test('a caller whose answer has ended is not refused', async () => {
  const { check, seen, pass } = checked(unauthorized());
  pass(600_000);
  const running = check.whenRecent();
  check.remove();
  await running;
  expect(seen).toEqual({ asked: 1, refused: 0 });
});
