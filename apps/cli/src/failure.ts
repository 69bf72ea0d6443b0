import { isNativeError } from 'node:util/types';

/** `different` is the status of `diff --exit-code` when a push would change something. */
export const exitCodes = { ok: 0, failure: 1, usage: 2, different: 3 } as const;

/** An expected failure. The user sees its message and no stack. */
export class Failure extends Error {
  constructor(
    message: string,
    readonly exitCode: number = exitCodes.failure,
    /** Further members of the error object that `--json` prints. */
    readonly fields: object = {},
    /** The message without the values that `fields` already has; `--json` prints it as `error`. */
    readonly text: string = message,
  ) {
    super(message);
    this.name = 'Failure';
  }
}

/** A failure caused by wrong arguments or options; status 2. */
export const usageFailure = (message: string): Failure => new Failure(message, exitCodes.usage);

/** Describes a thrown value: a Failure with all its fields, another error by its first line. */
export function describeFailure(error: unknown): {
  message: string;
  text: string;
  exitCode: number;
  fields: object;
} {
  if (error instanceof Failure) return error;
  const message = `${firstLine(error)} (--debug shows more)`;
  return { message, text: message, exitCode: exitCodes.failure, fields: {} };
}

function firstLine(error: unknown): string {
  // In a context of its own, as in a test, `Error` is another class than that of the
  // errors of Node.
  if (!isNativeError(error)) return String(error);
  const text = error.message || (error as { code?: string }).code || error.name;
  return text.trim().split('\n')[0]!;
}
