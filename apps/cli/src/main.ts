import './old-node';
import { CommanderError } from 'commander';
import { createProgram } from './program';
import { describeFailure, exitCodes } from './failure';
import { safeText } from './safe-text';
import { asJson, tellJson } from './terminal';

/** `--debug` may stand anywhere; it adds the stack to an error. */
const debug = process.argv.includes('--debug');
const argv = process.argv.filter((argument) => argument !== '--debug');

/** Whoever reads the output, such as `head`, may have enough of it. */
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(exitCodes.ok);
});

// Such as what a file of definitions has left running.
process.on('uncaughtException', fail);

createProgram(asJson)
  .parseAsync(argv)
  .then(() => exit(Number(process.exitCode ?? exitCodes.ok)), fail);

function fail(error: unknown): void {
  if (error instanceof CommanderError) {
    // Help and version are not failures; of others commander tells a person itself.
    if (error.exitCode === 0) return exit(exitCodes.ok);
    const isMissing = error.code === 'commander.help';
    const problem = isMissing ? 'a command is missing' : error.message.replace(/^error: /, '');
    if (asJson) tellJson(problem);
    exit(exitCodes.usage);
  } else {
    const { message, text, exitCode, fields } = describeFailure(error);
    if (asJson) tellJson(text, fields);
    else process.stderr.write(safeText(`error: ${message}\n`));
    if (debug) process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
    exit(exitCode);
  }
}

/** The migration engine leaves a timer of 10 s behind: leave without waiting for it, once the output is written. */
function exit(code: number): void {
  process.stdout.write('', () => process.exit(code));
}
