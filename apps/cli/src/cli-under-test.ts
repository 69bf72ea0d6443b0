import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

interface RunOptions {
  env?: Record<string, string>;
  /** Standard input, which ends after this text. */
  input?: string;
}

interface Run {
  code: number;
  stdout: string;
  stderr: string;
}

/**
 * Builds the bundle and runs it as a user would: in its own process and folder, without the test's environment except
 * PATH and the variable that has statements checked, and without what the user has stored with `parley login`. The bundle is
 * written beside dist/apps, which other test runs and `npm start` may be using.
 */
export function buildCli() {
  const root = resolve(__dirname, '../../..');
  const dist = join(root, 'dist', `cli-test-${process.pid}-${Date.now()}`);
  const folder = mkdtempSync(join(tmpdir(), 'parley-cli-'));
  const script = `
    import { build } from 'esbuild';
    import { buildOptions } from ${JSON.stringify(join(root, 'tools', 'build.mjs'))};
    await build({ ...buildOptions(['cli']), outdir: ${JSON.stringify(dist)} });`;
  execFileSync(process.execPath, ['--input-type=module', '-e', script, 'build'], { cwd: root });

  const { PATH, PARLEY_TEST_STATEMENTS } = process.env;
  const parley = (args: string[], { env = {}, input = '' }: RunOptions = {}) =>
    new Promise<Run>((done) => {
      const child = execFile(
        process.execPath,
        [join(dist, 'cli', 'main.cjs'), ...args],
        { cwd: folder, env: { PATH, PARLEY_TEST_STATEMENTS, XDG_CONFIG_HOME: folder, ...env } },
        (error, stdout, stderr) =>
          // A process that was killed by a signal has no exit code.
          done({ code: error === null ? 0 : typeof error.code === 'number' ? error.code : -1, stdout, stderr }),
      );
      child.stdin!.end(input);
    });

  return {
    /** The working directory of each run. */
    folder,
    /** Path of the bundle, for tests that start the process themselves. */
    bundle: join(dist, 'cli', 'main.cjs'),
    parley,
    /** Returns the output of a run, and throws when it fails. */
    async succeed(args: string[], options: RunOptions = {}): Promise<string> {
      const run = await parley(args, options);
      if (run.code !== 0) throw new Error(`parley ${args.join(' ')}: ${run.code} ${run.stderr}`);
      return run.stdout.trim();
    },
    remove() {
      rmSync(dist, { recursive: true, force: true });
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export type Cli = ReturnType<typeof buildCli>;
