import { replayDeliveries } from '@parley/webhooks';
import { withDatabase } from '../database';
import { Failure, usageFailure } from '../failure';
import { print, printJson } from '../terminal';

/** `parley webhooks replay`: the worker takes the deliveries up again within seconds. What they did before is not repeated. */
export async function runWebhooksReplay(
  ids: string[],
  { status, json }: { status?: string; json?: boolean },
): Promise<void> {
  if ((ids.length === 0) === (status === undefined)) throw usageFailure('Say which: ids, or --status');
  const count = await withDatabase(async ({ pool }) => {
    if (status === undefined) return replayDeliveries(pool, ids);
    const { rows } = await pool.query<{ id: string }>(
      'select id from webhook_deliveries where status = $1::"DeliveryStatus"',
      [status],
    );
    return replayDeliveries(
      pool,
      rows.map(({ id }) => id),
    );
  });
  if (json) return printJson({ replayed: count });
  if (count < ids.length) throw new Failure(`${count} of ${ids.length} can be replayed: refused ones cannot`);
  print(`${count} ${count === 1 ? 'delivery is' : 'deliveries are'} worked off once more.`);
}
