import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Scope } from '@parley/contracts';
import { findByToken } from '@parley/entities';
import type { Origin } from '@parley/events';
import { type Applied, applyStatus } from './apply-status';
import { describeFailure } from './create-payment';
import type { PaymentsDeps } from './deps';
import { type FlowAccount, credentialsOf, findFlowAccount, listFlowAccounts } from './flow/flow-account';
import { type FlowStatusAnswer, createFlowClient } from './flow/flow-client';
import type { FlowStatus } from './flow/flow-status';
import { type Payment, findPayment, paymentType } from './payment';
import { findOrderByToken, paymentIdOf } from './payment-orders';

export type Confirmed =
  | { ok: true; scope: Scope; paymentId: string; status: Payment['status']; changed: boolean }
  /** Nothing to be done about it, now or later. */
  | { ok: false; reason: 'invalid_token' | 'unknown_token' | 'no_payment' | 'mismatch'; message: string; scope?: Scope }
  /** Ask again later. */
  | { ok: false; reason: 'try_again'; message: string; scope?: Scope };

/** Accounts asked at a time about a token that no payment has. */
const accountsAtOnce = 5;
/** Searches of one process in a minute: a forged token costs a signed call to every account. */
const searchesPerMinute = 30;
const unknownForMs = 10 * 60_000;

const origin: Origin = { actor: { type: 'webhook', provider: 'flow' } };

/**
 * What a callback of Flow tells: look at the order of this token (interface.md, `/webhook/flow`). The token finds the
 * payment; when it does not, every active account is asked whether it knows it. Only what Flow's status says counts.
 */
export function createConfirmByToken(deps: PaymentsDeps): (token: string) => Promise<Confirmed> {
  const unknown = new LRUCache<string, true>({ max: 10_000, ttl: unknownForMs });
  const searches: number[] = [];

  return async (token) => {
    if (!/^[\x21-\x7e]{4,256}$/.test(token)) {
      return { ok: false, reason: 'invalid_token', message: 'The token is not one of Flow' };
    }
    const known = await findOrderByToken(deps.db, token);
    if (known !== null) return confirmKnown(deps, known, token);
    const hinted = await confirmHinted(deps, token);
    if (hinted !== null && (hinted.ok || hinted.reason !== 'try_again')) return hinted;
    const digest = createHash('sha256').update(token).digest('base64');
    if (unknown.has(digest)) return unknownToken;
    const nowMs = Date.now();
    while (searches[0] !== undefined && searches[0] < nowMs - 60_000) searches.shift();
    if (searches.length >= searchesPerMinute) {
      return { ok: false, reason: 'try_again', message: 'Too many unknown tokens in a minute' };
    }
    searches.push(nowMs);
    const result = await search(deps, token);
    if (result.ok || result.reason !== 'unknown_token') return result;
    // The search asks active accounts only: that of the hint may answer later.
    if (hinted !== null) return hinted;
    unknown.set(digest, true);
    return result;
  };
}

const unknownToken: Confirmed = { ok: false, reason: 'unknown_token', message: 'No account at Flow knows the token' };

async function confirmKnown(
  deps: PaymentsDeps,
  { scope, paymentId }: { scope: Scope; paymentId: string },
  token: string,
): Promise<Confirmed> {
  const found = await findFlowAccount(deps.db, deps.box, scope, { activeOnly: false });
  if (!found.ok) return { ok: false, reason: 'try_again', message: found.message, scope };
  const answer = await createFlowClient(found.account, deps.flow).getStatus(token);
  if (!answer.ok) return { ok: false, reason: 'try_again', message: describeFailure(answer), scope };
  return apply(deps, scope, paymentId, answer.status, token);
}

/** By the token in a payment's own fields. Null: no payment has it; `try_again`: no account of those that do knows it. */
async function confirmHinted(deps: PaymentsDeps, token: string): Promise<Confirmed | null> {
  let last: Confirmed | null = null;
  for (const { scope, id } of await findByToken(deps.db, token)) {
    if ((await findPayment(deps.entities, scope, id)) === null) continue;
    last = await confirmKnown(deps, { scope, paymentId: id }, token);
    if (last.ok || last.reason !== 'try_again') return last;
  }
  return last;
}

/** Asks the accounts, each set of credentials once, until one knows the token. */
async function search(deps: PaymentsDeps, token: string): Promise<Confirmed> {
  const { accounts } = await listFlowAccounts(deps.db, deps.box);
  const byCredentials = Map.groupBy(accounts, credentialsOf);
  let trouble: string | undefined;
  let found: { sharing: FlowAccount[]; status: FlowStatus } | undefined;
  const queue = [...byCredentials.values()].values();
  const ask = async () => {
    for (const sharing of queue) {
      if (found !== undefined) return;
      const answer: FlowStatusAnswer = await createFlowClient(sharing[0]!, deps.flow).getStatus(token);
      if (answer.ok) found = { sharing, status: answer.status };
      else if (answer.reason !== 'refused') trouble = answer.message;
    }
  };
  await Promise.all(Array.from({ length: accountsAtOnce }, ask));
  if (found === undefined) {
    return trouble === undefined ? unknownToken : { ok: false, reason: 'try_again', message: trouble };
  }
  for (const { scope } of found.sharing) {
    const paymentId = await findByStatus(deps, scope, found.status);
    if (paymentId !== null) return apply(deps, scope, paymentId, found.status, token);
  }
  const message = `Order ${found.status.flowOrder} (${found.status.commerceOrder}) belongs to no payment`;
  return { ok: false, reason: 'no_payment', message, scope: found.sharing[0]!.scope };
}

/** The payment of an environment that a status is about: by our name for the order, else by Flow's number of it. */
async function findByStatus({ entities }: PaymentsDeps, scope: Scope, status: FlowStatus): Promise<string | null> {
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
  const applied: Applied = await applyStatus(deps, scope, { paymentId, status, flowToken, source: 'webhook', origin });
  if (applied.ok) return { ok: true, scope, paymentId, status: applied.status, changed: applied.changed };
  if (applied.reason === 'not_found') {
    return { ok: false, reason: 'no_payment', message: `Payment ${paymentId} has been deleted`, scope };
  }
  deps.observe?.({ kind: 'mismatch', source: 'webhook' });
  deps.log.error({ ...scope, paymentId, problem: applied.problem }, 'payment does not match what Flow says');
  return { ok: false, reason: 'mismatch', message: applied.problem, scope };
}
