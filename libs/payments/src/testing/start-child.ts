import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { ChildTask } from './payments-child';

const root = resolve(__dirname, '../../../..');
const outdir = join(root, 'dist', `payments-test-${process.pid}`);

/** Bundles the child process, once per test file. `removeChild` deletes the bundle. */
export function buildChild(): void {
  const script = `
    import { build } from 'esbuild';
    import { buildOptions } from ${JSON.stringify(join(root, 'tools', 'build.mjs'))};
    await build({ ...buildOptions([]), entryPoints: { child: ${JSON.stringify(join(__dirname, 'payments-child.ts'))} },
      outdir: ${JSON.stringify(outdir)} });`;
  execFileSync(process.execPath, ['--input-type=module', '-e', script, 'build'], { cwd: root });
}

export const removeChild = (): void => rmSync(outdir, { recursive: true, force: true });

export interface Child {
  /** Resolves with the next line of the process's output. */
  line(): Promise<string>;
  write(text: string): void;
  /** Resolves with the signal that ended the process, or null. */
  ended: Promise<NodeJS.Signals | null>;
}

export function startChild(task: ChildTask): Child {
  const child: ChildProcess = spawn(
    process.execPath,
    [
      '--require',
      process.env.PARLEY_TEST_PRELOAD!,
      join(outdir, 'child.cjs'),
      JSON.stringify(task),
    ],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
      cwd: root,
    },
  );
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
  const ended = new Promise<NodeJS.Signals | null>((resolve) =>
    child.once('exit', (_code, signal) => resolve(signal)),
  );
  return {
    async line() {
      const { value, done } = await lines.next();
      if (done) throw new Error('The process ended without a line');
      return value;
    },
    write: (text) => void child.stdin!.write(text),
    ended,
  };
}
