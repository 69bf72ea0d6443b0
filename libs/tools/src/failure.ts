import type { ToolErrorType, ToolFailure } from './types';

/** A failed call. The message may be shown to a model. */
export const failure = (errorType: ToolErrorType, message: string): ToolFailure => ({ ok: false, errorType, message });

/** The same message for a tool outside the list and a missing one (docs/reference/tools.md#how-a-tool-is-called). */
export const notAvailable = (errorType: 'permission_denied' | 'tool_not_found', name: string): ToolFailure =>
  failure(errorType, `Tool not available: ${name}`);
