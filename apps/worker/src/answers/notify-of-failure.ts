import { addFailureReply, failureReply, readThread } from '@parley/agents';
import {
  type WaitingMessage,
  holdClaim,
  queueFailureReply,
  readFailureReplyState,
  threadKeyOf,
} from '@parley/channels';
import { type AnswerDeps, type AnswerFailure, recipientOf } from './answer-message';

interface Notified {
  /** Messages to send. */
  toSend: string[];
  /** Time until the contact gets a notice of an outage; 0 when that time is over. */
  patienceMs: number;
}

/**
 * Sends a contact the notice that a message cannot be answered, in the thread and on the channel,
 * when it is due, and hands the conversation over if the agent says so. A process that is killed
 * afterwards sends it no second time. While a person answers the conversation, or when another
 * process has claimed the message, none is sent.
 */
export async function notifyOfFailure(
  { db, agents }: AnswerDeps,
  message: WaitingMessage,
  { error, isLasting, threadId: turnThreadId, agent, isSilent }: AnswerFailure,
): Promise<Notified> {
  const { isTime, wasSent, patienceMs } = await readFailureReplyState(db, message, isLasting);
  const none = { toSend: [], patienceMs };
  if (!isTime || isSilent) return none;
  // A failure before a turn was stored belongs to the contact's thread too.
  const threadId =
    turnThreadId ?? (await readThread(db, message, threadKeyOf(message.contact)))?.id ?? null;
  const failing =
    agent ??
    (message.agentSlug === null ? null : await agents.describe(message, message.agentSlug));
  const text = await failureReply(db, message, failing, { threadId, reason: error });
  if (wasSent) return none;
  return db.transaction(async (tx) => {
    if (!(await holdClaim(tx, message))) return none;
    if (threadId !== null && !(await addFailureReply(tx, message, { threadId, text }))) return none;
    const id = await queueFailureReply(tx, message, message, {
      recipient: recipientOf(message),
      text,
      threadId,
    });
    return { toSend: [id], patienceMs };
  });
}
