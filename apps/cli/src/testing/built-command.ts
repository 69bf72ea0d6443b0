import { execFile } from 'node:child_process';
import { type CommandResult, type RunOptions, variablesOf } from './run-command';

/** The bundle that global-setup.mjs builds once for a run of the tests. */
export const bundle = process.env.PARLEY_TEST_CLI!;

/**
 * Runs a command as a shell does, in a process of its own. Most tests use `runCommand`, which is
 * ten times faster; this is for what only a process has: signals, pipes, terminals, time zones.
 */
export const runProcess = (
  args: string[],
  { env, input = '', cwd }: RunOptions,
): Promise<CommandResult> =>
  new Promise((done) => {
    const child = execFile(
      process.execPath,
      ['--require', process.env.PARLEY_TEST_PRELOAD!, bundle, ...args],
      {
        cwd,
        env: {
          ...variablesOf(cwd, env),
          PARLEY_TEST_STATEMENTS: process.env.PARLEY_TEST_STATEMENTS,
        },
      },
      (error, stdout, stderr) =>
        // A process that was killed by a signal has no exit code.
        done({
          exitCode: error === null ? 0 : typeof error.code === 'number' ? error.code : -1,
          stdout,
          stderr,
        }),
    );
    child.stdin!.end(input);
  });
