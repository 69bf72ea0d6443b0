import type { Scope } from '@parley/contracts';
import { type Queryable, column, leaseSql, statement } from '@parley/db';

const ofContact = (name: string): string =>
  `${name}.tenant = $tenant and ${name}.environment = $environment::"Environment" and ${name}.contact = first.contact
     and ${name}.direction = 'inbound'`;

// A process that still has the message (`answering`) loses it, as its turn has ended. With an
// attempt the message counts as claimed before: it is not delayed as one of too many, and those
// joined with it are read again. A text that waits after it is answered alone, because the agent
// reads both then.
const receiveAgain = statement(
  'answer-again',
  `with first as (
     select contact from messages
     where tenant = $tenant and environment = $environment::"Environment" and id = $requestId and direction = 'inbound'
       and connection_id is not null and status in ('stored', 'answering') for update),
   again as (
     select o.id from first join messages o on ${ofContact('o')}
     where (o.id = $requestId or o.answered_with = $requestId and o.status in ('received', 'stored')) and not exists (
       select from messages p where ${ofContact('p')} and p.connection_id is not null and p.status in ('received', 'answering')
         and p.text is not null and p.id <> $requestId and p.answered_with is distinct from $requestId))
   update messages m set status = 'received', attempts = case when m.id = $requestId then 1 else m.attempts end,
     ${leaseSql.release},
          updated_at = now()
   from again where m.tenant = $tenant and m.id = again.id
   returning m.connection_id as "connectionId", m.contact`,
  { connectionId: column.text, contact: column.text },
);

/**
 * Lets the agent answer the message of a channel with this id (the request of its turn), which has
 * no answer, and those joined with it. Returns the conversation for the job `answer-conversation`;
 * null when no channel has the message, or when a later text waits already.
 */
export async function answerAgain(
  tx: Queryable,
  scope: Scope,
  requestId: string,
): Promise<{ tenant: number; connectionId: string; contact: string } | null> {
  const [conversation] = (
    await tx.query(scope, receiveAgain, { environment: scope.environment, requestId })
  ).rows;
  return conversation === undefined ? null : { tenant: scope.tenant, ...conversation };
}
