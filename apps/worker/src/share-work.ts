import { setImmediate } from 'node:timers/promises';
import { reportRefusal } from '@parley/contracts';
import { createSlots } from '@parley/outbound';

/**
 * Units that this process works on at the same time; one busy tenant gets two thirds of them. Less
 * than the `concurrency` of the queue's jobs, so that a job always begins and finds out whether its
 * tenant has a slot.
 */
const slotsOfProcess = 36;
/** A sweep sends a job again for what is still due. */
const longestWaitMs = 3_600_000;

export interface WorkOptions<Unit> {
  /** Claims at most `limit` units of a tenant, those that have been due for the longest time. */
  claim: (tenant: number, limit: number) => Promise<Unit[]>;
  /** Maximum number of units that one statement claims. */
  largestBatch: number;
  /** Processes a claimed unit. Returns the function that claims what has to follow it, or null. */
  process: (unit: Unit, context: WorkContext) => Promise<(() => Promise<Unit | null>) | null>;
  /** Called when a unit fails that no job waits for. */
  onError: (error: unknown) => void;
  slots?: number;
}

/** The job that a unit is processed for; a unit that was claimed from the backlog has none. */
export interface WorkContext {
  signal: AbortSignal;
  jobId?: string;
  requestId?: string;
}

/**
 * Shares the slots of a process among tenants (docs/adr/0038), for work whose queue are rows. A
 * tenant's backlog is served by one loop: it waits for a slot, takes those that are free besides,
 * claims as many units together, and begins again until nothing is due. Concurrent claims of a
 * tenant would lock each other's rows.
 */
export function shareWork<Unit>({
  claim,
  largestBatch,
  process,
  onError,
  slots: total = slotsOfProcess,
}: WorkOptions<Unit>) {
  const slots = createSlots({ total });
  /**
   * Tenants whose backlog is served. `isAsked`: units may have become due since the last claim
   * began.
   */
  const served = new Map<number, { isAsked: boolean }>();
  const working = new Set<Promise<void>>();
  const closing = new AbortController();

  function keep(work: Promise<void>): void {
    const kept = work.catch(onError).finally(() => working.delete(kept));
    working.add(kept);
  }

  function wake(tenant: number): void {
    if (closing.signal.aborted) return;
    const state = served.get(tenant);
    if (state === undefined) keep(serveBacklog(tenant));
    else state.isAsked = true;
  }

  async function serveBacklog(tenant: number): Promise<void> {
    const state = { isAsked: true };
    served.set(tenant, state);
    try {
      while (state.isAsked) {
        // Units that end together free their slots first, so that one claim takes them.
        if (largestBatch > 1) await setImmediate();
        const taken = await takeSlots(tenant);
        state.isAsked = false;
        const units = await claimFor(tenant, taken);
        if (units.length === taken.length && units.length > 0) state.isAsked = true;
        for (const [at, unit] of units.entries())
          keep(work(tenant, taken[at]!, async () => unit, { signal: closing.signal }));
      }
    } finally {
      served.delete(tenant);
    }
  }

  /** Waits for a slot, and takes those that are free besides, up to the share of the tenant. */
  async function takeSlots(tenant: number): Promise<(() => void)[]> {
    const key = String(tenant);
    let slot = slots.tryAcquire(key);
    if (slot === null) {
      reportRefusal('worker_share');
      slot = await slots.acquire(key, closing.signal, longestWaitMs);
    }
    const taken: (() => void)[] = [];
    for (; slot !== null; slot = taken.length < largestBatch ? slots.tryAcquire(key) : null)
      taken.push(slot);
    return taken;
  }

  async function claimFor(tenant: number, taken: readonly (() => void)[]): Promise<Unit[]> {
    let units: Unit[] = [];
    try {
      if (taken.length > 0 && !closing.signal.aborted) units = await claim(tenant, taken.length);
      return units;
    } finally {
      for (const release of taken.slice(units.length)) release();
    }
  }

  /** Processes units in a slot until nothing follows, or until other tenants need the slot. */
  async function work(
    tenant: number,
    slot: () => void,
    claimFirst: () => Promise<Unit | null>,
    context: WorkContext,
  ): Promise<void> {
    let release = slot;
    try {
      for (let unit = await claimFirst(); unit !== null;) {
        const claimFollowing = await process(unit, context);
        if (claimFollowing === null || context.signal.aborted) return;
        release();
        const next = slots.tryAcquire(String(tenant));
        if (next === null) return wake(tenant);
        release = next;
        unit = await claimFollowing();
      }
    } finally {
      release();
    }
  }

  return {
    /** Serves the backlog of a tenant: some of its units may be due. */
    wake,
    /**
     * Processes the unit that a job names, or leaves it in the backlog when the
     * tenant has its share.
     */
    async run(
      tenant: number,
      claimNamed: () => Promise<Unit | null>,
      context: WorkContext,
    ): Promise<void> {
      const slot = slots.tryAcquire(String(tenant));
      if (slot === null) wake(tenant);
      else await work(tenant, slot, claimNamed, context);
    },
    /**
     * Whether units of the tenant wait for a slot, so that another process could begin them
     * earlier.
     */
    isBusy: (tenant: number): boolean => served.has(tenant),
    /** Claims nothing more, and waits for what runs without a job. */
    async close(): Promise<void> {
      closing.abort(new Error('The worker is shutting down'));
      while (working.size > 0) await Promise.all(working);
    },
  };
}
