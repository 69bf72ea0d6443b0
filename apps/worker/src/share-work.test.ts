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
    claimNext: async (tenant) => {
      const unit = await take(tenant);
      return unit === null ? null : { tenant, unit };
    },
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
