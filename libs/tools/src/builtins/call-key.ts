import { createHash } from 'node:crypto';
import type { PermittedCall } from '../tool';

/**
 * The idempotency key of a call, the same when a turn or a trigger step repeats it; undefined for
 * calls that are never repeated. All calls made by the code of one custom tool share its id, so the
 * key also contains a hash of the arguments.
 */
export function callKey({ context }: PermittedCall, args: unknown): string | undefined {
  const { executionId, callId, nesting = 0 } = context;
  if (callId === undefined) return undefined;
  const key = executionId === undefined ? `call-${callId}` : `call-${executionId}-${callId}`;
  return nesting === 0
    ? key
    : `${key}-${createHash('sha256').update(JSON.stringify(args)).digest('base64url')}`;
}
