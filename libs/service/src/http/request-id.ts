import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

const validId = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;

/** The caller's `X-Request-Id` when it is valid, otherwise a new one. */
export function requestIdOf(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && validId.test(given) ? given : randomUUID();
}
