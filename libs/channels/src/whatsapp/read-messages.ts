import type { Scope } from '@parley/contracts';
import { type Page, type Paged, type Queryable, pageValues, toPaged } from '@parley/db';
import { replyKey, retryKeySql } from './message-keys';

export interface ChannelMessage {
  id: string;
  /** The provider's. */
  messageId: string | null;
  direction: 'inbound' | 'outbound';
  contact: string;
  type: string;
  text: string | null;
  status: string;
  attempts: number;
  error: string | null;
  createdAt: Date;
}

/** Messages of channels, in both directions, newest first. `contact` is the digits of a number or a scoped id. */
export async function listMessages(
  db: Queryable,
  { organizationId, environment }: Scope,
  { status, direction, contact, ...page }: Page & { status?: string; direction?: string; contact?: string },
): Promise<Paged<ChannelMessage>> {
  const { rows } = await db.raw<ChannelMessage>(
    `select id, message_id as "messageId", direction, contact, type, text, status, attempts, error,
            created_at as "createdAt"
     from messages
     where organization_id = $1 and environment = $2::"Environment" and ($3::text is null or status = $3)
       and ($4::text is null or direction = $4::"MessageDirection") and ($5::text is null or contact = $5)
       and ($6::timestamptz is null or (created_at, id) < ($6, $7::text))
     order by created_at desc, id desc limit $8`,
    [organizationId, environment, status, direction, contact, ...pageValues(page)],
  );
  return toPaged(rows, page, ({ createdAt, id }) => ({ at: createdAt, id }));
}

/** The providers' ids of the last message and the last e-mail that they have taken, for samples of their webhooks. */
export async function latestSent(db: Queryable, { organizationId, environment }: Scope) {
  const { rows } = await db.raw<{ messageId: string | null; emailId: string | null }>(
    `select (select message_id from messages where organization_id = $1 and environment = $2::"Environment"
               and direction = 'outbound' and message_id is not null order by created_at desc limit 1) as "messageId",
            (select provider_id from emails where organization_id = $1 and environment = $2::"Environment"
               and provider_id is not null order by created_at desc limit 1) as "emailId"`,
    [organizationId, environment],
  );
  return rows[0]!;
}

/** A message that answers one of a customer's and did not reach them, or may not have. */
export interface UndeliveredReply {
  /** Id of the message that it answers, and of the request of its turn. */
  requestId: string;
  id: string;
  /** `unknown`: nobody can say whether it was sent. */
  status: 'failed' | 'unknown';
  text: string | null;
  error: string | null;
}

/** The parts of replies to these requests that were not delivered and not sent again since, in the order they were made. */
export async function undeliveredReplies(
  db: Queryable,
  { organizationId, environment }: Scope,
  requestIds: readonly string[],
): Promise<UndeliveredReply[]> {
  const { rows } = await db.raw<UndeliveredReply>(
    `select r.request_id as "requestId", m.id, m.status, m.text, m.error
     from unnest($3::text[]) r(request_id)
     cross join generate_series(0, 99) part
     join messages m on m.organization_id = $1 and m.environment = $2::"Environment"
       and m.idempotency_key = ${replyKey.sql('r.request_id', 'part')}
     where m.direction = 'outbound' and m.status in ('failed', 'unknown') and not exists (
       -- What a person has sent again (retryMessage).
       select from messages again where again.organization_id = m.organization_id and again.environment = m.environment
         and again.idempotency_key = ${retryKeySql('m.id')} and again.status in ('sent', 'delivered', 'read'))
     order by m.created_at, m.id`,
    [organizationId, environment, requestIds],
  );
  return rows;
}
