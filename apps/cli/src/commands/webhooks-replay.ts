import { findDelivery, replayDeliveries } from '@parley/webhooks';
import { withDatabase } from '../database';
import { Failure, usageFailure } from '../failure';
import { type KeyOptions, changeEach, withManage } from '../manage';
import { print, printJson } from '../terminal';

export interface WebhooksReplayOptions extends KeyOptions {
  status?: 'processed' | 'ignored' | 'failed';
  provider?: string;
  unattributed?: true;
}

/**
 * `parley webhooks replay`: processes deliveries again. Effects of earlier processing
 * are not repeated.
 */
export async function runWebhooksReplay(
  ids: string[],
  options: WebhooksReplayOptions,
): Promise<void> {
  const { status, provider, unattributed, json } = options;
  if (ids.length > 0 ? status !== undefined : status === undefined && !unattributed)
    throw usageFailure('Name the deliveries either by id, with --status or with --unattributed');
  const { results, problems } = unattributed
    ? await replayUnattributed(ids)
    : await withManage(options, async (manage) => {
        if (status !== undefined)
          return {
            results: [await manage.replayWebhookDeliveries({ status, provider })],
            problems: [],
          };
        return changeEach(ids, async (id) => ({
          ...(await manage.replayWebhookDelivery({ id })),
          deliveries: 1,
        }));
      });
  const replayed = results.reduce((sum, { deliveries }) => sum + deliveries, 0);
  if (!json && replayed > 0)
    print(`${replayed} ${replayed === 1 ? 'delivery' : 'deliveries'} will be processed again.`);
  if (problems.length > 0) throw new Failure(problems.join('\n'), undefined, { replayed });
  if (json) return printJson({ replayed });
  if (replayed === 0) print('No delivery matches.');
}

/** Replays the named deliveries without an organization, or all that are unattributed. */
const replayUnattributed = (names: string[]) =>
  withDatabase(async (db) => {
    if (names.length === 0)
      return {
        results: [{ deliveries: await replayDeliveries(db, [], 'unattributed') }],
        problems: [],
      };
    const problems: string[] = [];
    const ids: string[] = [];
    for (const name of new Set(names)) {
      const found = await findDelivery(db, name);
      if (found === null)
        problems.push(`${name}: not found among the deliveries without an organization`);
      else if (found.status === 'rejected')
        problems.push(`${name}: a rejected delivery cannot be replayed`);
      else ids.push(found.id);
    }
    return { results: [{ deliveries: await replayDeliveries(db, ids) }], problems };
  });
