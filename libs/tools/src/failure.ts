import type { ToolErrorType, ToolFailure } from './types';

/** The one envelope of everything that goes wrong with a call; the message may be shown to a model. */
export const failure = (errorType: ToolErrorType, message: string): ToolFailure => ({ ok: false, errorType, message });

/** For a tool outside of the caller's list, and for one that does not exist (interface.md, Permission engine errors). */
export const notAvailable = (errorType: 'permission_denied' | 'tool_not_found', name: string): ToolFailure =>
  failure(errorType, `Tool not available: ${name}`);
