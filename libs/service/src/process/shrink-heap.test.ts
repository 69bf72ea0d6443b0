import { setTimeout as sleep } from 'node:timers/promises';
import { getHeapStatistics } from 'node:v8';
import { shrinkHeapWhenIdle } from './shrink-heap';

const heapMb = () => getHeapStatistics().total_heap_size / 2 ** 20;

/** Makes the heap grow by at least 100 MB, none of which is used afterwards. */
function leaveGarbage(): void {
  let kept: object[] | undefined = [];
  while (heapMb() < before + 100) kept.push({ text: [kept.length] });
  kept = undefined;
}

let before: number;
beforeEach(() => {
  before = heapMb();
});

it('returns the memory of garbage at the start', () => {
  leaveGarbage();
  shrinkHeapWhenIdle();
  expect(heapMb()).toBeLessThan(before + 30);
});

it('returns the memory that a burst of work has left, once the process is idle', async () => {
  shrinkHeapWhenIdle({ checkEveryMs: 200 });
  leaveGarbage();
  // V8 itself waits for 8 s, and only does it after a collection.
  for (let waited = 0; waited < 6_000 && heapMb() > before + 30; waited += 100) await sleep(100);
  expect(heapMb()).toBeLessThan(before + 30);
});
