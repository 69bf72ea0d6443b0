import type {
  BulkInput,
  Entity,
  EntityPage,
  JsonObject,
  ParleyClient,
  QueryInput,
} from '@parley/client';
import { randomKey } from '../../api/random-key';
import { untilAdmitted } from '../../work/until-admitted';
import type { Progress } from '../../work/work';

export type Operation = BulkInput<JsonObject>['operations'][number];
export type Query = Pick<QueryInput<JsonObject>, 'filters' | 'status' | 'sort'>;

/** Operations of one request. */
export const maxOperations = 500;
/** Bytes of the operations of one request, unless it has only one. A request may have 8 MiB. */
const maxBytes = 4 * 1_048_576;
export const pageSize = 100;

/** The pages of a query, one after the other, as fast as the server admits them. */
export async function* pagesOf(
  client: ParleyClient,
  type: string,
  query: Query,
  progress: Progress,
): AsyncGenerator<EntityPage> {
  for (let cursor: string | undefined; ;) {
    const input = { ...query, cursor, limit: pageSize } as QueryInput<JsonObject>;
    const page = await untilAdmitted(
      () => client.data.query(type, input, { signal: progress.signal }) as Promise<EntityPage>,
      progress,
    );
    yield page;
    if (!page.hasMore) return;
    cursor = page.cursor;
  }
}

/** The matching entities, in groups of at most 500. */
export async function* groupsOf(
  client: ParleyClient,
  type: string,
  query: Query,
  progress: Progress,
): AsyncGenerator<Entity[]> {
  let group: Entity[] = [];
  // In the order of creation: a change of a field moves no entity to another page.
  for await (const { data } of pagesOf(client, type, { ...query, sort: undefined }, progress)) {
    group.push(...data);
    if (group.length + pageSize <= maxOperations) continue;
    yield group;
    group = [];
  }
  if (group.length > 0) yield group;
}

/** How many operations from a place on fit into one request. */
export function batchSize(operations: readonly Operation[], from: number): number {
  let bytes = 0;
  let count = 0;
  while (count < maxOperations && from + count < operations.length) {
    bytes += new Blob([JSON.stringify(operations[from + count])]).size;
    if (count > 0 && bytes > maxBytes) break;
    count += 1;
  }
  return count;
}

/**
 * Makes changes, each on its own, in requests of at most 500. `onResult` gets the reason of those
 * that were refused.
 */
export async function change(
  client: ParleyClient,
  type: string,
  operations: readonly Operation[],
  progress: Progress,
  onResult: (index: number, reason: string | null, id: string | null) => void,
): Promise<void> {
  for (let from = 0; from < operations.length;) {
    const batch = operations.slice(from, from + batchSize(operations, from));
    // The same key with each repetition: a batch whose answer was lost is not made twice.
    const idempotencyKey = randomKey();
    // A request that was sent is answered even when the work is stopped, so that what was
    // changed is known.
    const { results } = await untilAdmitted(
      () => client.data.bulk(type, { operations: batch }, { idempotencyKey }),
      progress,
    );
    for (const [at, result] of results.entries())
      onResult(from + at, result.ok ? null : reasonOf(result), result.ok ? result.id : null);
    from += batch.length;
  }
}

export const reasonOf = ({
  error,
  details,
}: {
  error: string;
  details?: { message: string }[];
}): string => (details?.[0] === undefined ? error : details[0].message);
