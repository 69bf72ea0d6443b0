import { until } from '@parley/testing';
import { shareWork } from './share-work';

const { signal } = new AbortController();

/** A queue of numbered units for each tenant, which end when the test says so. */
function startQueue(slots: number) {
  const due = new Map<number, number[]>();
  const running: { tenant: number; end: () => void }[] = [];
  const order: string[] = [];
  const take = (tenant: number) => Promise.resolve(due.get(tenant)?.shift() ?? null);
  const work = shareWork<{ tenant: number; unit: number }>({
    slots,
    async claim(tenant) {
      const unit = await take(tenant);
      return unit === null ? [] : [{ tenant, unit }];
    },
    largestBatch: 1,
    process: async ({ tenant, unit }) => {
      order.push(`${tenant}:${unit}`);
      await new Promise<void>((resolve) => running.push({ tenant, end: resolve }));
      return null;
    },
    onError: (error) => {
      throw error;
    },
  });
  return {
    work,
    order,
    runningOf: (tenant: number) => running.filter((one) => one.tenant === tenant).length,
    /** Adds a unit, and its job. */
    add(tenant: number, unit: number): Promise<void> {
      due.set(tenant, [...(due.get(tenant) ?? []), unit]);
      const claim = async () => {
        const claimed = await take(tenant);
        return claimed === null ? null : { tenant, unit: claimed };
      };
      return work.run(tenant, claim, { signal });
    },
    leftOf: (tenant: number) => due.get(tenant)?.length ?? 0,
    endOne(tenant: number): void {
      const at = running.findIndex((one) => one.tenant === tenant);
      running.splice(at, 1)[0]!.end();
    },
  };
}

/** As `startQueue`, for units without jobs, of which one claim takes several. */
function startBatches(slots: number) {
  const due = new Map<number, number[]>();
  const running: { unit: number; tenant: number; end: () => void }[] = [];
  const limits: number[] = [];
  const order: string[] = [];
  let claiming = 0;
  const errors: unknown[] = [];
  const work = shareWork<{ tenant: number; unit: number }>({
    slots,
    largestBatch: 24,
    async claim(tenant, limit) {
      claiming += 1;
      limits.push(limit);
      expect(claiming).toBe(1);
      const units = (due.get(tenant) ?? []).splice(0, limit);
      await new Promise(setImmediate);
      claiming -= 1;
      return units.map((unit) => ({ tenant, unit }));
    },
    async process({ tenant, unit }) {
      order.push(`${tenant}:${unit}`);
      await new Promise<void>((resolve) => running.push({ tenant, unit, end: resolve }));
      // As runs of triggers: the next ones may be claimed when one ends.
      work.wake(tenant);
      if (unit < 0) throw new Error(`unit ${unit}`);
      return null;
    },
    onError: (error) => errors.push(error),
  });
  return {
    work,
    order,
    limits,
    errors,
    running,
    runningOf: (tenant: number) => running.filter((one) => one.tenant === tenant).length,
    add(tenant: number, ...units: number[]): void {
      due.set(tenant, [...(due.get(tenant) ?? []), ...units]);
      work.wake(tenant);
    },
    leftOf: (tenant: number) => due.get(tenant)?.length ?? 0,
    endOne(tenant: number): void {
      const at = running.findIndex((one) => one.tenant === tenant);
      running.splice(at, 1)[0]!.end();
    },
  };
}
const numbers = (count: number) => Array.from({ length: count }, (_, unit) => unit);

