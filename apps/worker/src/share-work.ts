import { reportRefusal } from '@parley/contracts';
import { createSlots } from '@parley/outbound';

/**
 * Units of a queue that this process works on at the same time; one busy tenant gets two thirds of them. Less than the
 * `concurrency` of the queue's jobs, so that a job always begins and finds out whether its tenant has a slot.
 */
const slotsOfProcess = 36;
/** A sweep sends a job again for what is still due. */
const longestWaitMs = 3_600_000;

export interface WorkOptions<Unit> {
  /** Claims the unit of a tenant that has been due for the longest time; null when none is due. */
  claimNext: (tenant: number) => Promise<Unit | null>;
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
 * Shares the slots of a queue among tenants (docs/adr/0038). The rows are the queue; a job only reports that one is due. A job
 * whose tenant has its share ends at once, and the tenant is served when it may have another slot: each claim from its backlog
 * asks for one more slot, until nothing is due.
 */
export function shareWork<Unit>({
  claimNext,
  process,
  onError,
  slots: total = slotsOfProcess,
}: WorkOptions<Unit>) {
  const slots = createSlots({ total });
  const waiting = new Set<number>();
  const working = new Set<Promise<void>>();
  const closing = new AbortController();

  /** Processes units until nothing follows, or until other tenants need the slot. */
  async function serve(
    tenant: number,
    slot: () => void,
    claim: () => Promise<Unit | null>,
    context: WorkContext,
  ) {
    let release = slot;
    try {
      for (let unit = await claim(); unit !== null;) {
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

  /**
   * Serves the backlog of a tenant as soon as it may have a slot. Rows that become due before then are seen by that claim,
   * so one waiting call for each tenant is enough.
   */
  function wake(tenant: number): void {
    if (waiting.has(tenant) || closing.signal.aborted) return;
    waiting.add(tenant);
    const work = serveBacklog(tenant)
      .catch(onError)
      .finally(() => working.delete(work));
    working.add(work);
  }

  async function serveBacklog(tenant: number): Promise<void> {
    const release = await slots.acquire(String(tenant), closing.signal, longestWaitMs);
    waiting.delete(tenant);
    if (release === null) return;
    const claim = async () => {
      const unit = await claimNext(tenant);
      if (unit !== null) wake(tenant);
      return unit;
    };
    await serve(tenant, release, claim, { signal: closing.signal });
  }

  return {
    /** Processes the unit that a job names, or leaves it in the backlog when the tenant has its share. */
    async run(
      tenant: number,
      claim: () => Promise<Unit | null>,
      context: WorkContext,
    ): Promise<void> {
      const release = slots.tryAcquire(String(tenant));
      if (release !== null) return serve(tenant, release, claim, context);
      reportRefusal('worker_share');
      wake(tenant);
    },
    /** Claims nothing more, and waits for what runs without a job. */
    async close(): Promise<void> {
      closing.abort(new Error('The worker is shutting down'));
      await Promise.all(working);
    },
  };
}
