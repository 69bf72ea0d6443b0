import { mergeThreads, recordPhoneReply } from '@parley/agents';
import type { JsonObject, Scope } from '@parley/contracts';
import {
  type PhoneMessage,
  applyMessageStatus,
  findConnection,
  itemsOf,
  phoneNumberIdOf,
  storeInbound,
  storePhoneReply,
} from '@parley/channels';
import type { Db, Queryable } from '@parley/db';
import { readOrganization } from '@parley/identity';
import type { JobPayload } from '@parley/redis';
import { type Delivery, type Outcome, readJsonObject } from '@parley/webhooks';
import { type DeliveryJobDeps, createDeliveryJob } from './create-delivery-job';

/**
 * Processes a delivery of inbound messages or of statuses of outbound messages, single or in a
 * batch. It only stores them. Each conversation to answer gets its own job; if that job is lost,
 * sweep-channels sends it again.
 */
export const createReceiveMessages = (deps: DeliveryJobDeps) =>
  createDeliveryJob(deps, 'receive-messages', 20, async (delivery, { requestId }) => {
    const { db, queues } = deps;
    const parsed = readJsonObject(delivery.body) ?? {};
    const outcomes: ItemOutcome[] = [];
    const waiting = new Map<string, JobPayload<'answer-conversation'>>();
    for (const item of itemsOf(parsed)) {
      const outcome = await receiveItem(db, item, delivery);
      outcomes.push(outcome);
      if (outcome.waiting)
        waiting.set(`${outcome.waiting.connectionId} ${outcome.waiting.contact}`, outcome.waiting);
    }
    for (const payload of waiting.values())
      await queues.enqueue('answer-conversation', payload, { requestId }).catch(() => {});
    return summarize(outcomes);
  });

interface ItemOutcome {
  status: Outcome['status'];
  reason?: string;
  organizationId?: string;
  environment?: Outcome['environment'];
  waiting?: JobPayload<'answer-conversation'>;
}

async function receiveItem(db: Db, item: JsonObject, delivery: Delivery): Promise<ItemOutcome> {
  const eventType = delivery.eventType ?? '';
  const phoneNumberId = phoneNumberIdOf(item) ?? '';
  const connection = await findConnection(db, phoneNumberId);
  if (connection === null)
    return {
      status: 'unattributed',
      reason: `phone number ${phoneNumberId} belongs to no connection`,
    };
  const { id: connectionId, organizationId, environment } = connection;
  const owner = { organizationId, environment };
  if (!isOwnedBy(connection, delivery))
    return {
      status: 'unattributed',
      reason: `phone number ${phoneNumberId} now belongs to another connection`,
    };
  const isPhoneReply = await storePhoneReply(
    db,
    connection,
    { connectionId, item },
    mergeThreads,
    addToThread,
  );
  if (isPhoneReply || !eventType.endsWith('.received')) {
    const applied = await applyMessageStatus(db, connection, { connectionId, eventType, item });
    if (!applied.ok) return { status: 'failed', reason: applied.reason, ...owner };
    // Other software also sends messages from this number.
    return applied.isKnown
      ? { status: 'processed', ...owner }
      : { status: 'ignored', reason: 'not a message of ours (yet)', ...owner };
  }
  const stored = await storeInbound(db, connection, connectionId, item, mergeThreads);
  if (!stored.ok) return { status: 'failed', reason: stored.reason, ...owner };
  return {
    status: 'processed',
    ...owner,
    ...(stored.isToBeAnswered && {
      waiting: { tenant: connection.tenant, connectionId, contact: stored.contact },
    }),
  };
}

/** A reply from the phone pauses the agent, from the time when it was written. */
async function addToThread(tx: Queryable, scope: Scope, message: PhoneMessage): Promise<void> {
  const { externalThreadId: externalId, text: content, channelMessageId, sentAt } = message;
  const { conversations } = await readOrganization(tx, scope.organizationId);
  const resumesAt = new Date(sentAt.getTime() + conversations.phonePauseMinutes * 60_000);
  await recordPhoneReply(tx, scope, { externalId, content, channelMessageId, resumesAt });
}

/**
 * False when the number now belongs to another connection. A replayed delivery may
 * have no owner yet.
 */
const isOwnedBy = (owner: Scope, { tenant, environment }: Delivery): boolean =>
  (tenant === null || tenant === owner.tenant) &&
  (environment === null || environment === owner.environment);

/** The outcome of a batch is its worst one, so that a failure of one item is not hidden. */
function summarize(outcomes: ItemOutcome[]): Outcome {
  const order = ['failed', 'unattributed', 'processed', 'ignored'] as const;
  const worst = order
    .map((status) => outcomes.find((one) => one.status === status))
    .find((one) => one !== undefined);
  if (worst === undefined) return { status: 'ignored', reason: 'the batch is empty' };
  const { status, reason, organizationId, environment } = worst;
  return { status, reason, organizationId, environment };
}
