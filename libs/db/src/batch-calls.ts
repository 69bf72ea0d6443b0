import { isDatabaseUnavailable } from './database-unavailable';

/** Processes items together. Returns their results in the same order. Must be atomic. */
type Work<Item, Result> = (items: readonly Item[]) => Promise<readonly Result[]>;

interface Waiting<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

/** The calls with one key. */
interface Group<Item, Result> {
  waiting: Waiting<Item, Result>[];
  /** Calls of `work` that run. */
  busy: number;
  timer?: NodeJS.Timeout;
}

export interface BatchOptions<Item> {
  /** Only items with the same key are processed together. */
  keyOf?: (item: Item) => string | number;
  /** Calls of `work` for a key that run at the same time. */
  lanes?: number;
  /** Maximum number of items of a call. */
  largest?: number;
  /** One more call of `work` begins when items have waited this long for the others. */
  patienceMs?: number;
  /**
   * The first call does not wait for the others of its turn of the event loop. For work whose cost
   * is mostly its round trip.
   */
  startsAtOnce?: boolean;
  /** All items fail with their batch, because none of them alone can be at fault. */
  failsTogether?: boolean;
}

/**
 * Returns a function whose calls are processed together: those of one turn of the event loop, and
 * those that arrive while `work` runs. Without load each call is processed at once; under load many
 * share the cost of a statement or of a transaction.
 *
 * When `work` fails for several items, each of them is processed alone, so that only the one at
 * fault fails. When PostgreSQL is unavailable, all of them fail.
 */
export function batchCalls<Item, Result>(
  work: Work<Item, Result>,
  {
    keyOf = () => 0,
    lanes = 2,
    largest = 200,
    patienceMs,
    startsAtOnce,
    failsTogether,
  }: BatchOptions<Item> = {},
): (item: Item) => Promise<Result> {
  /** A group without calls is deleted. */
  const groups = new Map<string | number, Group<Item, Result>>();

  async function process(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await work(batch.map(({ item }) => item));
      for (const [at, { resolve }] of batch.entries()) resolve(results[at]!);
    } catch (error) {
      if (batch.length === 1 || failsTogether || isDatabaseUnavailable(error))
        for (const { reject } of batch) reject(error);
      else for (const one of batch) await process([one]);
    }
  }

  async function drain(key: string | number, group: Group<Item, Result>): Promise<void> {
    while (group.waiting.length > 0) await process(group.waiting.splice(0, largest));
    group.busy -= 1;
    if (group.busy === 0) groups.delete(key);
  }

  function begin(key: string | number, group: Group<Item, Result>): void {
    group.busy += 1;
    if (startsAtOnce) void drain(key, group);
    else setImmediate(() => void drain(key, group));
  }

  function beginLater(key: string | number, group: Group<Item, Result>): void {
    group.timer ??= setTimeout(() => {
      group.timer = undefined;
      if (group.waiting.length > 0) begin(key, group);
    }, patienceMs);
  }

  return (item) =>
    new Promise((resolve, reject) => {
      const key = keyOf(item);
      const group = groups.get(key) ?? { waiting: [], busy: 0 };
      groups.set(key, group);
      group.waiting.push({ item, resolve, reject });
      if (group.busy < lanes) begin(key, group);
      else if (patienceMs !== undefined) beginLater(key, group);
    });
}
