import type { Queryable } from '@parley/db';
import { type DeliveryStatus, findDelivery, replayDeliveries } from '@parley/webhooks';
import { withDatabase } from '../database';
import { Failure, usageFailure } from '../failure';
import { print, printJson } from '../terminal';

/** `parley webhooks replay`: queues deliveries for the worker. Effects of earlier processing are not repeated. */
export async function runWebhooksReplay(
  ids: string[],
  { status, json }: { status?: DeliveryStatus; json?: boolean },
): Promise<void> {
  if ((ids.length === 0) === (status === undefined))
    throw usageFailure('Name the deliveries either by id or with --status');
  const count = await withDatabase(async (db) => replayDeliveries(db, await resolveIds(db, ids), status));
  const requested = new Set(ids).size;
  if (count < requested)
    throw new Failure(
      `${count} of ${requested} deliveries will be processed again. Rejected deliveries cannot be replayed`,
      undefined,
      { replayed: count },
    );
  if (json) return printJson({ replayed: count });
  print(`${count} ${count === 1 ? 'delivery' : 'deliveries'} will be processed again.`);
}

/** Finds deliveries by their ids or the provider's ids. Throws when one does not exist, before any is replayed. */
async function resolveIds(db: Queryable, names: string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const name of names) {
    const delivery = await findDelivery(db, name);
    if (delivery === null) throw new Failure(`No delivery "${name}"`);
    ids.push(delivery.id);
  }
  return ids;
}
