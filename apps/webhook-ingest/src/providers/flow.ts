import { operations, reportRefusal } from '@parley/contracts';
import { rejectOnAbort } from '@parley/outbound';
import { findKnownTokens } from '@parley/payments';
import { type Handler, readBody } from '@parley/service';
import { paymentCallback, readFormField } from '@parley/webhooks';
import { LRUCache } from 'lru-cache';
import type { ReceiveDeps } from '../receive-delivery';
import { shareLookUps } from './share-look-ups';

const { path, bodyLimitBytes } = operations.flowWebhook;
/**
 * Tokens of Flow are printable and much shorter. Any client may post here, so
 * nothing else is stored.
 */
const tokenPattern = /^[\x21-\x7e]{1,200}$/;

/**
 * The callback is answered within 10 s (docs/reference/webhooks.md#payments), and the
 * gateway waits for 8 s.
 */
const storeWithinMs = 3_000;
/** Rows per token and minute. The person who pays knows the token. */
const maxRowsOfToken = 60;
/** Tokens in Redis that no payment has. */
const maxUnknown = 1_000;
/**
 * All tokens in Redis, with those that could not be looked up: unknown tokens must not
 * take their places.
 */
const maxHeld = 10_000;

/**
 * Receives the payment provider's callback (docs/reference/webhooks.md#payments): a form with one
 * `token`, unsigned and always answered with 200. Flow sends the same token after each change of
 * the order, so every callback with a token that a payment has is stored. Any other token, and one
 * that PostgreSQL could not store in time, is held in Redis (docs/adr/0040).
 */
export function flowWebhook(deps: ReceiveDeps): Handler<'flowWebhook'> {
  const find = shareLookUps(findKnownTokens);
  const rows = new LRUCache<string, number>({ max: 10_000, ttl: 60_000, noUpdateTTL: true });

  async function receive(token: string, requestId: string): Promise<void> {
    if (!(await find(deps.db, token)).has(token)) return hold(deps, token, maxUnknown, requestId);
    const count = (rows.get(token) ?? 0) + 1;
    rows.set(token, count);
    if (count > maxRowsOfToken) return refuse(deps, 'payment_callbacks');
    const stored = await deps.inbox.store(paymentCallback(token));
    deps.onDelivery?.('flow', 'received');
    deps.jobs.send(path, stored.id, requestId);
  }

  return async (_input, context) => {
    const { request, requestId } = context;
    const received = { received: true as const };
    context.addLogFields({ provider: 'flow' });
    const body = await readBody(request, bodyLimitBytes).catch(() => null);
    if (body === null) return received;
    const token = readFormField(body, 'token');
    if (token === null || !tokenPattern.test(token)) return received;
    try {
      await rejectOnAbort(receive(token, requestId), AbortSignal.timeout(storeWithinMs));
    } catch (error) {
      deps.log.warn(
        { err: error, requestId, provider: 'flow' },
        'a payment callback could not be stored',
      );
      await hold(deps, token, maxHeld, requestId);
    }
    return received;
  };
}

function refuse({ onDelivery }: ReceiveDeps, limit: string): void {
  onDelivery?.('flow', 'refused');
  reportRefusal(limit);
}

/**
 * Keeps a token in Redis. If that fails, the callback is lost, and reconciliation
 * finds the payment.
 */
async function hold(
  deps: ReceiveDeps,
  token: string,
  max: number,
  requestId: string,
): Promise<void> {
  try {
    if (!(await deps.jobs.holdToken(token, max))) return refuse(deps, 'unknown_payment_tokens');
    deps.onDelivery?.('flow', 'held');
  } catch (error) {
    deps.onDelivery?.('flow', 'lost');
    deps.log.error(
      { err: error, requestId, provider: 'flow' },
      'a payment callback is lost: reconciliation will find its payment',
    );
  }
}
