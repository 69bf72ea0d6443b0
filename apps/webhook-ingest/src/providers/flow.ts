import { operations } from '@parley/contracts';
import { newId } from '@parley/db';
import { type Handler, readBody } from '@parley/service';
import { readFormField } from '@parley/webhooks';
import type { ReceiveDeps } from '../receive-delivery';

const { path, bodyLimitBytes } = operations.flowWebhook;
/** Tokens of Flow are printable and much shorter. Any client may post here, so nothing else is stored. */
const tokenPattern = /^[\x21-\x7e]{1,200}$/;

/**
 * Receives the payment provider's callback (docs/reference/webhooks.md#payments): a form with one `token`, unsigned and
 * always answered with 200. Flow sends the same token after each change of the order, so every callback is stored.
 */
export const flowWebhook =
  (deps: ReceiveDeps): Handler<'flowWebhook'> =>
  async (_input, context) => {
    const { request, requestId } = context;
    const received = { received: true as const };
    context.addLogFields({ provider: 'flow' });
    const body = await readBody(request, bodyLimitBytes).catch(() => null);
    if (body === null) return received;
    const token = readFormField(body, 'token');
    if (token === null || !tokenPattern.test(token)) return received;
    try {
      await store(deps, token, requestId);
    } catch (error) {
      deps.log.warn({ err: error, requestId, provider: 'flow' }, 'a payment callback could not be stored');
      await enqueueToken(deps, token, requestId);
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

/** Used while PostgreSQL is unavailable. If Redis is too, the callback is lost, and reconciliation finds the payment. */
async function enqueueToken(deps: ReceiveDeps, token: string, requestId: string): Promise<void> {
  try {
    await deps.jobs.sendToken(token, requestId);
  } catch (error) {
    deps.log.error(
      { err: error, requestId, provider: 'flow' },
      'a payment callback is lost: reconciliation will find its payment',
    );
  }
}