describe('units that jobs name', () => {
  it('leaves slots for another tenant, and ends the jobs of a tenant that has its share', async () => {
    const queue = startQueue(6);
    const jobs = Array.from({ length: 50 }, (_, unit) => queue.add(1, unit));
    // The jobs beyond the share end although none of the units has.
    await Promise.all(jobs.slice(4));
    expect(queue.runningOf(1)).toBe(4);
    void queue.add(2, 0);
    await until(async () => queue.runningOf(2) === 1);
  });

  it('processes everything of the backlog, in order, with its share of the slots at all times', async () => {
    const queue = startQueue(6);
    for (let unit = 0; unit < 30; unit += 1) void queue.add(1, unit);
    await until(async () => queue.runningOf(1) === 4);
    for (let left = 26; left > 0; left -= 1) {
      queue.endOne(1);
      await until(async () => queue.leftOf(1) === left - 1 && queue.runningOf(1) === 4);
    }
    expect(queue.order).toEqual(Array.from({ length: 30 }, (_, unit) => `1:${unit}`));
  });

  it('gives a slot that becomes free to the other tenant first', async () => {
    const queue = startQueue(1);
    for (let unit = 0; unit < 3; unit += 1) void queue.add(1, unit);
    await until(async () => queue.runningOf(1) === 1);
    void queue.add(2, 0);
    queue.endOne(1);
    await until(async () => queue.order.length === 2);
    expect(queue.order).toEqual(['1:0', '2:0']);
  });

  it('does not lose a unit that becomes due while the last one ends', async () => {
    const queue = startQueue(1);
    for (let unit = 0; unit < 50; unit += 1) {
      void queue.add(1, unit);
      await until(async () => queue.runningOf(1) === 1, { everyMs: 1 });
      void queue.add(1, 1_000 + unit);
      queue.endOne(1);
      await until(async () => queue.order.at(-1) === `1:${1_000 + unit}`, { everyMs: 1 });
      queue.endOne(1);
    }
  });

  it('claims nothing after it was closed, and waits for what runs', async () => {
    const queue = startQueue(1);
    void queue.add(1, 0);
    void queue.add(1, 1);
    await until(async () => queue.runningOf(1) === 1);
    const closed = queue.work.close();
    queue.endOne(1);
    await closed;
    expect(queue.order).toEqual(['1:0']);
    expect(queue.leftOf(1)).toBe(1);
  });
});

describe('units that are claimed together', () => {
  it('claims the units of a tenant together, up to its share, and leaves slots for another tenant', async () => {
    const queue = startBatches(6);
    queue.add(1, ...numbers(50));
    await until(async () => queue.runningOf(1) === 4);
    expect(queue.limits[0]).toBe(4);
    expect(queue.work.isBusy(1)).toBe(true);
    queue.add(2, 0);
    await until(async () => queue.runningOf(2) === 1);
    expect(queue.runningOf(1)).toBe(4);
  });

  it('processes everything of the backlog, in order, with the share of the tenant at all times', async () => {
    const queue = startBatches(6);
    queue.add(1, ...numbers(30));
    await until(async () => queue.runningOf(1) === 4);
    for (let left = 26; left > 0; left -= 1) {
      queue.endOne(1);
      await until(async () => queue.leftOf(1) === left - 1 && queue.runningOf(1) === 4);
    }
    expect(queue.order).toEqual(numbers(30).map((unit) => `1:${unit}`));
  });

  it('frees the slot of a unit that fails, and processes the others', async () => {
    const queue = startBatches(6);
    queue.add(1, -1, 1, 2, 3, 4);
    await until(async () => queue.runningOf(1) === 4);
    queue.endOne(1);
    await until(async () => queue.order.length === 5);
    expect(queue.errors).toEqual([new Error('unit -1')]);
  });

  it('does not lose a unit that becomes due while the last one ends', async () => {
    const queue = startBatches(1);
    for (let unit = 0; unit < 50; unit += 1) {
      queue.add(1, unit);
      await until(async () => queue.runningOf(1) === 1, { everyMs: 1 });
      queue.add(1, 1_000 + unit);
      queue.endOne(1);
      await until(async () => queue.order.at(-1) === `1:${1_000 + unit}`, { everyMs: 1 });
      queue.endOne(1);
    }
  });

  it('claims nothing after it was closed, and waits for what runs', async () => {
    const queue = startBatches(1);
    queue.add(1, 0, 1);
    await until(async () => queue.runningOf(1) === 1);
    const closed = queue.work.close();
    queue.endOne(1);
    await closed;
    expect(queue.order).toEqual(['1:0']);
    expect(queue.leftOf(1)).toBe(1);
  });

  it('claims again when a unit becomes due while a claim runs that does not see it', async () => {
    const due: number[] = [];
    const processed: number[] = [];
    const claims: (() => void)[] = [];
    const work = shareWork<number>({
      largestBatch: 24,
      async claim() {
        const units = due.splice(0);
        await new Promise<void>((resolve) => claims.push(resolve));
        return units;
      },
      async process(unit) {
        processed.push(unit);
        return null;
      },
      onError: (error) => {
        throw error;
      },
    });
    work.wake(1);
    await until(async () => claims.length === 1);
    due.push(7);
    work.wake(1);
    claims[0]!();
    await until(async () => claims.length === 2);
    claims[1]!();
    await until(async () => processed.length === 1);
  });
});
