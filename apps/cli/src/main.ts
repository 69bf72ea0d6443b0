import './node-20-polyfills';
import { CommanderError } from 'commander';
import { createProgram } from './program';
import { describeFailure, exitCodes } from './failure';
import { safeText } from './safe-text';
import { asJson, printJsonError } from './terminal';

/** `--debug` is accepted at any position. It prints the stack of an error. */
const debug = process.argv.includes('--debug');
const argv = process.argv.filter((argument) => argument !== '--debug');

/** The reader of the output, such as `head`, may close the pipe early. That is not an error. */
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(exitCodes.ok);
});

// A definition file may leave timers or promises that fail later.
process.on('uncaughtException', fail);

createProgram(asJson)
  .parseAsync(argv)
  .then(() => exit(Number(process.exitCode ?? exitCodes.ok)), fail);

function fail(error: unknown): void {
  if (error instanceof CommanderError) {
    // Help and version are not failures. commander has printed the others itself, unless --json is given.
    if (error.exitCode === 0) return exit(exitCodes.ok);
    const isMissing = error.code === 'commander.help';
    const problem = isMissing ? 'missing command' : error.message.replace(/^error: /, '');
    if (asJson) printJsonError(problem);
    exit(exitCodes.usage);
  } else {
    const { message, text, exitCode, fields } = describeFailure(error);
    if (asJson) printJsonError(text, fields);
    else process.stderr.write(safeText(`error: ${message}\n`));
    if (debug) process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
    exit(exitCode);
  }
}

/** Exits once the output is written, without waiting for what a definition file leaves running. */
function exit(code: number): void {
  process.stdout.write('', () => process.exit(code));
}
