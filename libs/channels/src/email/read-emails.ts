import type { Scope } from '@parley/contracts';
import { type Page, type Paged, type Queryable, pageValues, toPaged } from '@parley/db';

export interface SentEmail {
  id: string;
  /** The provider's. */
  providerId: string | null;
  to: string[];
  subject: string;
  status: string;
  attempts: number;
  error: string | null;
  createdAt: Date;
}

/** The e-mails of an environment's outbox, newest first. */
export async function listEmails(
  db: Queryable,
  { organizationId, environment }: Scope,
  { status, ...page }: Page & { status?: string },
): Promise<Paged<SentEmail>> {
  const { rows } = await db.raw<SentEmail>(
    `select id, provider_id as "providerId", "to", subject, status, attempts, error, created_at as "createdAt"
     from emails
     where organization_id = $1 and environment = $2::"Environment" and ($3::text is null or status = $3)
       and ($4::timestamptz is null or (created_at, id) < ($4, $5::text))
     order by created_at desc, id desc limit $6`,
    [organizationId, environment, status, ...pageValues(page)],
  );
  return toPaged(rows, page, ({ createdAt, id }) => ({ at: createdAt, id }));
}
