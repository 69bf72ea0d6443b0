import { isDatabaseUnavailable } from './client';

/** Processes items together. Returns their results in the same order. */
type Work<Item, Result> = (items: readonly Item[]) => Promise<readonly Result[]>;

interface Waiting<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

/**
 * Returns a function whose calls are processed together: those of one turn of the event loop, and those that arrive while
 * `work` runs. Without load each call is processed at once; under load many share the cost of a statement or of a
 * transaction. At most `lanes` calls of `work` run at the same time, with at most `largest` items each; one more begins when
 * all of them take longer than `patienceMs`.
 *
 * `work` must be atomic. When it fails for several items, each of them is processed alone, so that only the one at fault
 * fails. When PostgreSQL is unavailable, all of them fail.
 */
export function batchCalls<Item, Result>(
  work: Work<Item, Result>,
  { lanes = 2, largest = 200, patienceMs }: { lanes?: number; largest?: number; patienceMs?: number } = {},
): (item: Item) => Promise<Result> {
  const waiting: Waiting<Item, Result>[] = [];
  let busy = 0;

  async function process(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await work(batch.map(({ item }) => item));
      for (const [at, { resolve }] of batch.entries()) resolve(results[at]!);
    } catch (error) {
      if (batch.length === 1 || isDatabaseUnavailable(error)) for (const { reject } of batch) reject(error);
      else for (const one of batch) await process([one]);
    }
  }

  async function drain(): Promise<void> {
    while (waiting.length > 0) await process(waiting.splice(0, largest));
    busy -= 1;
  }

  function begin(): void {
    busy += 1;
    setImmediate(drain);
  }

  let timer: NodeJS.Timeout | undefined;
  function beginLater(): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      if (waiting.length > 0) begin();
    }, patienceMs);
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (busy < lanes) begin();
      else if (patienceMs !== undefined) beginLater();
    });
}
