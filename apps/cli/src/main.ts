import './node-20-polyfills';
import { processIo } from './command-io';
import { exitCodes } from './failure';
import { reportFailure, runProgram } from './run-program';

/** The reader of the output, such as `head`, may close the pipe early. That is not an error. */
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(exitCodes.ok);
});

// A definition file may leave timers or promises that fail later.
process.on('uncaughtException', (error) => exit(reportFailure(error)));

void runProgram(processIo).then(exit);

/** Exits once the output is written, without waiting for what a definition file leaves running. */
function exit(code: number): void {
  process.stdout.write('', () => process.exit(code));
}
