import { PushTooComplex, createPushBudget } from './push-budget';

/** Keeps this thread busy, as a check does. */
function work(ms: number): void {
  const endMs = performance.now() + ms;
  while (performance.now() < endMs);
}

test('other work runs between the checks of a push', async () => {
  const budget = createPushBudget(10_000);
  const order: string[] = [];
  setImmediate(() => order.push('request'));
  work(20);
  await budget.pause();
  order.push('check');
  expect(order).toEqual(['request', 'check']);
});

test('the time of checks is counted, and the time of queries is not', async () => {
  const budget = createPushBudget(50);
  work(60);
  budget.resume();
  await budget.pause();
  work(60);
  await expect(budget.pause()).rejects.toThrow(PushTooComplex);
});
