import { type ExecFileOptions, execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
// eslint-disable-next-line @nx/enforce-module-boundaries -- the helper of the command's own tests
import { runCommand } from '../../cli/src/testing/run-command';
import { shared } from './stack';

export interface ProgramResult {
  code: number;
  stdout: string;
  stderr: string;
}

/**
 * Runs a program to its end. The code is -1 if it was killed after its time limit of two minutes.
 */
export const runFile = (
  file: string,
  args: string[],
  options: ExecFileOptions,
  input = '',
): Promise<ProgramResult> =>
  new Promise((resolve) => {
    const child = execFile(file, args, { timeout: 120_000, ...options }, (error, stdout, stderr) =>
      resolve({
        code: error === null ? 0 : typeof error.code === 'number' ? error.code : -1,
        stdout: String(stdout),
        stderr: String(stderr),
      }),
    );
    child.stdin!.on('error', () => {}); // it may have exited without reading
    child.stdin!.end(input);
  });

/** Runs `parley` in the process of the test. */
export async function runInProcess(
  args: string[],
  options: { cwd: string; env: Record<string, string>; input?: string },
): Promise<ProgramResult> {
  const { exitCode, stdout, stderr } = await runCommand(args, options);
  return { code: exitCode, stdout, stderr };
}

export interface CommandLine {
  /** The working directory of the commands, outside of the checkout. */
  folder: string;
  /** Runs `parley`; `input` is written to stdin. */
  run(
    args: string[],
    options?: { env?: Record<string, string>; input?: string },
  ): Promise<ProgramResult>;
  /** Runs `parley` and returns its stdout. Throws if it fails. */
  parley(
    args: string[],
    options?: { env?: Record<string, string>; input?: string },
  ): Promise<string>;
  close(): void;
}

/**
 * Prepares the command line for the shared stack: `settings` are environment variables of every
 * command. Commands run in the process of the test; packed-*.test.ts run them as users do.
 */
export function openCommandLine(settings: Record<string, string> = {}): CommandLine {
  const folder = mkdtempSync(join(tmpdir(), 'parley-e2e-'));
  const run: CommandLine['run'] = async (args, options = {}) => {
    const env = { DATABASE_URL: shared.databaseUrl, ...settings, ...options.env };
    const { code, stdout, stderr } = await runInProcess(args, {
      cwd: folder,
      env,
      input: options.input,
    });
    return { code, stdout: stdout.trim(), stderr: stderr.trim() };
  };
  return {
    folder,
    run,
    async parley(args, options) {
      const { code, stdout, stderr } = await run(args, options);
      if (code !== 0) throw new Error(`parley ${args.join(' ')}: ${code} ${stderr}`);
      return stdout;
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Environment variables of commands that call providers or sign deliveries like providers. */
export const providerSettings = (): Record<string, string> => ({
  SECRETS_KEY: shared.secretsKey,
  PUBLIC_URL: shared.publicUrl,
  PARLEY_URL: shared.url,
  ...shared.webhookSecrets,
});
