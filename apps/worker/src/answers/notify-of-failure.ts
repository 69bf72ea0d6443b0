import { addFailureReply, failureReply } from '@parley/agents';
import { type WaitingMessage, queueFailureReply, isFailureReplyDue } from '@parley/channels';
import { type AnswerDeps, type AnswerFailure, recipientOf } from './answer-message';

interface Notified {
  /** Messages to send. */
  toSend: string[];
  /** Time until the contact gets a notice of an outage; 0 when that time is over. */
  patienceMs: number;
}

/**
 * Sends a contact the notice that a message cannot be answered, in the thread and on the channel, when it is due. A process that is
 * killed afterwards sends it no second time. While a person answers the conversation, none is sent.
 */
export async function notifyOfFailure(
  { db }: AnswerDeps,
  message: WaitingMessage,
  { error, isLasting, threadId, agent, isSilent }: AnswerFailure,
): Promise<Notified> {
  const { isDue, patienceMs } = await isFailureReplyDue(db, message, isLasting);
  if (!isDue || isSilent) return { toSend: [], patienceMs };
  const text = await failureReply(db, message, agent, { threadId, reason: error });
  return db.transaction(async (tx) => {
    const isStored = threadId === null || (await addFailureReply(tx, message, { threadId, text }));
    if (!isStored) return { toSend: [], patienceMs };
    const id = await queueFailureReply(tx, message, message, { recipient: recipientOf(message), text, threadId });
    return { toSend: [id], patienceMs };
  });
}
