import { operations } from '@parley/contracts';
import { newId } from '@parley/db';
import { type Handler, readBody } from '@parley/service';
import { readFormField } from '@parley/webhooks';
import type { ReceiveDeps } from '../receive';

const { path, bodyLimitBytes } = operations.flowWebhook;
/** Anybody may post here, so nothing else is kept: what Flow makes is printable and much shorter. */
const tokenPattern = /^[\x21-\x7e]{1,200}$/;

/**
 * The payment provider's callback (interface.md, `/webhook/flow`): a form with one `token`, unsigned and always answered
 * with 200. It says no more than that an order should be looked at, so each one is kept for itself: the same token comes
 * again when the order has changed again.
 */
export const flowWebhook =
  (deps: ReceiveDeps): Handler<'flowWebhook'> =>
  async (_input, context) => {
    const { request, requestId } = context;
    const received = { received: true as const };
    context.note({ provider: 'flow' });
    const body = await readBody(request, bodyLimitBytes).catch(() => null);
    if (body === null) return received;
    const token = readFormField(body, 'token');
    if (token === null || !tokenPattern.test(token)) return received;
    try {
      await store(deps, token, requestId);
    } catch (error) {
      deps.log.warn({ err: error, requestId, provider: 'flow' }, 'a callback could not be stored');
      await send(deps, token, requestId);
    }
    return received;
  };

async function store(deps: ReceiveDeps, token: string, requestId: string): Promise<void> {
  const stored = await deps.inbox.store({
    provider: 'flow',
    deliveryId: newId('flow'),
    path,
    eventType: 'payment.confirmation',
    headers: {},
    body: Buffer.from(new URLSearchParams({ token }).toString()),
    tenant: null,
    environment: null,
    isSigned: false,
    status: 'received',
    reason: null,
  });
  deps.onDelivery?.('flow', 'received');
  deps.jobs.send(path, stored.id, requestId);
}

/** Without PostgreSQL and Redis nothing is left of a callback: reconciliation finds what it told of. */
async function send(deps: ReceiveDeps, token: string, requestId: string): Promise<void> {
  try {
    await deps.jobs.sendToken(token, requestId);
  } catch (error) {
    deps.log.error(
      { err: error, requestId, provider: 'flow' },
      'a callback is lost, reconciliation will find its payment',
    );
  }
}
