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
  'select coalesce(sum(amount_cents), 0)::text as balance from credit_entries where tenant = $1',
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
   where tenant = $1 and ($2::timestamptz is null or (created_at, id) < ($2, $3))
   order by created_at desc, id desc limit $4`,
  entryRow,
);

/** The sum of an organization's entries, in cents. */
export async function readBalance(db: Queryable, organization: Tenant): Promise<number> {
  return Number((await db.query(organization, balance, [organization.tenant])).rows[0]!.balance);
}

/** The entries of an organization, newest first. */
export async function listCreditEntries(
  db: Queryable,
  organization: Tenant,
  page: Page,
): Promise<Paged<CreditEntry>> {
  const values = [organization.tenant, ...pageValues(page)];
  const { rows } = await db.query(organization, entriesOfOrganization, values);
  return toPaged(rows, page, ({ createdAt, id }) => ({ at: createdAt, id }));
}
