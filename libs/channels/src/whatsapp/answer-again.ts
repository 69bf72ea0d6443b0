import type { Scope } from '@parley/contracts';
import { type Queryable, column, leaseSql, statement } from '@parley/db';
import { contactOfThread } from './thread-key';

// A process that still has the message (`answering`) loses it here: its turn was ended by the takeover, and it sends nothing.
// `attempts` is 1, not 0: the messages joined with it end with it, and it is not delayed as one of too many.
const markLast = statement(
  'answer-again',
  `update messages set status = 'received', attempts = 1, ${leaseSql.release}, updated_at = now()
   where tenant = $1 and status in ('stored', 'answering') and id = (
     select coalesce(answered_with, id) from messages
     where tenant = $1 and environment = $2::"Environment" and contact = $3 and direction = 'inbound'
       and connection_id is not null
     order by created_at desc, id desc limit 1)
   returning connection_id as "connectionId", contact`,
  { connectionId: column.text, contact: column.text },
);

/**
 * Lets the agent answer the contact of a thread whose last messages have no answer. Returns the conversation for
 * the job `answer-conversation`; null when the contact writes over another channel or the last message was answered.
 */
export async function answerAgain(
  tx: Queryable,
  scope: Scope,
  externalThreadId: string | null,
): Promise<{ tenant: number; connectionId: string; contact: string } | null> {
  const contact = contactOfThread(externalThreadId);
  if (contact === null) return null;
  const [conversation] = (await tx.query(scope, markLast, [scope.tenant, scope.environment, contact])).rows;
  return conversation === undefined ? null : { tenant: scope.tenant, ...conversation };
}
