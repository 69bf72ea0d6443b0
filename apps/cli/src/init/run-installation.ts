import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { io } from '../command-io';

const run = promisify(execFile);
const timeoutMs = 300_000;
/** Lines of the output of a failed command that its error shows. */
const shownLines = 8;

/** Runs `npm install` in a project. Throws an error with the end of its output. */
export const runInstallation = (project: string): Promise<void> =>
  // npm's default of two retries takes more than a minute without a network, and nothing is
  // shown meanwhile.
  runQuietly(
    'npm',
    ['install', '--no-audit', '--no-fund', '--loglevel=error', '--fetch-retries=1'],
    project,
  );

/**
 * Runs a program without showing its output, unless it fails: then the end of it is the
 * message of the error.
 */
export async function runQuietly(program: string, args: string[], cwd: string): Promise<void> {
  try {
    await run(program, args, { cwd, env: io().env, timeout: timeoutMs });
  } catch (error) {
    const { code, stderr, stdout, message } = error as NodeJS.ErrnoException & {
      stderr?: string;
      stdout?: string;
    };
    if (code === 'ENOENT') throw new Error(`${program} is not on the PATH`, { cause: error });
    const printed = (stderr || stdout || message).trim().split('\n').slice(-shownLines);
    throw new Error(printed.join('\n'), { cause: error });
  }
}
