import { isNativeError } from 'node:util/types';
import { CommanderError } from 'commander';
import { type CommandIo, io, withIo } from './command-io';
import { describeFailure, exitCodes } from './failure';
import { createProgram } from './program';
import { safeText } from './safe-text';
import { asJson, printJsonError } from './terminal';

/** Accepted at any position. It prints the stack of an error. */
const debugFlag = '--debug';

/** Runs the command that the arguments name, and returns its exit code. Prints every error. */
export function runProgram(given: CommandIo): Promise<number> {
  return withIo(given, async () => {
    try {
      const args = given.args.filter((argument) => argument !== debugFlag);
      await createProgram(given).parseAsync(args, { from: 'user' });
      return given.exitCode;
    } catch (error) {
      return reportFailure(error);
    }
  });
}

/** Prints an error of the running command, and returns the exit code for it. */
export function reportFailure(error: unknown): number {
  if (error instanceof CommanderError) {
    // Help and version are not failures. commander has printed the others itself, unless
    // --json is given.
    if (error.exitCode === 0) return exitCodes.ok;
    const isMissing = error.code === 'commander.help';
    const problem = isMissing ? 'missing command' : error.message.replace(/^error: /, '');
    if (asJson()) printJsonError(problem);
    return exitCodes.usage;
  }
  const { message, text, exitCode, fields } = describeFailure(error);
  const { args, stderr } = io();
  if (asJson()) printJsonError(text, fields);
  else stderr.write(safeText(`error: ${message}\n`));
  if (args.includes(debugFlag))
    stderr.write(`${safeText(String(isNativeError(error) ? error.stack : error))}\n`);
  return exitCode;
}
