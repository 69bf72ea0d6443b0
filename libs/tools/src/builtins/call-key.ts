import { createHash } from 'node:crypto';
import type { PermittedCall } from '../tool';

/**
 * What makes a repeated call one call: its name in its turn, or the name of a trigger's step. None for calls that nobody
 * repeats. The code of a custom tool makes all its calls under the name of its own: there the arguments tell them apart.
 */
export function callKey({ context }: PermittedCall, args: unknown): string | undefined {
  const { executionId, callId, nesting = 0 } = context;
  if (callId === undefined) return undefined;
  const key = executionId === undefined ? `call-${callId}` : `call-${executionId}-${callId}`;
  return nesting === 0 ? key : `${key}-${createHash('sha256').update(JSON.stringify(args)).digest('base64url')}`;
}
