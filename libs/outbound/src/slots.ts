export interface SlotsOptions {
  /** Slots of all keys together. */
  total?: number;
  /**
   * Maximum for each key. Default: twice the number of free slots, so that some are always
   * left for other keys.
   */
  perKey?: number;
}

/** A pool of slots that keys, such as organizations, share. */
export type Slots = ReturnType<typeof createSlots>;

interface WaitingCall {
  /** Slots that the call needs. */
  size: number;
  /** Gives the call its slots. */
  take: () => void;
}

interface Share {
  /** Slots in use. */
  running: number;
  /** In the order of the calls. */
  waiting: Set<WaitingCall>;
}

/**
 * Limits how much work runs at the same time, with a share for each key. A call takes one slot, or
 * as many as its size says when slots are bytes. Without `perKey`, a key may take slots while it
 * then holds at most twice as many as were free: one busy key gets two thirds of the slots, two get
 * two fifths each, and a key without work always finds a free slot, or waits for the next one.
 * (Choudhury and Hahne, "Dynamic queue length thresholds for shared-memory packet switches", 1998.)
 */
export function createSlots({ total = Infinity, perKey }: SlotsOptions) {
  /** A key without work is deleted. */
  const shares = new Map<string, Share>();
  let free = total;
  /** Calls that wait, of all keys. */
  let waitingCalls = 0;

  const mayRun = ({ running }: Share, size: number): boolean =>
    free >= size && running + size <= (perKey ?? 2 * free);

  function start(share: Share, size: number): void {
    share.running += size;
    free -= size;
  }

  function release(key: string, share: Share, size: number): void {
    share.running -= size;
    free += size;
    // Last in the map, so that of keys with equally many running each has its turn.
    shares.delete(key);
    if (share.running > 0 || share.waiting.size > 0) shares.set(key, share);
    serve();
  }

  function serve(): void {
    if (waitingCalls === 0) return;
    for (
      let next = nextShare(shares.values(), mayRun);
      next !== null;
      next = nextShare(shares.values(), mayRun)
    ) {
      const [first] = next.waiting;
      start(next, first!.size);
      first!.take();
    }
  }

  /** The function that releases the slot does so once. */
  function slotOf(key: string, share: Share, size: number): () => void {
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      release(key, share, size);
    };
  }

  return {
    /** Returns the function that releases the slot, or null when the key has its share. */
    tryAcquire(key: string, size = 1): (() => void) | null {
      const share = shares.get(key) ?? { running: 0, waiting: new Set() };
      if (share.waiting.size > 0 || !mayRun(share, size)) return null;
      shares.set(key, share);
      start(share, size);
      return slotOf(key, share, size);
    },
    /**
     * Waits for a slot, in the order of the key's calls. Resolves with the function that releases
     * it, or with null when none is free within `waitMs` or before the signal is aborted.
     */
    async acquire(
      key: string,
      signal: AbortSignal,
      waitMs: number,
      size = 1,
    ): Promise<(() => void) | null> {
      const release = this.tryAcquire(key, size);
      if (release !== null || waitMs <= 0) return release;
      const share = shares.get(key) ?? { running: 0, waiting: new Set() };
      shares.set(key, share);
      waitingCalls += 1;
      const hasSlot = await waitForSlot(share, signal, { waitMs, size });
      waitingCalls -= 1;
      if (hasSlot) return slotOf(key, share, size);
      const isUnused = share.running === 0 && share.waiting.size === 0;
      if (isUnused && shares.get(key) === share) shares.delete(key);
      // A smaller call may have waited behind this one.
      serve();
      return null;
    },
    /** Changes `total`. Slots in use stay so, although they may be more. */
    resize(newTotal: number): void {
      free += newTotal - total;
      total = newTotal;
      serve();
    },
    /** Slots in use, and calls that wait for some. */
    stats: () => {
      const all = [...shares.values()];
      return {
        running: all.reduce((sum, { running }) => sum + running, 0),
        waiting: all.reduce((sum, { waiting }) => sum + waiting.size, 0),
      };
    },
  };
}

/** The share with the least running, among those whose first waiting call may run. */
function nextShare(
  shares: Iterable<Share>,
  mayRun: (share: Share, size: number) => boolean,
): Share | null {
  let next: Share | null = null;
  for (const share of shares) {
    const [first] = share.waiting;
    if (first === undefined || !mayRun(share, first.size)) continue;
    if (next === null || share.running < next.running) next = share;
  }
  return next;
}

/**
 * Without `AbortSignal.any` and `timeout`, which cost a fifth of the throughput of a service whose
 * short calls wait.
 */
const waitForSlot = (
  { waiting }: Share,
  signal: AbortSignal,
  { waitMs, size }: { waitMs: number; size: number },
): Promise<boolean> =>
  new Promise((resolve) => {
    const end = (hasSlot: boolean) => {
      clearTimeout(timer);
      waiting.delete(call);
      signal.removeEventListener('abort', giveUp);
      resolve(hasSlot);
    };
    const call = { size, take: () => end(true) };
    const giveUp = () => end(false);
    const timer = setTimeout(giveUp, waitMs).unref();
    waiting.add(call);
    signal.addEventListener('abort', giveUp, { once: true });
    if (signal.aborted) giveUp();
  });
