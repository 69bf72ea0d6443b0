import type { Actor } from '@parley/contracts';
import type { ToolErrorType, ToolFailure } from './types';

/** A failed call. The message may be shown to a model. */
export const failure = (errorType: ToolErrorType, message: string): ToolFailure => ({
  ok: false,
  errorType,
  message,
});

/** A call that roles do not allow. */
export const denied = ({ message, reason }: { message: string; reason?: string }): ToolFailure => ({
  ...failure('permission_denied', message),
  ...(reason !== undefined && { reason }),
});

/** The message of a failure with its reason. */
export const failureText = ({
  message,
  reason,
}: Pick<ToolFailure, 'message' | 'reason'>): string =>
  reason === undefined ? message : `${message} (${reason})`;

/**
 * The same message for a tool outside the list and a missing one
 * (docs/reference/tools.md#how-a-tool-is-called).
 */
export const notAvailable = (
  errorType: 'permission_denied' | 'tool_not_found',
  name: string,
  reason?: string,
): ToolFailure => ({ ...denied({ message: `Tool not available: ${name}`, reason }), errorType });

/**
 * The reason for a tool outside the list. A key with a role does not get the name of an agent that
 * another one asked.
 */
export const notListed = (actor: Actor, name: string): string =>
  actor.type === 'agent' && actor.within === undefined
    ? `"${name}" is not in the tools of the agent "${actor.slug}"`
    : `"${name}" is not in the tools of the agent`;

/** Arguments that were refused, or that could not be checked. */
export function argumentFailure(
  name: string,
  { reason, message }: { reason: 'invalid' | 'unusable' | 'busy'; message: string },
): ToolFailure {
  if (reason === 'invalid')
    return failure('invalid_arguments', `Invalid arguments for ${name}: ${message}`);
  const failed = failure('execution_error', `The parameters of ${name} ${message}`);
  return reason === 'busy' ? { ...failed, isNotDone: true } : failed;
}
