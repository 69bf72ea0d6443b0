import { type Handler, readBody } from '@parley/service';
import type { WebhookEndpoint } from './webhook-endpoint';
import { type ReceiveDeps, receiveDelivery } from './receive-delivery';

/** Answers 200 `{ received: true }` once the delivery is stored. */
export const webhookHandler =
  (deps: ReceiveDeps, endpoint: WebhookEndpoint): Handler<WebhookEndpoint['operation']['id']> =>
  async (_input, context) => {
    const { request, requestId } = context;
    const body = await readBody(request, endpoint.operation.bodyLimitBytes);
    context.addLogFields({ provider: endpoint.provider, bytes: body.length });
    await receiveDelivery(deps, endpoint, { headers: request.headers, body }, requestId);
    return { received: true };
  };
