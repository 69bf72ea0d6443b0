import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type Scope, paymentType } from '@parley/contracts';
import type { Queryable } from '@parley/db';
import { findByToken } from '@parley/entities';
import type { Origin } from '@parley/events';
import { type Applied, applyPaymentStatus } from './apply-payment-status';
import { describeFailure } from './create-payment';
import type { PaymentsDeps } from './deps';
import {
  type FlowAccount,
  credentialsOf,
  findFlowAccount,
  listFlowAccounts,
} from './flow/flow-account';
import { type FlowStatusAnswer, createFlowClient } from './flow/flow-client';
import type { FlowStatus } from './flow/flow-status';
import { type Payment, findPayment } from './payment';
import { findOrderByToken, findOrderedTokens, paymentIdOf } from './payment-orders';

export type Confirmed =
  | { ok: true; scope: Scope; paymentId: string; status: Payment['status']; changed: boolean }
  /** Permanent: a retry has the same result. */
  | {
      ok: false;
      reason: 'invalid_token' | 'unknown_token' | 'no_payment' | 'mismatch';
      message: string;
      scope?: Scope;
    }
  /**
   * No payment has the token, and it was not searched: the limit is reached, or it was searched a
   * short while ago.
   */
  | { ok: false; reason: 'refused'; message: string; scope?: undefined }
  /** Temporary: may be retried. */
  | { ok: false; reason: 'try_again'; message: string; scope?: Scope };

/** Number of accounts that are queried concurrently about an unknown token. */
const accountsAtOnce = 5;
/** Maximum searches per process and minute: a forged token costs a signed call to every account. */
const searchesPerMinute = 30;
const unknownForMs = 10 * 60_000;
/** Maximum duration of a search, in which accounts that do not answer delay the next token. */
const searchMs = 10_000;

const origin: Origin = { actor: { type: 'webhook', provider: 'flow' } };

/** Finds which of the tokens a payment has. Any client can cause this, so it reads only indexes. */
export async function findKnownTokens(
  db: Queryable,
  tokens: readonly string[],
): Promise<Set<string>> {
  const known = new Set(await findOrderedTokens(db, tokens));
  const others = tokens.filter((token) => !known.has(token));
  if (others.length > 0) for (const { token } of await findByToken(db, others)) known.add(token);
  return known;
}

/**
 * Processes a callback of Flow: requests the status of the token's order and applies it
 * (docs/reference/payments.md#confirmation). If no payment has the token, all active
 * accounts are queried.
 */
export function createConfirmByToken(
  deps: PaymentsDeps,
  searchToken: (token: string) => Promise<Confirmed>,
) {
  return async (token: string): Promise<Confirmed> => {
    if (!/^[\x21-\x7e]{4,256}$/.test(token)) {
      return {
        ok: false,
        reason: 'invalid_token',
        message: 'The token does not have the form of a token of Flow',
      };
    }
    const known = await findOrderByToken(deps.db, token);
    if (known !== null) return confirmKnown(deps, known, token);
    const byField = await confirmByField(deps, token);
    if (byField !== null && (byField.ok || byField.reason !== 'try_again')) return byField;
    const result = await searchToken(token);
    // The search queries active accounts only. The account of a payment with this token
    // may answer later.
    return result.ok || byField === null ? result : byField;
  };
}

/**
 * Searches the payment of a token that no payment has, at all active accounts: a crash may have
 * lost it, or the payment is imported without it. Any client can send tokens, so few are searched,
 * and an unknown one is not searched again for a while.
 */
export function createSearchToken(deps: PaymentsDeps): (token: string) => Promise<Confirmed> {
  const unknown = new LRUCache<string, true>({ max: 10_000, ttl: unknownForMs });
  const searches: number[] = [];

  return async (token) => {
    const digest = createHash('sha256').update(token).digest('base64');
    if (unknown.has(digest)) return refused('The token was searched a short while ago');
    const nowMs = Date.now();
    while (searches[0] !== undefined && searches[0] < nowMs - 60_000) searches.shift();
    if (searches.length >= searchesPerMinute) return refused('Too many unknown tokens in a minute');
    searches.push(nowMs);
    const result = await search(deps, token);
    if (!result.ok && result.reason === 'unknown_token') unknown.set(digest, true);
    return result;
  };
}

const refused = (message: string): Confirmed => ({ ok: false, reason: 'refused', message });

