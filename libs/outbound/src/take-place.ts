/**
 * Calls under way at once, per process, of one organization to one host. Fewer than the jobs that the worker runs at once in
 * a queue that sends (`send-message` 10, `send-email` 5), so a host that hangs for one organization leaves slots for others.
 */
const places = 4;

interface Queue {
  underWay: number;
  waiting: Set<() => void>;
}

/** By organization and host; a key without a call is removed. */
const queues = new Map<string, Queue>();

/**
 * Waits for one of the places of `key`, first come, first served. Returns the function that gives the place back, or null
 * when none was free within `waitMs` or before the signal was aborted.
 */
export async function takePlace(key: string, signal: AbortSignal, waitMs: number): Promise<(() => void) | null> {
  const queue = queues.get(key) ?? { underWay: 0, waiting: new Set() };
  queues.set(key, queue);
  if (queue.underWay < places) queue.underWay += 1;
  else if (waitMs <= 0 || !(await isGiven(queue, AbortSignal.any([signal, AbortSignal.timeout(waitMs)])))) return null;
  return () => {
    // The place goes to the next one: nobody can take it in between.
    const [next] = queue.waiting;
    if (next !== undefined) return next();
    queue.underWay -= 1;
    if (queue.underWay === 0) queues.delete(key);
  };
}

const isGiven = ({ waiting }: Queue, signal: AbortSignal): Promise<boolean> =>
  new Promise((resolve) => {
    const end = (hasPlace: boolean) => {
      waiting.delete(take);
      signal.removeEventListener('abort', giveUp);
      resolve(hasPlace);
    };
    const take = () => end(true);
    const giveUp = () => end(false);
    waiting.add(take);
    signal.addEventListener('abort', giveUp, { once: true });
    if (signal.aborted) giveUp();
  });
