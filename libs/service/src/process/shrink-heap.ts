import { performance } from 'node:perf_hooks';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * A process is idle when its event loop was busy for less than this share of the time
 * since the last check.
 */
const idleShare = 0.02;
/**
 * Growth of the heap since it was last shrunk, in bytes, for which shrinking it again
 * is worth its time.
 */
const worthwhileBytes = 16 * 2 ** 20;

/**
 * Collects garbage and returns the free pages of the heap to the operating system, which takes
 * about 60 ms with a heap of 30 MB. V8 does neither while a process has nothing to do, so what
 * loading its code has left would stay resident (docs/adr/0076).
 */
function shrinkHeap(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (options: object) => void;
  setFlagsFromString('--no-expose-gc');
  // Only this flavor shrinks the young generation.
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}

/** Shrinks the heap now, and whenever the process is idle after its heap has grown. */
export function shrinkHeapWhenIdle({ checkEveryMs = 30_000 } = {}): void {
  shrinkHeap();
  let keptBytes = getHeapStatistics().total_heap_size;
  let before = performance.eventLoopUtilization();
  setInterval(() => {
    const { utilization } = performance.eventLoopUtilization(before);
    before = performance.eventLoopUtilization();
    if (
      utilization > idleShare ||
      getHeapStatistics().total_heap_size < keptBytes + worthwhileBytes
    )
      return;
    shrinkHeap();
    keptBytes = getHeapStatistics().total_heap_size;
  }, checkEveryMs).unref();
}
