import { CommanderError } from 'commander';
import { createProgram } from './program';
import { describeFailure, exitCodes } from './failure';
import { safeText } from './safe-text';

/** `--debug` may stand anywhere; it adds the stack to an error. */
const debug = process.argv.includes('--debug');
const argv = process.argv.filter((argument) => argument !== '--debug');
const asJson = argv.includes('--json');

/** Whoever reads the output, such as `head`, may have enough of it. */
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(exitCodes.ok);
});

createProgram()
  .parseAsync(argv)
  .then(
    () => exit(Number(process.exitCode ?? exitCodes.ok)),
    (error: unknown) => {
      // Commander has printed its own message; help and version are not failures.
      if (error instanceof CommanderError) exit(error.exitCode === 0 ? exitCodes.ok : exitCodes.usage);
      else {
        const { message, text: plainText, exitCode, fields } = describeFailure(error);
        const text = asJson ? JSON.stringify({ error: plainText, ...fields }) : `error: ${message}`;
        process.stderr.write(safeText(`${text}\n`));
        if (debug) process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
        exit(exitCode);
      }
    },
  );

/** The migration engine leaves a timer of 10 s behind: leave without waiting for it, once the output is written. */
function exit(code: number): void {
  process.stdout.write('', () => process.exit(code));
}
