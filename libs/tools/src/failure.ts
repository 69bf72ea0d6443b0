import type { ToolErrorType, ToolFailure } from './types';

/** A failed call. The message may be shown to a model. */
export const failure = (errorType: ToolErrorType, message: string): ToolFailure => ({ ok: false, errorType, message });

/** The same message for a tool outside the list and a missing one (docs/reference/tools.md#how-a-tool-is-called). */
export const notAvailable = (errorType: 'permission_denied' | 'tool_not_found', name: string): ToolFailure =>
  failure(errorType, `Tool not available: ${name}`);

/** Arguments that were refused, or that could not be checked. */
export function argumentFailure(
  name: string,
  { reason, message }: { reason: 'invalid' | 'unusable' | 'busy'; message: string },
): ToolFailure {
  if (reason === 'invalid') return failure('invalid_arguments', `Invalid arguments for ${name}: ${message}`);
  const failed = failure('execution_error', `The parameters of ${name} ${message}`);
  return reason === 'busy' ? { ...failed, isNotDone: true } : failed;
}
