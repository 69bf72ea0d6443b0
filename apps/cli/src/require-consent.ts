import { io } from './command-io';
import { Failure, usageFailure } from './failure';
import { safeText } from './safe-text';
import { canAsk } from './terminal';

/**
 * Asks a question on the terminal; the default is no. Throws `refused` for every other answer than
 * yes, and without a terminal an error that says what to do: `instead`.
 */
export async function requireConsent(
  message: string,
  { instead, refused }: { instead: string; refused: string },
): Promise<void> {
  if (!canAsk()) throw usageFailure(`Cannot ask for confirmation without a terminal. ${instead}`);
  const { confirm, isCancel } = await import('@clack/prompts');
  const { stdin, stderr } = io();
  const answer = await confirm({
    message: safeText(message),
    initialValue: false,
    input: stdin,
    output: stderr,
  });
  if (isCancel(answer) || !answer) throw new Failure(refused);
}
