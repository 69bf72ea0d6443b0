import type { BuiltInCall } from './built-in';

/** What makes a repeated call one call: the turn and the call in it. None for calls that belong to no turn. */
export function callKey({ context }: BuiltInCall): string | undefined {
  const { executionId, callId } = context;
  return executionId === undefined || callId === undefined ? undefined : `call-${executionId}-${callId}`;
}
