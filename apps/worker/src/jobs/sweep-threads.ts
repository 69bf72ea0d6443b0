import {
  type DueThread,
  eraseThread,
  findDueThreads,
  findExpiredThreads,
  settleDueThread,
} from '@parley/agents';
import { type Channels, answerAgain } from '@parley/channels';
import type { Scope } from '@parley/contracts';
import type { Db, Queryable } from '@parley/db';
import { listMemberEmails, readOrganization } from '@parley/identity';
import type { JobContext, Queues } from '@parley/redis';
import type { Logger } from '@parley/service';

const limit = 100;

interface Deps {
  db: Db;
  queues: Queues;
  channels: Pick<Channels, 'queueEmail'>;
  log: Pick<Logger, 'warn'>;
}

/**
 * Gives threads back to the agent at the end of a takeover, sends e-mails about threads that wait
 * for a person, and erases threads of single requests.
 */
export const createSweepThreads =
  ({ db, queues, channels, log }: Deps) =>
  async (
    _payload: object,
    { requestId, signal }: Pick<JobContext, 'requestId' | 'signal'>,
  ): Promise<void> => {
    for (const { id, ...scope } of await findDueThreads(db, limit)) {
      if (signal.aborted) return;
      try {
        await settle(scope, id, requestId);
      } catch (error) {
        log.warn({ err: error, threadId: id }, 'a due thread could not be settled');
      }
    }
    for (const { id, ...scope } of await findExpiredThreads(db, limit)) {
      if (signal.aborted) return;
      try {
        await db.transaction((tx) => eraseThread(tx, scope, { id }));
      } catch (error) {
        log.warn({ err: error, threadId: id }, 'an expired thread could not be erased');
      }
    }

    async function settle(scope: Scope, id: string, requestId: string | undefined): Promise<void> {
      const job = await db.transaction(async (tx) => {
        const due = await settleDueThread(tx, scope, id);
        if (due === null) return null;
        if (due.notice !== null) {
          const emailId = await notify(tx, scope, id, due.notice);
          return emailId === null
            ? null
            : () => queues.enqueue('send-email', { emailId }, { requestId });
        }
        const conversation =
          due.unanswered === null ? null : await answerAgain(tx, scope, due.unanswered);
        return conversation === null
          ? null
          : () => queues.enqueue('answer-conversation', conversation, { requestId });
      });
      await job?.().catch(() => {});
    }

    async function notify(
      tx: Queryable,
      scope: Scope,
      threadId: string,
      { reason, contactName, waitingSince }: NonNullable<DueThread['notice']>,
    ): Promise<string | null> {
      const { conversations, name } = await readOrganization(tx, scope.organizationId);
      const to =
        conversations.notifyEmails.length > 0
          ? conversations.notifyEmails
          : await listMemberEmails(tx, scope.tenant);
      if (to.length === 0) return null;
      const queued = await channels.queueEmail(tx, scope, {
        to,
        subject: `${name}: ${contactName ?? 'a contact'} is waiting for a person`,
        content: {
          text: `${contactName ?? 'A contact'} is waiting for an answer.\n\nReason: ${reason}\nThread: ${threadId}\n`,
        },
        key: `waiting-${threadId}-${waitingSince?.getTime()}`,
      });
      return queued.ok ? queued.id : null;
    }
  };
