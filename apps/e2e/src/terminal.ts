import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { shared } from './stack';

export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

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
  const run: Terminal['run'] = (args, { env = {}, input = '' } = {}) =>
    new Promise((resolve) => {
      const child = execFile(
        process.execPath,
        [join(shared.bundles, 'cli', 'main.cjs'), ...args],
        { cwd: folder, env: { PATH: process.env.PATH, DATABASE_URL: shared.databaseUrl, ...settings, ...env } },
        (error, stdout, stderr) =>
          resolve({ code: error === null ? 0 : Number(error.code), stdout: stdout.trim(), stderr: stderr.trim() }),
      );
      child.stdin!.end(input);
    });
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
