import type { Scope } from '@parley/contracts';
import { type Queryable, column, leaseSql, scopeColumns, scopeRow, statement } from '@parley/db';

/** Longer than a status request and a creation at Flow with their retries (31 s). */
const leaseSeconds = 60;

/** The commerce order of an attempt, from which `paymentIdOf` derives the payment. */
export const commerceOrderOf = (paymentId: string, attempt: number): string =>
  attempt === 1 ? paymentId : `${paymentId}-${attempt}`;

export const paymentIdOf = (commerceOrder: string): string =>
  commerceOrder.replace(/-\d{1,6}$/, '');

const byCall = statement(
  'payment-by-call',
  `select payment_id from payment_orders
   where tenant = $tenant and environment = $environment::"Environment" and call_key = $callKey`,
  { payment_id: column.text },
);

/** Finds the payment that a tool call has created. */
export async function findByCall(
  db: Queryable,
  scope: Scope,
  callKey: string,
): Promise<string | null> {
  const { rows } = await db.query(scope, byCall, { environment: scope.environment, callKey });
  return rows[0]?.payment_id ?? null;
}

const anyOrdered = statement(
  'is-any-payment-ordered',
  'select from payment_orders where payment_id = any($paymentIds) limit 1',
);

/**
 * Whether an order was requested for one of these payments, of any organization: several may share
 * an account at Flow.
 */
export async function isAnyOrdered(db: Queryable, paymentIds: string[]): Promise<boolean> {
  const { rowCount } = await db.acrossTenants('inbound webhook', anyOrdered, { paymentIds });
  return rowCount === 1;
}

const insert = statement(
  'insert-payment-order',
  `insert into payment_orders (payment_id, tenant, environment, call_key)
   values ($paymentId, $tenant, $environment::"Environment", $callKey) on conflict do nothing`,
);

/**
 * Inserts the order row of a payment; false when a concurrent call with the same key has
 * created the payment.
 */
export async function insertOrder(
  db: Queryable,
  scope: Scope,
  { paymentId, callKey }: { paymentId: string; callKey: string | null },
): Promise<boolean> {
  const values = { paymentId, environment: scope.environment, callKey };
  const { rowCount } = await db.query(scope, insert, values);
  return rowCount === 1;
}

const claim = statement(
  'claim-payment-order',
  `with free as (
     select payment_id, lease_until is not null as is_interrupted from payment_orders
     where tenant = $tenant and payment_id = $paymentId and closed_at is null and ${leaseSql.isFree()} for update)
   update payment_orders o set lease_until = ${leaseSql.until('$leaseSeconds')} from free
   where o.tenant = $tenant and o.payment_id = free.payment_id returning o.attempt, free.is_interrupted`,
  { attempt: column.int4, is_interrupted: column.bool },
);

/**
 * Claims the creation of a payment's link. `isInterrupted`: an earlier process began it and did not
 * finish. Null while another process holds the claim, and after the link was created or has failed.
 */
export async function claimOrder(
  db: Queryable,
  scope: Scope,
  paymentId: string,
): Promise<{ attempt: number; isInterrupted: boolean } | null> {
  const { rows } = await db.query(scope, claim, { paymentId, leaseSeconds });
  return rows[0] === undefined
    ? null
    : { attempt: rows[0].attempt, isInterrupted: rows[0].is_interrupted };
}

const countAttempt = statement(
  'next-payment-attempt',
  'update payment_orders set attempt = attempt + 1 where tenant = $tenant and payment_id = $paymentId returning attempt',
  { attempt: column.int4 },
);

/** Begins another attempt after the link of an order was lost: the next order has another name. */
export async function nextAttempt(db: Queryable, scope: Scope, paymentId: string): Promise<number> {
  const { rows } = await db.query(scope, countAttempt, { paymentId });
  return rows[0]!.attempt;
}

// `lease_until` does not become null: an order may exist at the provider, so the next claim asks
// the provider first.
const release = statement(
  'release-payment-order',
  'update payment_orders set lease_until = now() where tenant = $tenant and payment_id = $paymentId and closed_at is null',
);

/** Releases the claim, so that another process can continue immediately. */
export async function releaseOrder(db: Queryable, scope: Scope, paymentId: string): Promise<void> {
  await db.query(scope, release, { paymentId });
}

const close = statement(
  'close-payment-order',
  `update payment_orders set closed_at = coalesce(closed_at, now()), lease_until = null,
     flow_token = coalesce(flow_token, $flowToken), call_key = case when $freesCall then null else call_key end
   where tenant = $tenant and payment_id = $paymentId`,
);

/** Ends the creation of a link. `freesCall`: a repeated tool call creates another payment. */
export async function closeOrder(
  db: Queryable,
  scope: Scope,
  paymentId: string,
  { flowToken = null, freesCall = false }: { flowToken?: string | null; freesCall?: boolean },
): Promise<void> {
  await db.query(scope, close, { paymentId, flowToken, freesCall });
}

const byToken = statement(
  'payment-by-token',
  `select ${scopeColumns()}, payment_id as "paymentId" from payment_orders where flow_token = $flowToken
     order by created_at limit 1`,
  { ...scopeRow, paymentId: column.text },
);

/**
 * Finds the payment of a token in all tenants: the first one, because a tenant can copy the
 * token of another.
 */
export async function findOrderByToken(
  db: Queryable,
  flowToken: string,
): Promise<{ scope: Scope; paymentId: string } | null> {
  const [row] = (await db.acrossTenants('inbound webhook', byToken, { flowToken })).rows;
  if (row === undefined) return null;
  const { paymentId, ...scope } = row;
  return { scope, paymentId };
}

const knownTokens = statement(
  'ordered-tokens',
  'select flow_token as token from payment_orders where flow_token = any($flowTokens::text[])',
  { token: column.text },
);

/** Finds which of the tokens an order has. */
export async function findOrderedTokens(
  db: Queryable,
  flowTokens: readonly string[],
): Promise<string[]> {
  const { rows } = await db.acrossTenants('inbound webhook', knownTokens, { flowTokens });
  return rows.map(({ token }) => token);
}

const abandoned = statement(
  'abandoned-payment-orders',
  `select payment_id from payment_orders
   where tenant = $tenant and environment = $environment::"Environment" and closed_at is null
     and created_at < now() - make_interval(secs => $olderThanSeconds) and ${leaseSql.isFree()}
   order by created_at limit $limit`,
  { payment_id: column.text },
);

/** Finds payments whose link was not finished within `olderThanMs`, oldest first. */
export async function findAbandoned(
  db: Queryable,
  scope: Scope,
  { olderThanMs, limit }: { olderThanMs: number; limit: number },
): Promise<string[]> {
  const values = { environment: scope.environment, olderThanSeconds: olderThanMs / 1000, limit };
  const { rows } = await db.query(scope, abandoned, values);
  return rows.map(({ payment_id: paymentId }) => paymentId);
}
