import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

interface RunOptions {
  env?: Record<string, string>;
  /** What is typed; the input ends after it. */
  input?: string;
}

interface Run {
  code: number;
  stdout: string;
  stderr: string;
}

/**
 * The real bundle, run as a user would: a process of its own, in a folder of its own, with nothing of the test's
 * environment but PATH and what has statements checked. It lies beside dist/apps, as other test runs and `npm start` may
 * be using that one.
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
        { cwd: folder, env: { PATH, PARLEY_TEST_STATEMENTS, ...env } },
        (error, stdout, stderr) =>
          // What was killed, as it hung, has no code.
          done({ code: error === null ? 0 : typeof error.code === 'number' ? error.code : -1, stdout, stderr }),
      );
      child.stdin!.end(input);
    });

  return {
    /** Its working directory. */
    folder,
    /** What runs: for tests that watch it while it does. */
    bundle: join(dist, 'cli', 'main.cjs'),
    parley,
    /** The output of a run that must succeed. */
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
