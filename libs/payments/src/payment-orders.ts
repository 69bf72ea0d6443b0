import type { Environment, Scope } from '@parley/contracts';
import type { Queryable } from '@parley/db';

/** Longer than a question and a creation at the provider with their retries (31 s): whoever holds a lease that is over is gone. */
const leaseSeconds = 60;

/** The name of a payment's order at the provider: one for each try, and all of them lead back to the payment. */
export const commerceOrderOf = (paymentId: string, attempt: number): string =>
  attempt === 1 ? paymentId : `${paymentId}-${attempt}`;

export const paymentIdOf = (commerceOrder: string): string => commerceOrder.replace(/-\d{1,6}$/, '');

/** The payment that a tool call has made. */
export async function findByCall(db: Queryable, scope: Scope, callKey: string): Promise<string | null> {
  const { rows } = await db.raw<{ payment_id: string }>({
    name: 'payment-by-call',
    text: `select payment_id from payment_orders
           where organization_id = $1 and environment = $2::"Environment" and call_key = $3`,
    values: [scope.organizationId, scope.environment, callKey],
  });
  return rows[0]?.payment_id ?? null;
}

/** Whether we have asked the provider for an order of one of these payments. */
export async function isAnyOrdered(db: Queryable, paymentIds: string[]): Promise<boolean> {
  const { rowCount } = await db.raw({
    name: 'is-any-payment-ordered',
    text: 'select from payment_orders where payment_id = any($1) limit 1',
    values: [paymentIds],
  });
  return rowCount === 1;
}

/** False when another payment has been made for this call meanwhile. */
export async function insertOrder(
  db: Queryable,
  scope: Scope,
  { paymentId, callKey }: { paymentId: string; callKey: string | null },
): Promise<boolean> {
  const { rowCount } = await db.raw({
    name: 'insert-payment-order',
    text: `insert into payment_orders (payment_id, organization_id, environment, call_key)
           values ($1, $2, $3::"Environment", $4) on conflict do nothing`,
    values: [paymentId, scope.organizationId, scope.environment, callKey],
  });
  return rowCount === 1;
}

/**
 * Takes the making of a payment's link for oneself. `isResumed`: somebody began it and did not come to its end. Null
 * while somebody else is at it, and when the link is there or given up.
 */
export async function claimOrder(
  db: Queryable,
  paymentId: string,
): Promise<{ attempt: number; isResumed: boolean } | null> {
  const { rows } = await db.raw<{ attempt: number; is_resumed: boolean }>({
    name: 'claim-payment-order',
    text: `with free as (
             select payment_id, lease_until is not null as is_resumed from payment_orders
             where payment_id = $1 and closed_at is null and (lease_until is null or lease_until < now()) for update)
           update payment_orders o set lease_until = now() + make_interval(secs => $2) from free
           where o.payment_id = free.payment_id returning o.attempt, free.is_resumed`,
    values: [paymentId, leaseSeconds],
  });
  return rows[0] === undefined ? null : { attempt: rows[0].attempt, isResumed: rows[0].is_resumed };
}

/** Counts an order whose link is lost: the next one has another name. */
export async function nextAttempt(db: Queryable, paymentId: string): Promise<number> {
  const { rows } = await db.raw<{ attempt: number }>({
    name: 'next-payment-attempt',
    text: 'update payment_orders set attempt = attempt + 1 where payment_id = $1 returning attempt',
    values: [paymentId],
  });
  return rows[0]!.attempt;
}

/** Gives the making of a link back, for the next who wants it. */
export async function releaseOrder(db: Queryable, paymentId: string): Promise<void> {
  await db.raw({
    name: 'release-payment-order',
    // Not null: it was begun, so whoever takes it next asks the provider first.
    text: 'update payment_orders set lease_until = now() where payment_id = $1 and closed_at is null',
    values: [paymentId],
  });
}

/** Ends the making of a link. `freesCall`: the same tool call may try again with another payment. */
export async function closeOrder(
  db: Queryable,
  paymentId: string,
  { flowToken = null, freesCall = false }: { flowToken?: string | null; freesCall?: boolean },
): Promise<void> {
  await db.raw({
    name: 'close-payment-order',
    text: `update payment_orders set closed_at = coalesce(closed_at, now()), lease_until = null,
             flow_token = coalesce(flow_token, $2), call_key = case when $3 then null else call_key end
           where payment_id = $1`,
    values: [paymentId, flowToken, freesCall],
  });
}

/** The payment of a provider's token, whoever's it is. */
export async function findOrderByToken(
  db: Queryable,
  flowToken: string,
): Promise<{ scope: Scope; paymentId: string } | null> {
  const { rows } = await db.raw<{ organization_id: string; environment: Environment; payment_id: string }>({
    name: 'payment-by-token',
    text: 'select organization_id, environment, payment_id from payment_orders where flow_token = $1',
    values: [flowToken],
  });
  const [row] = rows;
  if (row === undefined) return null;
  return {
    scope: { organizationId: row.organization_id, environment: row.environment },
    paymentId: row.payment_id,
  };
}

/** Payments whose link was begun so long ago that nobody can still be making it, oldest first. */
export async function findAbandoned(
  db: Queryable,
  scope: Scope,
  { olderThanMs, limit }: { olderThanMs: number; limit: number },
): Promise<string[]> {
  const { rows } = await db.raw<{ payment_id: string }>({
    name: 'abandoned-payment-orders',
    text: `select payment_id from payment_orders
           where organization_id = $1 and environment = $2::"Environment" and closed_at is null
             and created_at < now() - make_interval(secs => $3) and (lease_until is null or lease_until < now())
           order by created_at limit $4`,
    values: [scope.organizationId, scope.environment, olderThanMs / 1000, limit],
  });
  return rows.map(({ payment_id: paymentId }) => paymentId);
}
