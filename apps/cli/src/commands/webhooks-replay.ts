import type { Queryable } from '@parley/db';
import { type DeliveryStatus, findDelivery, replayDeliveries } from '@parley/webhooks';
import { withDatabase } from '../database';
import { Failure, usageFailure } from '../failure';
import { print, printJson } from '../terminal';

/** `parley webhooks replay`: the worker takes the deliveries up again within seconds. What they did before is not repeated. */
export async function runWebhooksReplay(
  ids: string[],
  { status, json }: { status?: DeliveryStatus; json?: boolean },
): Promise<void> {
  if ((ids.length === 0) === (status === undefined)) throw usageFailure('Say which: ids, or --status');
  const count = await withDatabase(async (db) => replayDeliveries(db, await resolveIds(db, ids), status));
  const wanted = new Set(ids).size;
  if (count < wanted)
    throw new Failure(`${count} of ${wanted} can be replayed: refused ones cannot`, undefined, { replayed: count });
  if (json) return printJson({ replayed: count });
  print(`${count} ${count === 1 ? 'delivery is' : 'deliveries are'} worked off once more.`);
}

/** Our ids of what is named by ours or by the provider's, as `webhooks show` takes them; one nobody knows stops all. */
async function resolveIds(db: Queryable, names: string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const name of names) {
    const delivery = await findDelivery(db, name);
    if (delivery === null) throw new Failure(`No delivery "${name}"`);
    ids.push(delivery.id);
  }
  return ids;
}
