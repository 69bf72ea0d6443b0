import { setImmediate } from 'node:timers/promises';
import { reportRefusal } from '@parley/contracts';
import { createSlots } from '@parley/outbound';

/** Units that this process works on at the same time; one busy tenant gets two thirds of them. */
const slotsOfProcess = 36;
/** Maximum number of units that one statement claims. */
const largestBatch = 24;
const longestWaitMs = 3_600_000;

export interface BatchOptions<Unit> {
  /** Claims at most `limit` units of a tenant, those that have been due for the longest time. */
  claim: (tenant: number, limit: number) => Promise<Unit[]>;
  process: (unit: Unit, signal: AbortSignal) => Promise<void>;
  onError: (error: unknown) => void;
  slots?: number;
}

/**
 * Shares the slots of a process among tenants (docs/adr/0038), for work whose queue are rows: `wake` reports that a tenant
 * has due units. They are claimed together, as many as the tenant may have slots, and each unit frees its slot when it ends.
 * One claim of a tenant runs at a time: concurrent ones would lock each other's rows.
 */
export function shareBatches<Unit>({
  claim,
  process,
  onError,
  slots: total = slotsOfProcess,
}: BatchOptions<Unit>) {
  const slots = createSlots({ total });
  /** Tenants that are being served. `isAsked`: units may have become due since the last claim began. */
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
    if (state !== undefined) return void (state.isAsked = true);
    keep(serve(tenant));
  }

  async function serve(tenant: number): Promise<void> {
    const state = { isAsked: true };
    served.set(tenant, state);
    try {
      while (state.isAsked) {
        // Units that end together free their slots first.
        await setImmediate();
        const taken = await takeSlots(tenant);
        state.isAsked = false;
        const units = await claimFor(tenant, taken);
        if (units.length === taken.length && units.length > 0) state.isAsked = true;
        for (const [at, unit] of units.entries()) keep(run(tenant, unit, taken[at]!));
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

  async function run(tenant: number, unit: Unit, release: () => void): Promise<void> {
    try {
      await process(unit, closing.signal);
    } finally {
      release();
      // Units that waited for this one may be claimed now.
      wake(tenant);
    }
  }

  return {
    wake,
    /** Whether units of the tenant wait for a slot, so that another process could begin them earlier. */
    isBusy: (tenant: number): boolean => served.has(tenant),
    /** Claims nothing more, and waits for what runs. */
    async close(): Promise<void> {
      closing.abort(new Error('The worker is shutting down'));
      while (working.size > 0) await Promise.all(working);
    },
  };
}
