import {
  type WaitingMessage,
  claimDue,
  claimNext,
  finishMessage,
  postpone,
  renewClaims,
} from '@parley/channels';
import type { JobContext, JobPayload } from '@parley/redis';
import type { Logger } from '@parley/service';
import { type AnswerDeps, type AnswerFailure, answerMessage } from '../answers/answer-message';
import { notifyOfFailure } from '../answers/notify-of-failure';
import { type WorkContext, shareWork } from '../share-work';

/**
 * All attempts together take about 15 minutes, so a message survives a short outage of
 * the model provider.
 */
const maxAttempts = 10;
const maxDelayMs = 180_000;
const renewEveryMs = 1_000;

/**
 * Answers waiting messages, with a share of the process for each tenant. Several units may work on
 * one conversation: each message is claimed by one of them, which then continues with the
 * conversation's next message.
 */
export function createAnswerConversation(
  deps: AnswerDeps & { log: Logger; messagesPerContact: number },
) {
  const { db, channels, log, messagesPerContact } = deps;
  const answering = new Set<WaitingMessage>();
  const timer = setInterval(() => {
    if (answering.size === 0) return;
    renewClaims(db, answering).catch((error: unknown) =>
      log.warn({ err: error }, 'the leases of messages could not be renewed'),
    );
  }, renewEveryMs);
  timer.unref();

  const { run, close } = shareWork<WaitingMessage>({
    async claim(tenant) {
      const due = await claimDue(db, tenant, messagesPerContact);
      return due === null ? [] : [due];
    },
    largestBatch: 1,
    process: answer,
    onError: (error) => log.warn({ err: error }, 'waiting messages could not be answered'),
  });

  async function answer(message: WaitingMessage, { signal, jobId, requestId }: WorkContext) {
    answering.add(message);
    const continueConversation = () => claimNext(db, message, messagesPerContact);
    try {
      if (signal.aborted) throw signal.reason;
      const answered = await answerMessage(deps, message, signal);
      if (answered === null) return continueConversation;
      if (!answered.ok && signal.aborted) throw signal.reason;
      if (!answered.ok) {
        await fail(message, answered.failure);
        return answered.failure.isLasting ? continueConversation : null;
      }
      const { organizationId, environment, id: messageId } = message;
      const { threadId } = answered;
      log.info(
        { requestId, jobId, organizationId, environment, threadId, messageId },
        'a message was answered',
      );
      for (const id of answered.toSend) await channels.sendQueuedMessage(message, id);
      return continueConversation;
    } catch (error) {
      if (signal.aborted) await postpone(db, message, 'the worker was stopped', 0).catch(() => {});
      else {
        const text = error instanceof Error ? error.message : String(error);
        await fail(message, { error: text, isLasting: false, threadId: null, agent: null }).catch(
          () => {},
        );
      }
      throw error;
    } finally {
      answering.delete(message);
    }
  }

  /**
   * Sends the contact a notice when it is due, and ends the message or postpones it to
   * the next attempt.
   */
  async function fail(message: WaitingMessage, failure: AnswerFailure): Promise<void> {
    const { error, isLasting, threadId } = failure;
    const { toSend, patienceMs } = await notifyOfFailure(deps, message, failure);
    if (isLasting) {
      log.warn(
        { messageId: message.id, attempts: message.attempts, error },
        'a message cannot be answered',
      );
      await finishMessage(db, message, { status: 'failed', error, threadId });
    } else await retryLater(message, error, patienceMs);
    for (const id of toSend) await channels.sendQueuedMessage(message, id);
  }

  /** `patienceMs`: an attempt follows after this time, when the notice of an outage is due. */
  async function retryLater(
    message: WaitingMessage,
    error: string,
    patienceMs: number,
  ): Promise<void> {
    const { id, attempts } = message;
    log.warn({ messageId: id, attempts, error }, 'a message could not be answered');
    const delayMs = Math.min(1_000 * 3 ** (attempts - 1), maxDelayMs, patienceMs || maxDelayMs);
    if (attempts < maxAttempts) return postpone(db, message, error, delayMs);
    await finishMessage(db, message, { status: 'failed', error, threadId: null });
  }

  return {
    async handle(
      conversation: JobPayload<'answer-conversation'>,
      context: JobContext,
    ): Promise<void> {
      if (context.signal.aborted) throw context.signal.reason;
      await run(
        conversation.tenant,
        () => claimNext(db, conversation, messagesPerContact),
        context,
      );
    },
    close,
  };
}
