import { newId } from '@parley/db';
import { readBody, route } from '@parley/service';
import { readFormField } from '@parley/webhooks';
import { z } from 'zod';
import type { ReceiveDeps } from '../receive';

const path = '/webhook/flow';
/** A callback is one short field. */
const bodyLimitBytes = 16 * 1024;

/**
 * The payment provider's callback (interface.md, `/webhook/flow`): a form with one `token`, unsigned and always answered
 * with 200. It says no more than that an order should be looked at, so each one is kept for itself: the same token comes
 * again when the order has changed again.
 */
export const flowRoute = (deps: ReceiveDeps) =>
  route(
    { method: 'post', path, permission: null, response: z.object({ received: z.literal(true) }) },
    async (_input, context) => {
      const { request, requestId } = context;
      const received = { received: true as const };
      context.note({ provider: 'flow' });
      const body = await readBody(request, bodyLimitBytes).catch(() => null);
      if (body === null) return received;
      const token = readFormField(body, 'token');
      try {
        await store(deps, body, token, requestId);
      } catch (error) {
        deps.log.warn({ err: error, requestId, provider: 'flow' }, 'a callback could not be stored');
        if (token !== null) await send(deps, token, requestId);
      }
      return received;
    },
  );

async function store(deps: ReceiveDeps, body: Buffer, token: string | null, requestId: string): Promise<void> {
  const status = token === null ? 'failed' : 'received';
  const stored = await deps.inbox.store({
    provider: 'flow',
    deliveryId: newId('flow'),
    path,
    eventType: 'payment.confirmation',
    headers: {},
    body,
    organizationId: null,
    environment: null,
    status,
    reason: token === null ? 'the body has no token' : null,
  });
  deps.onDelivery?.('flow', status);
  if (token !== null) deps.jobs.send(path, stored.id, requestId);
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
