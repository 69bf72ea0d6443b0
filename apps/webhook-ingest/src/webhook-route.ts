import { readBody, route } from '@parley/service';
import type { Door } from './door';
import { type ReceiveDeps, receive } from './receive';

const bodyLimitBytes = 1024 * 1024;

/** `POST <path of the door>`: 200 `{ received: true }` once the delivery is durable. */
export const webhookRoute = (deps: ReceiveDeps, door: Door) =>
  route({ ...door.operation, body: undefined }, async (_input, context) => {
    const { request, requestId } = context;
    const body = await readBody(request, bodyLimitBytes);
    context.note({ provider: door.provider, bytes: body.length });
    await receive(deps, door, { headers: request.headers, body }, requestId);
    return { received: true };
  });
