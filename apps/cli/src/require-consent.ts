import { confirm, isCancel } from '@clack/prompts';
import { Failure, usageFailure } from './failure';
import { canAsk } from './terminal';

/**
 * Asks a question on the terminal; the default is no. Throws `refused` for every other answer than yes, and without a
 * terminal an error that says what to do: `instead`.
 */
export async function requireConsent(
  message: string,
  { instead, refused }: { instead: string; refused: string },
): Promise<void> {
  if (!canAsk()) throw usageFailure(`Cannot ask for confirmation without a terminal. ${instead}`);
  const answer = await confirm({ message, initialValue: false, output: process.stderr });
  if (isCancel(answer) || !answer) throw new Failure(refused);
}
