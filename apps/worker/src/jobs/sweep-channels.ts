import { findDueBlobs, findDueEmails, findDueMessages, findWaiting } from '@parley/channels';
import type { Db } from '@parley/db';
import type { JobContext, Queues } from '@parley/redis';

const limit = 500;
/** A worker that has a job of a tenant continues with the tenant's other conversations. */
const conversationLimit = 100;
const mediaLimit = 50;

/**
 * Enqueues jobs for overdue messages, e-mails and files: their job was lost, its process was
 * killed, or they were postponed.
 */
export const createSweepChannels =
  ({ db, queues }: { db: Db; queues: Queues }) =>
  async (_payload: object, { requestId }: JobContext): Promise<void> => {
    for (const conversation of await findWaiting(db, conversationLimit))
      await queues.enqueue('answer-conversation', conversation, { requestId });
    for (const messageId of await findDueMessages(db, limit))
      await queues.enqueue('send-message', { messageId }, { requestId });
    for (const { id: messageId, tenant } of await findDueBlobs(db, mediaLimit))
      await queues.enqueue('fetch-media', { tenant, messageId }, { requestId });
    for (const emailId of await findDueEmails(db, limit))
      await queues.enqueue('send-email', { emailId }, { requestId });
  };
