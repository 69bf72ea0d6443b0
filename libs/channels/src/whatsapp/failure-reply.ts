import type { Scope } from '@parley/contracts';
import { type Queryable, column, statement } from '@parley/db';
import { queueMessage } from './outbox';
import { requestOf } from './request-of';
import type { WaitingMessage } from './waiting-messages';

/** After this time a contact is told of an outage, while the attempts go on. */
const patienceSeconds = 60;
const keyPrefix = 'failure-';

const turnedDown = {
  /** Whether the contact is to be told now. */
  isDue: column.bool,
  /** Time until the contact is told of an outage; 0 when that time is over. */
  patienceMs: column.float8,
};

const whetherToTell = statement(
  'whether-to-tell-failure',
  `select ($3 or m.created_at <= now() - interval '${patienceSeconds} seconds') and not exists (
            select from messages told
            where told.tenant = $1 and told.environment = m.environment and told.contact = m.contact
              and told.direction = 'outbound' and told.created_at > now() - interval '1 hour'
              and told.idempotency_key like '${keyPrefix}%') as "isDue",
          greatest(0, extract(epoch from m.created_at - now()) + ${patienceSeconds})::float8 * 1000 as "patienceMs"
   from messages m where m.tenant = $1 and m.id = $2`,
  turnedDown,
);

/**
 * Whether a contact is told that the message cannot be answered: at once if no later attempt can succeed (`isLasting`), else
 * a minute after it arrived; at most once an hour.
 */
export async function whetherToTellFailure(
  db: Queryable,
  { tenant, id }: Pick<WaitingMessage, 'tenant' | 'id'>,
  isLasting: boolean,
): Promise<{ isDue: boolean; patienceMs: number }> {
  const { rows } = await db.query({ tenant }, whetherToTell, [tenant, id, isLasting]);
  return rows[0] ?? { isDue: false, patienceMs: 0 };
}

/** Adds the text of a failure to the outbox, once for each message. Returns the id of the message to send. */
export async function queueFailureReply(
  tx: Queryable,
  scope: Scope,
  message: Pick<WaitingMessage, 'id' | 'connectionId' | 'contact'>,
  { recipient, text, threadId }: { recipient: string; text: string; threadId: string | null },
): Promise<string> {
  const { id } = await queueMessage(tx, scope, {
    connectionId: message.connectionId,
    contact: message.contact,
    type: 'text',
    text,
    request: requestOf(recipient, 'text', { body: text, preview_url: false }),
    threadId,
    key: `${keyPrefix}${message.id}`,
  });
  return id;
}
