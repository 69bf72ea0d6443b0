import { addFailureReply, failureReply } from '@parley/agents';
import { type WaitingMessage, queueFailureReply, whetherToTellFailure } from '@parley/channels';
import { type AnswerDeps, type AnswerFailure, recipientOf } from './answer-message';

interface Told {
  /** Messages to send. */
  toSend: string[];
  /** Time until the contact is told of an outage; 0 when that time is over. */
  patienceMs: number;
}

/**
 * Tells a contact that a message cannot be answered, in the thread and on the channel, when it is time for it. A process that is
 * killed afterwards tells it no second time. While a person answers the conversation nobody is told.
 */
export async function tellFailure(
  { db }: AnswerDeps,
  message: WaitingMessage,
  { error, isLasting, threadId, agent, isSilent }: AnswerFailure,
): Promise<Told> {
  const { isDue, patienceMs } = await whetherToTellFailure(db, message, isLasting);
  if (!isDue || isSilent) return { toSend: [], patienceMs };
  const text = await failureReply(db, message, agent, { threadId, reason: error });
  return db.transaction(async (tx) => {
    const isTold = threadId === null || (await addFailureReply(tx, message, { threadId, text }));
    if (!isTold) return { toSend: [], patienceMs };
    const id = await queueFailureReply(tx, message, message, { recipient: recipientOf(message), text, threadId });
    return { toSend: [id], patienceMs };
  });
}
