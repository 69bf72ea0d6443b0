/**
 * Maximum number of concurrent calls of one organization to one host, per process. Lower than the concurrency of the jobs
 * that send (`send-message` 10, `send-email` 5), so that a host that hangs for one organization does not block the others.
 */
const slotsPerKey = 4;

interface Queue {
  running: number;
  waiting: Set<() => void>;
}

/** By organization and host. A key without calls is deleted. */
const queues = new Map<string, Queue>();

/**
 * Waits for a slot of `key`, in the order of the calls. Returns the function that releases it, or null when no slot is free
 * within `waitMs` or before the signal is aborted.
 */
export async function acquireSlot(key: string, signal: AbortSignal, waitMs: number): Promise<(() => void) | null> {
  const queue = queues.get(key) ?? { running: 0, waiting: new Set() };
  queues.set(key, queue);
  if (queue.running < slotsPerKey) queue.running += 1;
  else if (waitMs <= 0 || !(await waitForSlot(queue, AbortSignal.any([signal, AbortSignal.timeout(waitMs)]))))
    return null;
  return () => {
    // The slot is handed to the next call directly, so that no other call can take it.
    const [next] = queue.waiting;
    if (next !== undefined) return next();
    queue.running -= 1;
    if (queue.running === 0) queues.delete(key);
  };
}

const waitForSlot = ({ waiting }: Queue, signal: AbortSignal): Promise<boolean> =>
  new Promise((resolve) => {
    const end = (hasSlot: boolean) => {
      waiting.delete(take);
      signal.removeEventListener('abort', giveUp);
      resolve(hasSlot);
    };
    const take = () => end(true);
    const giveUp = () => end(false);
    waiting.add(take);
    signal.addEventListener('abort', giveUp, { once: true });
    if (signal.aborted) giveUp();
  });
