import {
  type Page,
  type Paged,
  type Queryable,
  type RowOf,
  type Tenant,
  column,
  listStatement,
  pageValues,
  statement,
  toPaged,
} from '@parley/db';

const balance = statement(
  'credit-balance',
  'select coalesce(sum(amount_cents), 0)::text as balance from credit_entries where tenant = $tenant',
  { balance: column.text },
);

const entryRow = {
  id: column.text,
  /** Negative for refunds. */
  amountCents: column.int4,
  reason: column.text,
  cause: column.text,
  createdAt: column.timestamptz,
};
export type CreditEntry = RowOf<typeof entryRow>;

const entriesOfOrganization = listStatement(
  'list-credit-entries',
  `select id, amount_cents as "amountCents", reason, cause, created_at as "createdAt" from credit_entries
   where tenant = $tenant and ($beforeAt::timestamptz is null or (created_at, id) < ($beforeAt, $beforeId))
   order by created_at desc, id desc limit $limit`,
  entryRow,
);

/** The sum of an organization's entries, in cents. */
export async function readBalance(db: Queryable, organization: Tenant): Promise<number> {
  return Number((await db.query(organization, balance)).rows[0]!.balance);
}

/** The entries of an organization, newest first. */
export async function listCreditEntries(
  db: Queryable,
  organization: Tenant,
  page: Page,
): Promise<Paged<CreditEntry>> {
  const values = pageValues(page);
  const { rows } = await db.query(organization, entriesOfOrganization, values);
  return toPaged(rows, page, ({ createdAt, id }) => ({ at: createdAt, id }));
}
