import type { Scope } from '@parley/contracts';
import { type Page, type Paged, type Queryable, type RowOf, column, pageValues, statement, toPaged } from '@parley/db';

const sentEmail = {
  id: column.text,
  /** The provider's id. */
  providerId: column.text.nullable,
  to: column.textArray,
  subject: column.text,
  status: column.text,
  attempts: column.int4,
  error: column.text.nullable,
  createdAt: column.timestamptz,
};
export type SentEmail = RowOf<typeof sentEmail>;

const emailPage = statement(
  'list-emails',
  `select id, provider_id as "providerId", "to", subject, status, attempts, error, created_at as "createdAt"
   from emails
   where tenant = $1 and environment = $2::"Environment" and ($3::text is null or status = $3)
     and ($4::timestamptz is null or (created_at, id) < ($4, $5::text))
   order by created_at desc, id desc limit $6`,
  sentEmail,
);

/** Lists the e-mails of an environment, newest first. */
export async function listEmails(
  db: Queryable,
  scope: Scope,
  { status, ...page }: Page & { status?: string },
): Promise<Paged<SentEmail>> {
  const values = [scope.tenant, scope.environment, status, ...pageValues(page)];
  const { rows } = await db.query(scope, emailPage, values);
  return toPaged(rows, page, ({ createdAt, id }) => ({ at: createdAt, id }));
}
