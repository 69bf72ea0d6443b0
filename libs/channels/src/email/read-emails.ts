import type { Scope } from '@parley/contracts';
import {
  type Page,
  type Paged,
  type Queryable,
  type RowOf,
  column,
  pageValues,
  statement,
  toPaged,
  unpreparedList,
} from '@parley/db';

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

const rows = `select id, provider_id as "providerId", "to", subject, status, attempts, error, created_at as "createdAt"
   from emails`;

const emailById = statement(
  'find-email',
  `${rows} where tenant = $tenant and environment = $environment::"Environment" and id = $id`,
  sentEmail,
);

/** Finds an e-mail; null when it does not exist. */
export const findEmail = async (
  db: Queryable,
  scope: Scope,
  id: string,
): Promise<SentEmail | null> =>
  (await db.query(scope, emailById, { environment: scope.environment, id })).rows[0] ?? null;

// Not prepared: the filters that are given decide about the index.
const emailPage = unpreparedList(
  'list-emails',
  `${rows}
   where tenant = $tenant and environment = $environment::"Environment" and ($status::text is null or status = $status)
     and ($since::timestamptz is null or created_at >= $since)
     and ($beforeAt::timestamptz is null or (created_at, id) < ($beforeAt, $beforeId::text))
   order by created_at desc, id desc limit $limit`,
  sentEmail,
);

/** Lists the e-mails of an environment, newest first. */
export async function listEmails(
  db: Queryable,
  scope: Scope,
  { status, since, ...page }: Page & { status?: string; since?: Date },
): Promise<Paged<SentEmail>> {
  const values = { environment: scope.environment, status, since, ...pageValues(page) };
  const found = await db.query(scope, emailPage, values);
  return toPaged(found.rows, page, ({ createdAt, id }) => ({ at: createdAt, id }));
}
