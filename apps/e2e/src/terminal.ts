import { type ExecFileOptions, execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { shared } from './stack';

export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs a program to its end; one that had to be killed, as it hung, has the code -1. */
export const runFile = (file: string, args: string[], options: ExecFileOptions, input = ''): Promise<Ran> =>
  new Promise((resolve) => {
    const child = execFile(file, args, { timeout: 120_000, ...options }, (error, stdout, stderr) =>
      resolve({
        code: error === null ? 0 : typeof error.code === 'number' ? error.code : -1,
        stdout: String(stdout),
        stderr: String(stderr),
      }),
    );
    child.stdin!.end(input);
  });

export interface Terminal {
  /** Where its commands run: away from the checkout. */
  folder: string;
  /** Runs the command as a user would; `input` is what is typed. */
  run(args: string[], options?: { env?: Record<string, string>; input?: string }): Promise<Ran>;
  /** What a command that must succeed prints on stdout. */
  parley(args: string[], options?: { env?: Record<string, string>; input?: string }): Promise<string>;
  close(): void;
}

/** The command line beside the shared stack, with the settings that its services have. */
export function openTerminal(settings: Record<string, string> = {}): Terminal {
  const folder = mkdtempSync(join(tmpdir(), 'parley-e2e-'));
  const { PATH, PARLEY_TEST_STATEMENTS } = process.env;
  const run: Terminal['run'] = async (args, { env = {}, input } = {}) => {
    const { code, stdout, stderr } = await runFile(
      process.execPath,
      [join(shared.bundles, 'cli', 'main.cjs'), ...args],
      { cwd: folder, env: { PATH, PARLEY_TEST_STATEMENTS, DATABASE_URL: shared.databaseUrl, ...settings, ...env } },
      input,
    );
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

/** What a command needs that talks to providers and signs as they do. */
export const providerSettings = (): Record<string, string> => ({
  SECRETS_KEY: shared.secretsKey,
  PUBLIC_URL: shared.publicUrl,
  PARLEY_URL: shared.url,
  ...shared.webhookSecrets,
});
