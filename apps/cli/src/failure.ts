/** `different` is what `diff --exit-code` ends with when there is a difference. */
export const exitCodes = { ok: 0, failure: 1, usage: 2, different: 3 } as const;

/** An expected failure: its message is all that the user sees. */
export class Failure extends Error {
  constructor(
    message: string,
    readonly exitCode: number = exitCodes.failure,
    /** What a program may want to know of it; `--json` shows them beside the message. */
    readonly fields: object = {},
    /** The message without what stands in `fields` too. */
    readonly text: string = message,
  ) {
    super(message);
    this.name = 'Failure';
  }
}

/** The command was called wrongly; status 2. */
export const usageFailure = (message: string): Failure => new Failure(message, exitCodes.usage);

/** What to tell of anything that was thrown: one line for what is not ours, the message as written for a Failure. */
export function describeFailure(error: unknown): { message: string; text: string; exitCode: number; fields: object } {
  if (error instanceof Failure) return error;
  const message = `${firstLine(error)} (--debug shows more)`;
  return { message, text: message, exitCode: exitCodes.failure, fields: {} };
}

function firstLine(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const text = error.message || (error as { code?: string }).code || error.name;
  return text.trim().split('\n')[0]!;
}
