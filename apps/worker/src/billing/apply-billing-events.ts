import { type JsonObject, integerAt, objectAt, textAt } from '@parley/contracts';
import type { Db, Queryable } from '@parley/db';
import { findOwners } from '@parley/identity';
import { applyOrders, lockOrders } from '@parley/payments';
import { type Outcome, unknownOwner } from '@parley/webhooks';

type Owners = Awaited<ReturnType<typeof findOwners>>;
type CreditedOrders = Awaited<ReturnType<typeof lockOrders>>;

/** What an event states about an order. */
interface BillingEvent {
  orderId: string;
  kind: 'paid' | 'refunded';
  amountCents: number;
  /** The name of its owner; undefined when the order has none. */
  name: string | undefined;
  /** Its place among the events of the call. */
  at: number;
  /** Why it cannot be applied. */
  problem?: string;
}

/**
 * Applies events `order.paid` and `order.refunded` of the billing platform to the credits of the
 * orders' organizations. Both state a total of the order, so deliveries may arrive repeatedly
 * and in any sequence. `finish` stores the outcomes, in the order of the events, in the
 * transaction of the credits.
 */
export async function applyBillingEvents(
  db: Db,
  given: readonly JsonObject[],
  finish: (db: Queryable, outcomes: Outcome[]) => Promise<void>,
): Promise<void> {
  await db.transaction(async (tx) => {
    const outcomes = given.map((): Outcome => ({ status: 'failed', reason: 'not applied' }));
    let left = given.map(readEvent);
    // An order is applied once in each round, so that a later event sees what an earlier
    // one has changed.
    while (left.length > 0) {
      const round = [...new Map(left.toReversed().map((event) => [event.orderId, event])).values()];
      for (const [at, outcome] of await applyRound(tx, round)) outcomes[at] = outcome;
      left = left.filter((event) => !round.includes(event));
    }
    await finish(tx, outcomes);
  });
}

function readEvent(event: JsonObject, at: number): BillingEvent {
  const order = objectAt(event.data);
  const orderId = textAt(order.id) ?? '';
  const isRefund = event.type === 'order.refunded';
  // Without refunded_amount the refund is of the whole `amount`
  // (docs/reference/webhooks.md#billing).
  const amountCents =
    integerAt(isRefund ? (order.refunded_amount ?? order.amount) : order.subtotal_amount) ?? -1;
  const read: BillingEvent = {
    orderId,
    kind: isRefund ? 'refunded' : 'paid',
    amountCents,
    name: nameOf(order),
    at,
  };
  if (orderId !== '' && amountCents >= 0) return read;
  return {
    ...read,
    problem: `the order has no ${isRefund ? 'refunded_amount' : 'subtotal_amount'} in whole cents`,
  };
}

/** Applies events of different orders. Returns the outcome of each by its place. */
async function applyRound(
  tx: Queryable,
  events: readonly BillingEvent[],
): Promise<[number, Outcome][]> {
  const applied = await lockOrders(
    tx,
    events.map(({ orderId }) => orderId),
  );
  const unknown = events.flatMap(({ orderId, name }) =>
    applied.has(orderId) || name === undefined ? [] : [name],
  );
  const owners: Owners =
    unknown.length === 0 ? new Map() : await findOwners(tx, [...new Set(unknown)]);
  const owned = events.map((event) => ({
    event,
    owner: ownerOf(event, applied.get(event.orderId), owners),
  }));
  const outcomes = owned.flatMap(({ event: { at, problem }, owner }): [number, Outcome][] => {
    if (problem !== undefined) return [[at, { ...owner, status: 'failed', reason: problem }]];
    return 'problem' in owner ? [[at, { status: 'unattributed', reason: owner.problem }]] : [];
  });
  const attributed = owned.flatMap(({ event, owner }) =>
    'problem' in owner || event.problem !== undefined ? [] : [{ event, owner }],
  );
  for (const [tenant, orders] of Map.groupBy(attributed, ({ owner }) => owner.tenant)) {
    const totals = orders.map(({ event }) => ({ ...event, applied: applied.get(event.orderId) }));
    const changes = await applyOrders(tx, { tenant }, totals);
    for (const [index, { event, owner }] of orders.entries()) {
      const creditedBefore = totals[index]!.applied?.creditedCents ?? 0;
      const isRepeated = changes[index] === 0 && (event.kind === 'refunded' || creditedBefore > 0);
      const { organizationId } = owner;
      outcomes.push([
        event.at,
        isRepeated
          ? { status: 'ignored', organizationId, reason: 'applied before' }
          : { status: 'processed', organizationId },
      ]);
    }
  }
  return outcomes;
}

function ownerOf(
  { name }: BillingEvent,
  applied: ReturnType<CreditedOrders['get']>,
  owners: Owners,
): { organizationId: string; tenant: number } | { problem: string } {
  if (applied) return applied;
  if (name === undefined) return { problem: 'the order names no organization and no user' };
  const owner = owners.get(name)!;
  if (owner.ok) return owner;
  return {
    problem:
      owner.reason === 'several'
        ? `${name} matches several organizations`
        : `${unknownOwner}${name}`,
  };
}

/**
 * The name of an order's organization: `metadata.organizationId`, the customer's external id or
 * `customer.metadata.userId`, each in camel case or snake case
 * (docs/reference/webhooks.md#billing). Only the first field that is present is used: when it names
 * no organization, crediting another one would be a guess.
 */
function nameOf(order: JsonObject): string | undefined {
  const metadata = objectAt(order.metadata);
  const customer = objectAt(order.customer);
  return (
    textAt(metadata.organizationId) ??
    textAt(metadata.organization_id) ??
    textAt(customer.external_id) ??
    textAt(customer.externalId) ??
    textAt(objectAt(customer.metadata).userId) ??
    textAt(objectAt(customer.metadata).user_id)
  );
}
