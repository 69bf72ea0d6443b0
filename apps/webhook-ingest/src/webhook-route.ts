import { type Handler, readBody } from '@parley/service';
import type { Door } from './door';
import { type ReceiveDeps, receive } from './receive';

/** `POST <path of the door>`: 200 `{ received: true }` once the delivery is durable. */
export const webhook =
  (deps: ReceiveDeps, door: Door): Handler<Door['operation']['id']> =>
  async (_input, context) => {
    const { request, requestId } = context;
    const body = await readBody(request, door.operation.bodyLimitBytes);
    context.note({ provider: door.provider, bytes: body.length });
    await receive(deps, door, { headers: request.headers, body }, requestId);
    return { received: true };
  };
