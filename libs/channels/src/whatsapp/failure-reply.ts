import type { Scope } from '@parley/contracts';
import { type Queryable, type RowOf, column, statement } from '@parley/db';
import { queueMessage } from './outbox';
import { requestOf } from './request-of';
import type { WaitingMessage } from './waiting-messages';

/** After this time a contact gets a notice of an outage, while the attempts continue. */
const patienceSeconds = 60;
const keyPrefix = 'failure-';

const dueRow = {
  /** No later attempt can succeed, or the contact has waited long enough. */
  isTime: column.bool,
  /** Whether a notice was sent within the last hour. */
  wasSent: column.bool,
  /** Time until the notice of an outage is due; 0 when that time is over. */
  patienceMs: column.float8,
};

const due = statement(
  'failure-reply-state',
  `select ($isLasting or m.created_at <= now() - interval '${patienceSeconds} seconds') as "isTime", exists (
            select from messages sent
            where sent.tenant = $tenant and sent.environment = m.environment and sent.contact = m.contact
              and sent.direction = 'outbound' and sent.created_at > now() - interval '1 hour'
              and sent.idempotency_key like '${keyPrefix}%') as "wasSent",
          greatest(0, extract(epoch from m.created_at - now()) + ${patienceSeconds})::float8 * 1000 as "patienceMs"
   from messages m where m.tenant = $tenant and m.id = $id`,
  dueRow,
);

/**
 * When a contact gets the notice that the message cannot be answered: at once if no later attempt
 * can succeed (`isLasting`), else a minute after it arrived; at most once an hour.
 */
export async function readFailureReplyState(
  db: Queryable,
  { tenant, id }: Pick<WaitingMessage, 'tenant' | 'id'>,
  isLasting: boolean,
): Promise<RowOf<typeof dueRow>> {
  const { rows } = await db.query({ tenant }, due, { id, isLasting });
  return rows[0] ?? { isTime: false, wasSent: false, patienceMs: 0 };
}

const hourMs = 3_600_000;

/**
 * Adds the notice to the outbox. Returns the id of the message to send. A message that fails again
 * after an hour gets another one.
 */
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
    key: `${keyPrefix}${message.id}-${Math.floor(Date.now() / hourMs)}`,
  });
  return id;
}