const unknownToken: Confirmed = {
  ok: false,
  reason: 'unknown_token',
  message: 'No account at Flow knows the token',
};

async function confirmKnown(
  deps: PaymentsDeps,
  { scope, paymentId }: { scope: Scope; paymentId: string },
  token: string,
): Promise<Confirmed> {
  const found = await findFlowAccount(deps, scope, { activeOnly: false });
  if (!found.ok) return { ok: false, reason: 'try_again', message: found.message, scope };
  const answer = await createFlowClient(found.account, { ...deps.flow, slotWaitMs: 0 }).getStatus(
    token,
  );
  if (!answer.ok)
    return { ok: false, reason: 'try_again', message: describeFailure(answer), scope };
  return apply(deps, scope, paymentId, answer.status, token);
}

/**
 * Finds payments by the token in their own fields, which users can write. Null: no payment has it.
 * `try_again`: none of their accounts confirms it.
 */
async function confirmByField(deps: PaymentsDeps, token: string): Promise<Confirmed | null> {
  let last: Confirmed | null = null;
  for (const { scope, id } of await findByToken(deps.db, [token])) {
    if ((await findPayment(deps.entities, scope, id)) === null) continue;
    last = await confirmKnown(deps, { scope, paymentId: id }, token);
    if (last.ok || last.reason !== 'try_again') return last;
  }
  return last;
}

/** Queries the accounts, each set of credentials once, until one knows the token. */
async function search(deps: PaymentsDeps, token: string): Promise<Confirmed> {
  const { accounts } = await listFlowAccounts(deps.db, deps.box);
  const byCredentials = Map.groupBy(accounts, credentialsOf);
  let problem: string | undefined;
  let found: { sharing: FlowAccount[]; status: FlowStatus } | undefined;
  const queue = [...byCredentials.values()].values();
  const signal = AbortSignal.timeout(searchMs);
  const ask = async () => {
    for (const sharing of queue) {
      if (found !== undefined) return;
      const answer: FlowStatusAnswer = await createFlowClient(sharing[0]!, {
        ...deps.flow,
        signal,
      }).getStatus(token);
      if (answer.ok) found = { sharing, status: answer.status };
      else if (answer.reason !== 'refused') problem = answer.message;
    }
  };
  await Promise.all(Array.from({ length: accountsAtOnce }, ask));
  if (found === undefined) {
    return problem === undefined
      ? unknownToken
      : { ok: false, reason: 'try_again', message: problem };
  }
  for (const { scope } of found.sharing) {
    const paymentId = await findByStatus(deps, scope, found.status);
    if (paymentId !== null) return apply(deps, scope, paymentId, found.status, token);
  }
  const message = `Order ${found.status.flowOrder} (${found.status.commerceOrder}) belongs to no payment`;
  return { ok: false, reason: 'no_payment', message, scope: found.sharing[0]!.scope };
}

/**
 * Finds the payment of a status in an environment: by the commerce order, else by
 * Flow's order number.
 */
async function findByStatus(
  { entities }: PaymentsDeps,
  scope: Scope,
  status: FlowStatus,
): Promise<string | null> {
  const named = await findPayment(entities, scope, paymentIdOf(status.commerceOrder));
  if (named !== null) return named.id;
  const filters = { 'data.providerReference': status.flowOrder };
  const page = await entities.query(scope, { type: paymentType, filters, limit: 1 });
  return page.ok ? (page.page.entities[0]?.id ?? null) : null;
}

async function apply(
  deps: PaymentsDeps,
  scope: Scope,
  paymentId: string,
  status: FlowStatus,
  flowToken: string,
): Promise<Confirmed> {
  const applied: Applied = await applyPaymentStatus(deps, scope, {
    paymentId,
    status,
    flowToken,
    source: 'webhook',
    origin,
  });
  if (applied.ok)
    return { ok: true, scope, paymentId, status: applied.status, changed: applied.changed };
  if (applied.reason === 'not_found') {
    return {
      ok: false,
      reason: 'no_payment',
      message: `Payment ${paymentId} has been deleted`,
      scope,
    };
  }
  deps.observe?.({ kind: 'mismatch', source: 'webhook' });
  deps.log.error(
    { ...scope, paymentId, problem: applied.problem },
    'the status of Flow does not match the payment',
  );
  return { ok: false, reason: 'mismatch', message: applied.problem, scope };
}
