import { mergeThreads } from '@parley/agents';
import type { JsonObject, Scope } from '@parley/contracts';
import { applyMessageStatus, findConnection, itemsOf, phoneNumberIdOf, storeInbound } from '@parley/channels';
import type { Db } from '@parley/db';
import type { Queues } from '@parley/redis';
import { type Delivery, type Outcome, readJsonObject } from '@parley/webhooks';
import { onDelivery } from '../deliveries/on-delivery';

/**
 * A delivery of messages that came in, or of statuses of those that went out, single or in a batch. It only keeps them:
 * who is to be answered gets a job of its own, and the sweep stands behind that.
 */
export const createReceiveMessages = (deps: { db: Db; queues: Queues }) =>
  onDelivery(deps, async (delivery, { requestId }) => {
    const { db, queues } = deps;
    const parsed = readJsonObject(delivery.body) ?? {};
    const outcomes: ItemOutcome[] = [];
    const waiting = new Map<string, { connectionId: string; contact: string }>();
    for (const item of itemsOf(parsed)) {
      const outcome = await receiveItem(db, item, delivery);
      outcomes.push(outcome);
      if (outcome.waiting) waiting.set(`${outcome.waiting.connectionId} ${outcome.waiting.contact}`, outcome.waiting);
    }
    for (const payload of waiting.values())
      await queues.enqueue('answer-conversation', payload, { requestId }).catch(() => {});
    return summarize(outcomes);
  });

interface ItemOutcome {
  status: Outcome['status'];
  reason?: string;
  organizationId?: string;
  waiting?: { connectionId: string; contact: string };
}

async function receiveItem(db: Db, item: JsonObject, delivery: Delivery): Promise<ItemOutcome> {
  const eventType = delivery.eventType ?? '';
  const phoneNumberId = phoneNumberIdOf(item) ?? '';
  const connection = await findConnection(db, phoneNumberId);
  if (connection === null)
    return { status: 'unattributed', reason: `phone number ${phoneNumberId} belongs to no connection` };
  const { id: connectionId, organizationId } = connection;
  if (!isOwnedBy(connection, delivery))
    return { status: 'unattributed', reason: `phone number ${phoneNumberId} belongs to another connection by now` };
  if (!eventType.endsWith('.received')) {
    const applied = await applyMessageStatus(db, connection, { connectionId, eventType, item });
    if (!applied.ok) return { status: 'failed', reason: applied.reason, organizationId };
    // The number's app and other software send from it, too.
    return applied.isKnown
      ? { status: 'processed', organizationId }
      : { status: 'ignored', reason: 'not a message of ours (yet)', organizationId };
  }
  const stored = await storeInbound(db, connection, connectionId, item, mergeThreads);
  if (!stored.ok) return { status: 'failed', reason: stored.reason, organizationId };
  return {
    status: 'processed',
    organizationId,
    ...(stored.isToBeAnswered && { waiting: { connectionId, contact: stored.contact } }),
  };
}

/** False when the number belongs to another connection by now. A delivery that was replayed may have no owner. */
const isOwnedBy = (owner: Scope, { tenant, environment }: Delivery): boolean =>
  (tenant === null || tenant === owner.tenant) && (environment === null || environment === owner.environment);

/** The worst of a batch is what people have to see. */
function summarize(outcomes: ItemOutcome[]): Outcome {
  const order = ['failed', 'unattributed', 'processed', 'ignored'] as const;
  const worst = order.map((status) => outcomes.find((one) => one.status === status)).find((one) => one !== undefined);
  if (worst === undefined) return { status: 'ignored', reason: 'the batch is empty' };
  const { status, reason, organizationId } = worst;
  return { status, reason, organizationId };
}
