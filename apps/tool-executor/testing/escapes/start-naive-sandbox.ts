import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { buildSandbox } from '../start-test-executor';
import type { Control } from './program';

const hangsAfterMs = 10_000;

export interface NaiveSandbox {
  /**
   * Returns the program's result as text, or `failed` with the reason when it throws, hangs or ends
   * its process. One at a time.
   */
  run(code: string, control: Control, args: object): Promise<string>;
  close(): Promise<void>;
}

/**
 * Starts a process with naive sandboxes (naive-process.ts), which has a secret in its environment.
 */
export async function startNaiveSandbox(secret: string): Promise<NaiveSandbox> {
  const bundle = await buildSandbox(join(__dirname, 'naive-process.ts'));
  let settle = (_answer: string): void => undefined;
  const start = (): ChildProcess =>
    fork(bundle.entry, {
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      env: { PARLEY_PLANTED_SECRET: secret },
    })
      .on('message', (answer) => settle(String(answer)))
      .on('exit', () => settle('failed: the process has ended'));
  let child = start();
  return {
    async run(code, control, args) {
      if (child.exitCode !== null || child.signalCode !== null) child = start();
      const watchdog = setTimeout(() => child.kill('SIGKILL'), hangsAfterMs);
      const answer = new Promise<string>((resolve) => void (settle = resolve));
      child.send({ code, control, args });
      return answer.finally(() => clearTimeout(watchdog));
    },
    async close() {
      child.kill('SIGKILL');
      await bundle.remove();
    },
  };
}
