import type { Scope } from '@parley/contracts';
import { type Page, type Paged, type Queryable, toPaged } from '@parley/db';

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

/** Messages of channels, newest first. A contact is named by its digits or its scoped id. */
export async function listMessages(
  db: Queryable,
  { organizationId, environment }: Scope,
  filter: Page & { status?: string; direction?: string; contact?: string },
): Promise<Paged<ChannelMessage>> {
  const { rows } = await db.query<ChannelMessage>(
    `select id, message_id as "messageId", direction, contact, type, text, status, attempts, error,
            created_at as "createdAt"
     from messages
     where organization_id = $1 and environment = $2::"Environment" and ($3::text is null or status = $3)
       and ($4::text is null or direction = $4::"MessageDirection") and ($5::text is null or contact = $5)
       and ($6::timestamptz is null or (created_at, id) < ($6, $7::text))
     order by created_at desc, id desc limit $8`,
    [
      organizationId,
      environment,
      filter.status ?? null,
      filter.direction ?? null,
      filter.contact ?? null,
      filter.before?.at ?? null,
      filter.before?.id ?? null,
      filter.limit + 1,
    ],
  );
  return toPaged(rows, filter.limit, ({ createdAt, id }) => ({ at: createdAt, id }));
}
